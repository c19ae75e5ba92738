package journal_test

import (
	"crypto/rand"
	"errors"
	"testing"
	"time"

	"larder.local/internal/testkit/redistest"
	"larder.local/internal/upstream"
	"larder.local/ordering"
	"larder.local/ordering/journal"
)

// TestCluster runs every script on a Redis Cluster, which rejects a script whose keys are in several slots.
func TestCluster(t *testing.T) {
	t.Parallel()
	j := journal.New(open(t, servers.Cluster(t).URL(), rand.Text()), ordering.DefaultConfig(), quiet())
	if err := j.Ready(t.Context(), main); err != nil {
		t.Fatalf("Ready: %v", err)
	}
	if _, err := j.Secret(t.Context(), main); err != nil {
		t.Fatalf("secret: %v", err)
	}
	adoption := pay("766")
	adoption.Adopt = true
	adopted := ended(t, j, begun(t, j, adoption), ordering.OutcomeDone, "")

	o := create(overdue)
	begun(t, j, o)
	moved, err := j.Sweep(t.Context(), main)
	if err != nil || len(moved) != 1 {
		t.Fatalf("Sweep = %d records, %v; want 1", len(moved), err)
	}
	resolution := ordering.ResolveCall{
		Connection: main,
		Ref:        o.Ref,
		Operation:  upstream.OpCreate,
		Resolution: ordering.ResolvedRetry,
		Deadline:   time.Hour,
	}
	again, err := j.Resolve(t.Context(), resolution)
	if err != nil {
		t.Fatalf("Resolve: %v", err)
	}
	placed := ended(t, j, again, ordering.OutcomeDone, "766") // taken from the adopted order
	r := ended(t, j, begun(t, j, pay("766")), ordering.OutcomeRefused, "")
	if r.Ref != o.Ref || r.State != ordering.StatePlaced || len(r.Calls) != 3 {
		t.Errorf("the order is %+v, want the placed order with three calls", r)
	}
	if err := j.Abort(t.Context(), create()); err != nil {
		t.Errorf("Abort: %v", err)
	}
	if body, err := j.Body(t.Context(), main, o.Ref, 2); err != nil || len(body) == 0 {
		t.Errorf("Body = %q, %v; want the body of the retry", body, err)
	}
	if _, call, err := j.Lookup(t.Context(), main, o.Key); err != nil || call != 2 {
		t.Errorf("Lookup = call %d, %v; want 2", call, err)
	}
	if got, err := j.Order(t.Context(), main, "766"); err != nil || got.Ref != placed.Ref {
		t.Errorf("Order = %s, %v; want %s", got.Ref, err, placed.Ref)
	}
	if got, err := j.Record(t.Context(), []string{"other", main}, adopted.Ref); err != nil || got.OrderID != "" {
		t.Errorf("Record of the adopted order = %q, %v; want no orderID", got.OrderID, err)
	}
	page, _, err := j.List(t.Context(), ordering.Query{Connections: []string{"other", main}, Limit: 10})
	if err != nil || len(page) != 2 {
		t.Errorf("List = %d records, %v; want 2", len(page), err)
	}
}

// In a cluster, WAIT is sent to the server that has the record.
func TestClusterReplicas(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		wait int
		want error
	}{
		"the existing number": {1, nil},
		"one more than exist": {2, journal.ErrReplicas},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			cfg := ordering.DefaultConfig()
			cfg.WaitReplicas, cfg.WaitTimeout = &test.wait, 5*time.Second
			if test.want != nil {
				cfg.WaitTimeout = 50 * time.Millisecond
			}
			j := journal.New(open(t, replicated.Cluster(t).URL(), rand.Text()), cfg, quiet())
			for range 20 { // the connections' records are on different masters
				if _, err := j.Begin(t.Context(), create(on(rand.Text()))); !errors.Is(err, test.want) {
					t.Errorf("Begin: %v, want %v", err, test.want)
				}
			}
		})
	}
}

// With Sentinel, WAIT works as with a single server.
func TestSentinelReplicas(t *testing.T) {
	t.Parallel()
	for wait, want := range map[int]error{2: nil, 3: journal.ErrReplicas} {
		cfg := ordering.DefaultConfig()
		cfg.WaitReplicas, cfg.WaitTimeout = &wait, 5*time.Second
		if want != nil {
			cfg.WaitTimeout = 50 * time.Millisecond
		}
		j := journal.New(open(t, servers.Sentinel(t).URL(), rand.Text()), cfg, quiet())
		if _, err := j.Begin(t.Context(), create()); !errors.Is(err, want) {
			t.Errorf("Begin that waits for %d replicas: %v, want %v", wait, err, want)
		}
	}
}

// If Begin waits for both replicas, its record exists after the master was killed.
func TestSentinelFailover(t *testing.T) {
	t.Parallel()
	group := redistest.StartSentinel(t, redistest.AppendOnly())
	cfg := ordering.DefaultConfig()
	cfg.WaitReplicas, cfg.WaitTimeout = new(2), 5*time.Second
	j := journal.New(open(t, group.URL(), ""), cfg, quiet())
	var orders []ordering.CallSpec
	for range 20 {
		o := create()
		begun(t, j, o)
		orders = append(orders, o)
	}
	old := group.Master()
	old.Stop()
	group.AwaitFailover(old)
	for _, o := range orders {
		eventually(t, "the order is found", func() bool {
			r, _, err := j.Lookup(t.Context(), main, o.Key)
			if err == nil && r.Ref != o.Ref || errors.Is(err, ordering.ErrKeyFree) {
				t.Fatalf("Lookup = %s, %v; want %s", r.Ref, err, o.Ref)
			}
			return err == nil
		})
	}
}
