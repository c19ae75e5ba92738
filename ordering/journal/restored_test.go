package journal_test

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"larder.local/internal/testkit/redistest"
	"larder.local/ordering"
	"larder.local/ordering/journal"
)

func sameRecord(t *testing.T, want, got ordering.Record) {
	t.Helper()
	if diff := cmp.Diff(want, got, cmpopts.EquateEmpty()); diff != "" {
		t.Errorf("record (-want +got):\n%s", diff)
	}
}

func wantRestored(t *testing.T, name string, j ordering.Journal) {
	t.Helper()
	_, err := j.Begin(t.Context(), create())
	var restored *ordering.RestoredError
	if !errors.As(err, &restored) || restored.Connection != main {
		t.Errorf("%s: Begin = %v, want a *RestoredError of %s", name, err, main)
	}
}

// A backup of Redis is restored after 40 orders. Instances that know these orders detect the loss and pause
// the connection. All instances then reject every new call until an operator accepts the journal (policy O14a).
func TestRestoredBackup_O14a(t *testing.T) {
	t.Parallel()
	stateDir := t.TempDir()
	w := start(t, func(c *ordering.Config) { c.StateDir = stateDir }, synced())
	idle := journal.New(open(t, w.server.URL(), ""), ordering.DefaultConfig(), quiet())
	early := create()
	ended(t, w, begun(t, w, early), ordering.OutcomeDone, "764")
	aof, backup := filepath.Join(w.server.Dir(), "appendonlydir"), filepath.Join(t.TempDir(), "backup")
	if err := os.CopyFS(backup, os.DirFS(aof)); err != nil {
		t.Fatal(err)
	}
	var late []ordering.CallSpec
	for range 40 {
		o := create()
		ended(t, w, begun(t, w, o), ordering.OutcomeRefused, "")
		late = append(late, o)
	}
	open1 := create() // in progress while Redis is restored
	inProgress := begun(t, w, open1)
	watched(t, idle)
	watched(t, w.Journal) // writes the state file
	w.server.Stop()
	if err := errors.Join(os.RemoveAll(aof), os.CopyFS(aof, os.DirFS(backup))); err != nil {
		t.Fatal(err)
	}
	w.server.Restart()

	restarted := func() *journal.Journal {
		cfg := ordering.DefaultConfig()
		cfg.StateDir = stateDir
		return journal.New(open(t, w.server.URL(), ""), cfg, quiet())
	}()
	fresh := journal.New(open(t, w.server.URL(), ""), ordering.DefaultConfig(), quiet())
	for _, o := range late {
		o.ID, o.Ref = create().ID, create().Ref
		if _, err := restarted.Begin(t.Context(), o); !errors.As(err, new(*ordering.RestoredError)) {
			t.Fatalf("Begin of an order that was already placed = %v, want a *RestoredError", err)
		}
	}
	instances := map[string]*journal.Journal{
		"placed them": w.Journal, "only watched": idle, "restarted": restarted, "new": fresh,
	}
	for name, j := range instances {
		wantRestored(t, name, j)
		if health := watched(t, j); health.PausedAt.IsZero() {
			t.Errorf("%s: Watch = %+v, want it paused", name, health)
		}
	}

	// Existing records can be used.
	if _, call, err := fresh.Lookup(t.Context(), main, early.Key); err != nil || call != 1 {
		t.Errorf("a replay while paused: call %d, %v; want 1", call, err)
	}
	if _, err := fresh.Begin(t.Context(), pay("764")); !errors.As(err, new(*ordering.RestoredError)) {
		t.Errorf("Begin of a payment while paused = %v, want a *RestoredError: the first one may be lost", err)
	}
	e := ordering.CallResult{
		Connection: main,
		Ref:        inProgress.Ref,
		Call:       1,
		SpecID:     open1.ID,
		Outcome:    ordering.OutcomeDone,
		OrderID:    "799",
	}
	if _, err := w.Finish(t.Context(), e); !errors.Is(err, ordering.ErrNoOrder) {
		t.Errorf("Finish of a call whose record is lost = %v, want ErrNoOrder", err)
	}
	inProgress.State, inProgress.OrderID, inProgress.Calls[0].Outcome = ordering.StatePlaced, "799", ordering.OutcomeDone
	if _, _, err := w.Recreate(t.Context(), inProgress, 1, open1.Body); err != nil {
		t.Errorf("Recreate while paused: %v", err)
	}
	if _, call, err := fresh.Lookup(t.Context(), main, open1.Key); err != nil || call != 1 {
		t.Errorf("Lookup of the order in progress: call %d, %v; want 1", call, err)
	}

	if accepted, err := fresh.Accept(t.Context(), main); err != nil || !accepted {
		t.Fatalf("Accept = %t, %v", accepted, err)
	}
	if accepted, err := w.Accept(t.Context(), main); err != nil || accepted {
		t.Errorf("Accept again = %t, %v; want nothing to accept", accepted, err)
	}
	ended(t, fresh, begun(t, fresh, pay("764")), ordering.OutcomeDone, "")
	for name, j := range instances {
		if _, err := j.Begin(t.Context(), create()); err != nil {
			t.Errorf("%s: Begin after the acceptance: %v", name, err)
		}
		if health := watched(t, j); !health.PausedAt.IsZero() {
			t.Errorf("%s: Watch after the acceptance = %+v, want no pause", name, health)
		}
	}
}

// Every instance that knows commits detects a Redis that has lost everything. The pause
// applies to all instances.
func TestEmptyRedisPausesOrders_O14a(t *testing.T) {
	t.Parallel()
	w := start(t, nil)
	fresh := journal.New(open(t, w.server.URL(), ""), ordering.DefaultConfig(), quiet())
	begun(t, w, create())
	if err := w.client.FlushAll(t.Context()).Err(); err != nil {
		t.Fatal(err)
	}
	begun(t, fresh, create()) // knows no commits and starts a new epoch
	wantRestored(t, "remembers", w)
	wantRestored(t, "new instance", fresh)
	if accepted, err := w.Accept(t.Context(), main); err != nil || !accepted {
		t.Fatalf("Accept = %t, %v", accepted, err)
	}
	begun(t, w, create())
	begun(t, fresh, create())
}

// Permission to lose orders is not permission to send them twice: it does not accept a restore (policy O14b).
func TestSettingsDoNotAcceptARestore_O14b(t *testing.T) {
	t.Parallel()
	server := redistest.Start(t)
	cfg := ordering.DefaultConfig()
	cfg.AllowEviction, cfg.AllowNonDurable = true, true
	j := journal.New(open(t, server.URL(), ""), cfg, quiet())
	begun(t, j, create())
	server.Restart()
	if health := watched(t, j); health.PausedAt.IsZero() || health.Accepted {
		t.Errorf("Watch = %+v, want orders paused", health)
	}
}

// With ordering.accept_restore, an empty Redis is accepted without an operator.
func TestRestartOfANonDurableRedis(t *testing.T) {
	t.Parallel()
	server := redistest.Start(t)
	cfg := ordering.DefaultConfig()
	cfg.AllowEviction, cfg.AllowNonDurable, cfg.AcceptRestore = true, true, new(true)
	j, other := journal.New(open(t, server.URL(), ""), cfg, quiet()), journal.New(open(t, server.URL(), ""), cfg, quiet())
	begun(t, j, create())
	begun(t, other, create())
	server.Restart()
	begun(t, j, create())
	if health := watched(t, other); !health.PausedAt.IsZero() {
		t.Errorf("Watch = %+v, want it accepted", health)
	}
	begun(t, other, create())
	server.Restart()
	if health := watched(t, j); !health.Accepted || !health.PausedAt.IsZero() {
		t.Errorf("Watch after a restart = %+v, want it accepted automatically", health)
	}
}

// After an ordinary failover, every instance continues.
func TestFailoverDoesNotPauseOrders(t *testing.T) {
	t.Parallel()
	p := startPair(t, 2)
	j, other := p.journal(t), p.journal(t)
	seen(t, j)
	seen(t, other)
	o := create()
	r := begun(t, j, o)
	r = ended(t, j, r, ordering.OutcomeDone, "765")
	watched(t, other)
	// Sentinel and Cluster promote the replica with the most data.
	eventually(t, "the replica has all data", func() bool {
		key := "larder:{o:main}:f1:journal"
		return p.replicas[0].Client().HGet(t.Context(), key, "mark").Val() == p.master.Client().HGet(t.Context(), key, "mark").Val()
	})
	host, port, _ := strings.Cut(p.replicas[0].Addr(), ":")
	p.failover(t, p.replicas[0])
	if err := p.replicas[1].Client().Do(t.Context(), "REPLICAOF", host, port).Err(); err != nil {
		t.Fatal(err)
	}
	for name, instance := range map[string]*journal.Journal{"placed": j, "watched": other} {
		eventually(t, name+" places orders again", func() bool {
			_, err := instance.Begin(t.Context(), create())
			if errors.As(err, new(*ordering.RestoredError)) {
				t.Fatalf("%s: Begin = %v after an ordinary failover", name, err)
			}
			return err == nil
		})
	}
	if got, _, err := other.Lookup(t.Context(), main, o.Key); err != nil || got.Ref != r.Ref {
		t.Errorf("Lookup = %s, %v; want %s", got.Ref, err, r.Ref)
	}
}

// If no replica that acknowledged can be promoted, orders are lost and orders are paused.
func TestLossyFailoverPausesOrders_O14a(t *testing.T) {
	t.Parallel()
	p := startPair(t, 2)
	j, other := p.journal(t), p.journal(t)
	seen(t, j)
	seen(t, other)
	cutOff(t, p.replicas[1])
	ended(t, j, begun(t, j, create()), ordering.OutcomeDone, "765")
	watched(t, other)
	p.replicas[0].Stop() // the only replica with the order
	p.failover(t, p.replicas[1])
	for name, instance := range map[string]*journal.Journal{"placed": j, "watched": other} {
		eventually(t, name+" pauses", func() bool {
			_, err := instance.Begin(t.Context(), create())
			if err == nil {
				t.Fatalf("%s: an order was opened after a lossy failover", name)
			}
			health, err := instance.Watch(t.Context(), main)
			return err == nil && !health.PausedAt.IsZero()
		})
	}
}

// If an operator has set wait_replicas to 0, a loss by a failover is reported, and new orders continue.
func TestLowerMarkIsReported_O14a(t *testing.T) {
	t.Parallel()
	p := startPair(t, 1)
	j := p.journal(t, func(c *ordering.Config) { c.WaitReplicas = new(0) })
	eventually(t, "the replica is detected", func() bool { return watched(t, j).Seen })
	watched(t, j)
	cutOff(t, p.replicas[0])
	ended(t, j, begun(t, j, create()), ordering.OutcomeDone, "765")
	p.failover(t, p.replicas[0])
	health := watched(t, j)
	if health.Missing != 1 || !health.PausedAt.IsZero() {
		t.Errorf("Watch = %+v, want the lost commits reported once and no pause", health)
	}
	begun(t, j, create())
}

// If a master of a cluster is down, its connections get a specific error. They continue
// when the master is back.
func TestLostClusterMaster(t *testing.T) {
	t.Parallel()
	cluster := redistest.StartCluster(t, 0, redistest.AppendOnly(), synced(), redistest.Config("cluster-require-full-coverage", "no"))
	j := journal.New(open(t, cluster.URL(), ""), ordering.DefaultConfig(), quiet())
	var gone, there string
	victim := cluster.Nodes()[0]
	for _, connection := range []string{"a", "b", "c", "d", "e", "f", "g", "h"} {
		if cluster.MasterOf("larder:{o:"+connection+"}:f1:journal") == victim {
			gone = connection
		} else {
			there = connection
		}
	}
	begun(t, j, create(on(gone)))
	begun(t, j, create(on(there)))
	victim.Stop()
	var lost *ordering.JournalError
	if _, err := j.Begin(t.Context(), create(on(gone))); !errors.As(err, &lost) {
		t.Errorf("Begin on the lost master = %v, want a *JournalError", err)
	}
	succeeds(t, "the other connections continue", func() error { _, err := j.Begin(t.Context(), create(on(there))); return err })
	victim.Restart()
	eventually(t, "all connections continue", func() bool {
		_, err := j.Begin(t.Context(), create(on(gone)))
		if errors.As(err, new(*ordering.RestoredError)) {
			t.Fatalf("Begin = %v after a restart", err)
		}
		return err == nil
	})
}

// A former master comes back with changes that no replica got. It becomes the master again
// and lacks later commits. An equal number of changes must not hide this.
func TestFormerMasterPausesOrders_O14a(t *testing.T) {
	t.Parallel()
	p := startPair(t, 1)
	short := func(c *ordering.Config) { c.WaitTimeout = 300 * time.Millisecond }
	j, other := p.journal(t, short), p.journal(t, short)
	seen(t, j)
	seen(t, other)
	former := p.master
	cutOff(t, p.replicas[0])
	for _, instance := range []*journal.Journal{j, other} { // these changes are not acknowledged
		if _, err := instance.Begin(t.Context(), create()); err == nil {
			t.Fatal("an order was opened without a replica")
		}
	}
	p.failover(t, p.replicas[0])
	p.addReplicaOf(t)
	succeeds(t, "an order is placed on the new master", func() error { _, err := j.Begin(t.Context(), create()); return err })
	p.master.Stop()
	former.Restart()
	p.proxy.follow(former.Addr())
	// The instance that placed the order knows it. The other one learns it from Redis.
	for i, instance := range []*journal.Journal{j, other} {
		eventually(t, fmt.Sprintf("instance %d pauses", i+1), func() bool {
			if _, err := instance.Begin(t.Context(), create()); err == nil {
				t.Fatalf("instance %d: an order was opened by a master that has lost one", i+1)
			}
			health, err := instance.Watch(t.Context(), main)
			return err == nil && !health.PausedAt.IsZero()
		})
	}
}

// The new master lacks orders of one instance. Another instance has placed more orders since
// then. The first instance still pauses.
func TestForkWithMoreCommitsPausesOrders_O14a(t *testing.T) {
	t.Parallel()
	p := startPair(t, 2)
	j, other := p.journal(t), p.journal(t)
	seen(t, j)
	seen(t, other)
	cutOff(t, p.replicas[1])
	ended(t, j, begun(t, j, create()), ordering.OutcomeDone, "765") // other does not see it
	p.replicas[0].Stop()
	p.failover(t, p.replicas[1])
	p.addReplicaOf(t)
	for range 5 {
		succeeds(t, "the other instance places an order", func() error { _, err := other.Begin(t.Context(), create()); return err })
	}
	eventually(t, "the first instance pauses", func() bool {
		_, err := j.Begin(t.Context(), create())
		if err == nil {
			t.Fatal("an order was opened by a master that has lost one of this instance")
		}
		return errors.As(err, new(*ordering.RestoredError))
	})
	wantRestored(t, "other", other)
}

// Each instance has a field in Redis. Fields of instances that stopped long ago are removed.
func TestStoppedInstancesAreRemoved(t *testing.T) {
	t.Parallel()
	w := start(t, nil)
	key := "larder:{o:main}:f1:journal"
	if err := w.client.HSet(t.Context(), key, "by:gone", "1700000000000000").Err(); err != nil {
		t.Fatal(err)
	}
	begun(t, w, create())
	fields, err := w.client.HKeys(t.Context(), key).Result()
	if err != nil {
		t.Fatal(err)
	}
	instances := slices.DeleteFunc(fields, func(field string) bool { return !strings.HasPrefix(field, "by:") })
	if len(instances) != 1 || instances[0] == "by:gone" {
		t.Errorf("instances in Redis: %v, want this one", instances)
	}
}
