package journal_test

import (
	"errors"
	"fmt"
	"net"
	"regexp"
	"strconv"
	"strings"
	"testing"
	"time"

	"larder.local/internal/testkit/redistest"
	"larder.local/internal/upstream"
	"larder.local/ordering"
	"larder.local/ordering/journal"
)

// pair is a master with replicas. Its address is that of the new master after a failover.
type pair struct {
	master   *redistest.Server
	replicas []*redistest.Server
	proxy    *proxy
}

func startPair(t *testing.T, replicas int) *pair {
	t.Helper()
	p := &pair{master: redistest.Start(t, redistest.AppendOnly(), redistest.Config("repl-diskless-sync-delay", "0"))}
	for range replicas {
		p.addReplica(t)
	}
	p.proxy = newProxy(t, p.master.Addr())
	return p
}

func (p *pair) addReplica(t *testing.T) {
	t.Helper()
	host, port, _ := strings.Cut(p.master.Addr(), ":")
	replica := redistest.Start(t, redistest.AppendOnly(), redistest.Config("replicaof", host, port),
		redistest.Config("repl-diskless-sync-delay", "0"))
	p.replicas = append(p.replicas, replica)
	client := p.master.Client()
	eventually(t, "every replica acknowledges", func() bool { // a replica that loads its first copy is already online
		pipe := client.Pipeline()
		pipe.Incr(t.Context(), "written")
		acknowledged := pipe.Do(t.Context(), "WAIT", len(p.replicas), 100)
		_, err := pipe.Exec(t.Context())
		n, _ := acknowledged.Int()
		return err == nil && n == len(p.replicas)
	})
}

// journal returns the journal of a new instance.
func (p *pair) journal(t *testing.T, change ...func(*ordering.Config)) *journal.Journal {
	t.Helper()
	cfg := ordering.DefaultConfig()
	cfg.WaitTimeout = 200 * time.Millisecond
	for _, c := range change {
		c(&cfg)
	}
	return journal.New(open(t, p.proxy.url(), ""), cfg, quiet())
}

// cutOff stops the replication. A frozen replica would still get data, because data that
// it has not read yet stays in its socket.
func cutOff(t *testing.T, replica *redistest.Server) {
	t.Helper()
	if err := replica.Client().Do(t.Context(), "REPLICAOF", "NO", "ONE").Err(); err != nil {
		t.Fatalf("make the replica a master: %v", err)
	}
}

// failover kills the master and promotes a replica.
func (p *pair) failover(t *testing.T, replica *redistest.Server) {
	t.Helper()
	p.master.Stop()
	cutOff(t, replica)
	p.proxy.follow(replica.Addr())
	p.master = replica
}

// ready waits until the journal is ready. It may first try connections to the old master.
func ready(t *testing.T, j *journal.Journal) {
	t.Helper()
	eventually(t, "the journal is ready", func() bool { return j.Ready(t.Context(), main) == nil })
}

// seen waits until the journal has seen the acknowledgement of a replica.
func seen(t *testing.T, j *journal.Journal) {
	t.Helper()
	eventually(t, "an acknowledging replica is detected", func() bool { return watched(t, j).Replicas == 1 })
}

func watched(t *testing.T, j *journal.Journal) ordering.JournalHealth {
	t.Helper()
	var health ordering.JournalHealth
	eventually(t, "the journal can be watched", func() (ok bool) {
		var err error
		health, err = j.Watch(t.Context(), main)
		return err == nil
	})
	return health
}

// With a Redis that never had a replica, orders wait for none. Once a replica has acknowledged a write, no
// call is opened without one. This also applies to an instance that starts later (policy O14).
func TestReplicaRuleIsAutomatic(t *testing.T) {
	t.Parallel()
	p := startPair(t, 0)
	j := p.journal(t)
	ready(t, j)
	begun(t, j, create())
	if health := watched(t, j); health.Replicas != 0 || health.Seen || !health.Automatic {
		t.Errorf("without a replica: %+v, want a rule of 0 replicas", health)
	}

	p.addReplica(t)
	j = p.journal(t)
	ready(t, j)
	seen(t, j)
	r := begun(t, j, create())
	if n := p.replicas[0].Client().Exists(t.Context(), "larder:{o:main}:f1:order:"+r.Ref).Val(); n != 1 {
		t.Errorf("the replica has %d records of the order, want 1", n)
	}

	p.replicas[0].Freeze()
	for name, instance := range map[string]*journal.Journal{"the instance that detected it": j, "a new instance": p.journal(t)} {
		o := create()
		_, err := instance.Begin(t.Context(), o)
		if !errors.Is(err, journal.ErrReplicas) {
			t.Errorf("%s: Begin = %v, want ErrReplicas", name, err)
		}
		if _, _, err := instance.Lookup(t.Context(), main, o.Key); !errors.Is(err, ordering.ErrKeyFree) {
			t.Errorf("%s: Lookup = %v, want the key free", name, err)
		}
		// The instance that probes the replica waits. On a slow machine that may be the first one.
		eventually(t, name+" rejects an order without waiting", func() bool {
			began := time.Now()
			_, err := instance.Begin(t.Context(), create())
			if !errors.As(err, new(*ordering.NotReadyError)) {
				t.Errorf("%s: the next Begin = %v, want a *NotReadyError", name, err)
			}
			return time.Since(began) < 100*time.Millisecond //testwaits:allow repeated on a busy machine; a wait for the replica is longer
		})
	}
	p.replicas[0].Thaw()
	succeeds(t, "orders are opened again", func() error { _, err := j.Begin(t.Context(), create()); return err })
}

// An instance that found no replica checks again after a second, because a failover would
// lose orders that wait for none.
func TestFirstReplicaIsDetectedSoon(t *testing.T) {
	t.Parallel()
	p := startPair(t, 0)
	j := p.journal(t)
	ready(t, j)
	p.addReplica(t) // which acknowledges
	aged := j.AgeSettings(main, time.Second)
	ready(t, j)
	if !j.AgeSettings(main, 0).After(aged) {
		t.Error("nothing was checked after a second")
	}
	// A busy replica may acknowledge a later check.
	eventually(t, "the rule applies", func() bool { ready(t, j); return watched(t, j).Replicas == 1 })
}

// While replicas do not acknowledge and Redis rejects writes, at most one request per second tries a write.
func TestProbesAreLimited(t *testing.T) {
	t.Parallel()
	p := startPair(t, 1)
	j := p.journal(t)
	seen(t, j)
	ready(t, j)
	cutOff(t, p.replicas[0])
	if _, err := j.Begin(t.Context(), create()); !errors.Is(err, journal.ErrReplicas) {
		t.Fatalf("Begin = %v, want ErrReplicas", err)
	}
	client := p.master.Client()
	if err := client.ConfigSet(t.Context(), "min-replicas-to-write", "1").Err(); err != nil {
		t.Fatal(err)
	}
	if err := client.ConfigResetStat(t.Context()).Err(); err != nil {
		t.Fatal(err)
	}
	asked, began := 0, time.Now()
	for ; time.Since(began) < 2300*time.Millisecond; time.Sleep(10 * time.Millisecond) { //testwaits:allow probes are counted per second
		asked++
		if _, err := j.Begin(t.Context(), create()); !errors.Is(err, journal.ErrReplicas) {
			t.Fatalf("Begin %d = %v, want ErrReplicas", asked, err)
		}
	}
	most := 1 + int(time.Since(began)/time.Second)
	stats, err := client.Info(t.Context(), "commandstats").Result()
	if err != nil {
		t.Fatal(err)
	}
	probes := 0
	for _, m := range regexp.MustCompile(`cmdstat_eval(?:sha)?:calls=(\d+).*?rejected_calls=(\d+)`).FindAllStringSubmatch(stats, -1) {
		calls, _ := strconv.Atoi(m[1])
		rejected, _ := strconv.Atoi(m[2])
		probes += calls + rejected
	}
	if probes < 1 || probes > most {
		t.Errorf("%d requests in at least 2.3 s probed %d times, want 1 to %d", asked, probes, most)
	}
}

// A replica that is connected according to Redis may still not acknowledge (policy O14).
func TestReadyDetectsFailingReplicas(t *testing.T) {
	t.Parallel()
	p := startPair(t, 1)
	j := p.journal(t)
	seen(t, j)
	ready(t, j)
	p.replicas[0].Freeze()
	if _, err := j.Begin(t.Context(), create()); !errors.Is(err, journal.ErrReplicas) {
		t.Fatalf("Begin = %v, want ErrReplicas", err)
	}
	for start := time.Now(); time.Since(start) < 6*time.Second; time.Sleep(10 * time.Millisecond) { //testwaits:allow settings are cached for five seconds
		if err := j.Ready(t.Context(), main); !errors.Is(err, journal.ErrReplicas) {
			t.Fatalf("Ready = %v after %v, want ErrReplicas", err, time.Since(start))
		}
	}
}

// The loss of replicas does not relax the rule for any instance.
func TestReplicaRuleIsStoredInRedis(t *testing.T) {
	t.Parallel()
	p := startPair(t, 1)
	j := p.journal(t)
	seen(t, j)
	p.replicas[0].Stop()
	eventually(t, "the master reports no replica", func() bool {
		return !strings.Contains(p.master.Client().Info(t.Context(), "replication").Val(), "state=online")
	})
	again := p.journal(t)
	wantNotReady(t, again.Ready(t.Context(), main), "lost its replicas", 5*time.Second)
	if _, err := again.Begin(t.Context(), create()); !errors.Is(err, journal.ErrReplicas) {
		t.Errorf("Begin = %v, want ErrReplicas", err)
	}
	none := p.journal(t, func(c *ordering.Config) { c.WaitReplicas = new(0) })
	ready(t, none)
	begun(t, none, create())
	if health := watched(t, none); !strings.Contains(health.Rule(), "although Redis has one: a failover can lose orders") {
		t.Errorf("the rule is %q, want a warning that orders can be lost", health.Rule())
	}
}

// A client that only copies the data does not change the rule. Examples are redis-cli
// --rdb and a new replica during its first synchronisation.
func TestConnectedReplicasMayNotAcknowledge(t *testing.T) {
	t.Parallel()
	p := startPair(t, 0)
	copier, err := new(net.Dialer).DialContext(t.Context(), "tcp", p.master.Addr())
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = copier.Close() }()
	if _, err := fmt.Fprint(copier, "SYNC\r\n"); err != nil {
		t.Fatal(err)
	}
	eventually(t, "the master counts the copier as online", func() bool {
		return strings.Contains(p.master.Client().Info(t.Context(), "replication").Val(), "state=online")
	})
	j := p.journal(t)
	ready(t, j)
	begun(t, j, create())
	if health := watched(t, j); health.Replicas != 0 || health.Seen {
		t.Errorf("while data is copied: %+v, want a rule of 0 replicas", health)
	}
}

// One of two replicas is promoted while the old master still runs. The other replica acknowledges writes that
// the new master never gets. With wait_replicas 2, the old master opens no call.
func TestOldMasterDuringAFailover(t *testing.T) {
	t.Parallel()
	p := startPair(t, 2)
	waiting := func(replicas int) *journal.Journal {
		return p.journal(t, func(c *ordering.Config) { c.WaitReplicas, c.WaitTimeout = &replicas, time.Second })
	}
	one, both := waiting(1), waiting(2)
	before := begun(t, both, create())
	cutOff(t, p.replicas[0])
	if _, err := both.Begin(t.Context(), create()); !errors.Is(err, journal.ErrReplicas) {
		t.Errorf("Begin that waits for both replicas = %v, want ErrReplicas", err)
	}
	var notReady *ordering.NotReadyError
	if since, err := both.Paused(t.Context(), main); !errors.As(err, &notReady) {
		t.Errorf("Paused = %v, %v; want a *NotReadyError: the new master may have what is missing here", since, err)
	}
	lost := begun(t, one, create())
	for order, want := range map[string]int64{before.Ref: 1, lost.Ref: 0} {
		if n := p.replicas[0].Client().Exists(t.Context(), "larder:{o:main}:f1:order:"+order).Val(); n != want {
			t.Errorf("the new master has %d records of the order, want %d", n, want)
		}
	}
}

// A failover loses a completion that no replica has. The instance that returned it writes
// it again (policy O14).
func TestFinishIsRepeatedAfterAFailover(t *testing.T) {
	t.Parallel()
	p := startPair(t, 1)
	j := p.journal(t)
	seen(t, j)
	o := create()
	r := begun(t, j, o)
	cutOff(t, p.replicas[0])
	e := ordering.CallResult{
		Connection: main,
		Ref:        r.Ref,
		Call:       1,
		SpecID:     o.ID,
		Outcome:    ordering.OutcomeDone,
		OrderID:    "765",
		Answer:     &ordering.Answer{Status: 201, ContentType: "application/json", Body: []byte(`{"orderID":"765"}`)},
	}
	known, err := j.Finish(t.Context(), e)
	if !errors.Is(err, ordering.ErrUnreplicated) || known.State != ordering.StatePlaced {
		t.Fatalf("Finish = %s, %v; want it placed and ErrUnreplicated", known.State, err)
	}
	if _, err := j.Finish(t.Context(), e); !errors.Is(err, ordering.ErrUnreplicated) {
		t.Errorf("Finish again = %v, want ErrUnreplicated until a replica has it", err)
	}

	p.failover(t, p.replicas[0])
	p.addReplicaOf(t)
	succeeds(t, "the completion is written again", func() error { _, err := j.Finish(t.Context(), e); return err })
	got, call, err := j.Lookup(t.Context(), main, o.Key)
	if err != nil || call != 1 || got.State != ordering.StatePlaced || got.OrderID != "765" {
		t.Errorf("Lookup = call %d of %+v, %v; want the placed order", call, got, err)
	}
}

// A failover undoes a resolution that no replica has. The same resolution is written again (policy O14).
func TestResolutionIsRepeatedAfterAFailover(t *testing.T) {
	t.Parallel()
	p := startPair(t, 1)
	j := p.journal(t)
	seen(t, j)
	o := create()
	r := ended(t, j, begun(t, j, o), ordering.OutcomeUnknown, "")
	cutOff(t, p.replicas[0])
	s := ordering.ResolveCall{
		Connection: main,
		Ref:        r.Ref,
		Operation:  upstream.OpCreate,
		Call:       1,
		Resolution: ordering.ResolvedDone,
		OrderID:    "765",
		By:         "ops",
	}
	said, err := j.Resolve(t.Context(), s)
	if !errors.Is(err, ordering.ErrUnreplicated) || said.State != ordering.StatePlaced {
		t.Fatalf("Resolve = %s, %v; want it placed and ErrUnreplicated", said.State, err)
	}
	p.failover(t, p.replicas[0])
	p.addReplicaOf(t)
	succeeds(t, "it is resolved again", func() error { _, err := j.Resolve(t.Context(), s); return err })
	got, call, err := j.Lookup(t.Context(), main, o.Key)
	if err != nil || call != 1 || got.OrderID != "765" || got.Calls[0].Resolved == nil || got.Calls[0].Resolved.By != "ops" {
		t.Errorf("Lookup = call %d of %+v, %v; want it as it was resolved", call, got, err)
	}
}

// addReplicaOf returns a promoted master with its own replica.
func (p *pair) addReplicaOf(t *testing.T) {
	t.Helper()
	p.replicas = nil
	p.addReplica(t)
}

// After a failover to a replica that lacks the record, the record, its key and its orderID
// are written again completely.
func TestRecreate(t *testing.T) {
	t.Parallel()
	p := startPair(t, 1)
	j := p.journal(t, func(c *ordering.Config) { c.WaitReplicas = new(0) })
	ready(t, j)
	cutOff(t, p.replicas[0])
	o := create()
	placed := ended(t, j, begun(t, j, o), ordering.OutcomeDone, "765")
	payment := pay("765")
	known := ended(t, j, begun(t, j, payment), ordering.OutcomeDone, "")
	p.failover(t, p.replicas[0])

	e := ordering.CallResult{
		Connection: main,
		Ref:        known.Ref,
		Call:       2,
		SpecID:     payment.ID,
		Outcome:    ordering.OutcomeDone,
	}
	eventually(t, "the new master responds", func() bool {
		_, err := j.Finish(t.Context(), e)
		return errors.Is(err, ordering.ErrNoOrder)
	})
	for range 2 { // the second call changes nothing
		got, number, err := j.Recreate(t.Context(), known, 2, payment.Body)
		if err != nil || number != 2 {
			t.Fatalf("Recreate = call %d, %v; want 2", number, err)
		}
		known.UpdatedAt = got.UpdatedAt
		sameRecord(t, known, got)
	}
	for key, want := range map[string]int{o.Key: 1, payment.Key: 2} {
		got, call, err := j.Lookup(t.Context(), main, key)
		if err != nil || call != want {
			t.Fatalf("Lookup = call %d, %v; want %d", call, err, want)
		}
		sameRecord(t, known, got)
	}
	if got, err := j.Order(t.Context(), main, "765"); err != nil || got.Ref != placed.Ref || !got.Paid {
		t.Errorf("Order = %+v, %v; want the paid order", got, err)
	}
	if body, err := j.Body(t.Context(), main, known.Ref, 2); err != nil || string(body) != string(payment.Body) {
		t.Errorf("Body = %q, %v; want the sent body", body, err)
	}
	page, _, err := j.List(t.Context(), ordering.Query{Connections: []string{main}, State: ordering.StatePlaced, Limit: 10})
	if err != nil || len(page) != 1 {
		t.Errorf("List = %d records, %v; want 1", len(page), err)
	}
	complete := pay("765")
	complete.Operation, complete.Payments, complete.Body = upstream.OpComplete, nil, nil
	ended(t, j, begun(t, j, complete), ordering.OutcomeDone, "")
}

// If another call has the number of the lost one in the meantime, the lost call gets the
// next number. Each call keeps its key.
func TestRecreateWithAnotherCall(t *testing.T) {
	t.Parallel()
	w := start(t, nil)
	ended(t, w, begun(t, w, create()), ordering.OutcomeDone, "765")
	mine, others := pay("765"), pay("765")
	known := begun(t, w, others)
	known = ended(t, w, known, ordering.OutcomeRefused, "")
	lost := known
	lost.Calls = append(known.Calls[:1:1], known.Calls[1])
	lost.Calls[1].SpecID, lost.Calls[1].Key, lost.Calls[1].Outcome = mine.ID, mine.Key, ordering.OutcomeDone

	e := ordering.CallResult{
		Connection: main,
		Ref:        known.Ref,
		Call:       2,
		SpecID:     mine.ID,
		Outcome:    ordering.OutcomeDone,
	}
	if _, err := w.Finish(t.Context(), e); !errors.Is(err, ordering.ErrNoOrder) {
		t.Fatalf("Finish of a call of another Begin: %v, want ErrNoOrder", err)
	}
	got, number, err := w.Recreate(t.Context(), lost, 2, mine.Body)
	if err != nil || number != 3 || !got.Paid || len(got.Calls) != 3 {
		t.Fatalf("Recreate = call %d of %+v, %v; want call 3 of a paid order", number, got, err)
	}
	for key, want := range map[string]int{mine.Key: 3, others.Key: 2} {
		if _, call, err := w.Lookup(t.Context(), main, key); err != nil || call != want {
			t.Errorf("Lookup = call %d, %v; want %d", call, err, want)
		}
	}
}

// Abort returns nil only when the replica has the abort too.
func TestAbortIsRepeatedAfterAFailover(t *testing.T) {
	t.Parallel()
	p := startPair(t, 1)
	j := p.journal(t)
	seen(t, j)
	o := create()
	begun(t, j, o) // master and replica have it
	cutOff(t, p.replicas[0])
	if err := j.Abort(t.Context(), o); !errors.Is(err, ordering.ErrUnreplicated) {
		t.Fatalf("Abort = %v, want ErrUnreplicated", err)
	}
	if err := j.Abort(t.Context(), o); !errors.Is(err, ordering.ErrUnreplicated) {
		t.Errorf("Abort again = %v, want ErrUnreplicated until a replica has it", err)
	}
	p.failover(t, p.replicas[0])
	p.addReplicaOf(t)
	eventually(t, "it is aborted again", func() bool { return j.Abort(t.Context(), o) == nil })
	if _, _, err := j.Lookup(t.Context(), main, o.Key); !errors.Is(err, ordering.ErrKeyFree) {
		t.Errorf("Lookup = %v, want the key free", err)
	}
}

// A command that only looks writes nothing that stays, and says which rule orders will have. The replica that it has seen may
// be detached later: that must not stop orders of a Redis that never served (policy O14).
func TestOnlyReadStoresNoRule_O14(t *testing.T) {
	t.Parallel()
	for name, change := range map[string]func(*ordering.Config){
		"automatic":       func(*ordering.Config) {},
		"wait_replicas 1": func(c *ordering.Config) { c.WaitReplicas = new(1) },
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			p := startPair(t, 1)
			client := p.master.Client()
			client.Del(t.Context(), "written")
			j := p.journal(t, change)
			j.OnlyRead(upstream.NewSources(nil))
			ready(t, j)
			health, err := j.Health(t.Context(), main)
			if err != nil || health.Replicas != 1 || !strings.Contains(health.Rule(), "each change of an order waits for ") {
				t.Errorf("Health = %+v, %v; want that orders wait for the replica", health, err)
			}
			const probe = "larder:{o:main}:f1:probe"
			if keys := client.Keys(t.Context(), "*").Val(); len(keys) != 1 || keys[0] != probe || client.PTTL(t.Context(), probe).Val() <= 0 {
				t.Errorf("Redis has %q, want only %s, which expires", keys, probe)
			}
			cutOff(t, p.replicas[0])
			later := p.journal(t)
			eventually(t, "the replica is detached", func() bool {
				return strings.Contains(client.Info(t.Context(), "replication").Val(), "connected_slaves:0")
			})
			ready(t, later)
			begun(t, later, create())
		})
	}
}
