package journal_test

import (
	"testing"

	"larder/ordering"
	"larder/ordering/journal"
)

// mark returns the mark of the last commit on the master.
func (p *pair) mark(t *testing.T) string {
	t.Helper()
	return p.master.Client().HGet(t.Context(), "larder:{o:main}:f1:journal", "mark").Val()
}

// TestIdleInstancesCommitNothing: an instance that learns the marks of others does not
// commit. Otherwise each Watch would cause a write of the next instance, without end.
func TestIdleInstancesCommitNothing(t *testing.T) {
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
		t.Errorf("the mark went from %s to %s while nothing was committed", before, after)
	}
	// The learned mark counts, although the other instance did not place the order.
	if err := p.master.Client().HSet(t.Context(), "larder:{o:main}:f1:journal", "mark", 0).Err(); err != nil {
		t.Fatal(err)
	}
	if health := watched(t, other); health.PausedAt.IsZero() {
		t.Errorf("Watch = %+v after commits were lost, want a pause", health)
	}
}

// TestWatchEndsFailing: without new orders, Watch finds out that replicas acknowledge
// again. Otherwise nothing would, because balancers send no orders to an instance that is
// not ready.
func TestWatchEndsFailing(t *testing.T) {
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
	eventually(t, "Watch sees the replica again", func() bool { return !watched(t, j).Failing })
}

// TestAcceptedByBeginIsReported: if lost commits are accepted automatically while an order
// is opened, the next Watch reports it.
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

// TestNewInstanceHidesNothing: the first instance to watch a restored Redis has just
// started.
func TestNewInstanceHidesNothing(t *testing.T) {
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
	wantRestored(t, "the instance that remembers", w)
}
