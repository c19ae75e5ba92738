package journal_test

import (
	"testing"

	"larder.local/ordering"
	"larder.local/ordering/journal"
)

// mark returns the mark of the last commit on the master.
func (p *pair) mark(t *testing.T) string {
	t.Helper()
	return p.master.Client().HGet(t.Context(), "larder:{o:main}:f1:journal", "mark").Val()
}

// An instance that reads the marks of other instances does not commit. Otherwise each Watch
// would cause a write by the next instance, without end.
func TestIdleInstancesDoNotCommit(t *testing.T) {
	t.Parallel()
	p := startPair(t, 1)
	j, other := p.journal(t), p.journal(t)
	seen(t, j)
	seen(t, other)
	begun(t, j, create())
	before := p.mark(t)
	for range 3 {
		watched(t, j)
		watched(t, other)
	}
	if after := p.mark(t); after != before {
		t.Errorf("the mark changed from %s to %s without a commit", before, after)
	}
	// The mark that was read counts, although the other instance did not place the order.
	if err := p.master.Client().HSet(t.Context(), "larder:{o:main}:f1:journal", "mark", 0).Err(); err != nil {
		t.Fatal(err)
	}
	if health := watched(t, other); health.PausedAt.IsZero() {
		t.Errorf("Watch = %+v after commits were lost, want a pause", health)
	}
}

// Without new orders, Watch detects that replicas acknowledge again. Orders cannot detect
// it, because load balancers send none to an instance that is not ready.
func TestWatchDetectsWorkingReplicas(t *testing.T) {
	t.Parallel()
	p := startPair(t, 1)
	j := p.journal(t)
	seen(t, j)
	begun(t, j, create())
	watched(t, j)
	p.replicas[0].Freeze()
	if _, err := j.Begin(t.Context(), create()); err == nil {
		t.Fatal("Begin without a replica = nil")
	}
	if health := watched(t, j); !health.Failing {
		t.Fatalf("Watch = %+v, want it failing", health)
	}
	p.replicas[0].Thaw()
	eventually(t, "Watch detects the replica again", func() bool { return !watched(t, j).Failing })
}

// If lost commits are accepted automatically while an order is opened, the next Watch reports it.
func TestAcceptedByBeginIsReported(t *testing.T) {
	t.Parallel()
	w := start(t, func(c *ordering.Config) { c.AcceptRestore = new(true) })
	begun(t, w, create())
	if health := watched(t, w.Journal); health.Accepted {
		t.Fatalf("Watch = %+v before anything was lost", health)
	}
	if err := w.client.FlushAll(t.Context()).Err(); err != nil {
		t.Fatal(err)
	}
	begun(t, w, create())
	if health := watched(t, w.Journal); !health.Accepted {
		t.Errorf("Watch = %+v, want that lost commits were accepted", health)
	}
	if health := watched(t, w.Journal); health.Accepted {
		t.Errorf("Watch again = %+v, want it reported once", health)
	}
}

// A loss is detected even if the first instance that watches a restored Redis has just started.
func TestNewInstanceDoesNotHideALoss(t *testing.T) {
	t.Parallel()
	w := start(t, nil)
	begun(t, w, create())
	before := w.client.HGetAll(t.Context(), "larder:{o:main}:f1:journal").Val()
	for range 20 {
		begun(t, w, create())
	}
	if err := w.client.FlushAll(t.Context()).Err(); err != nil {
		t.Fatal(err)
	}
	if err := w.client.HSet(t.Context(), "larder:{o:main}:f1:journal", before).Err(); err != nil {
		t.Fatal(err)
	}
	fresh := journal.New(open(t, w.server.URL(), ""), ordering.DefaultConfig(), quiet())
	for range 30 {
		begun(t, fresh, create())
	}
	wantRestored(t, "the instance that knows the commits", w)
}
