package redistest

import (
	"context"
	"os"
	"slices"
	"sync"
	"testing"
)

// Shared is the groups of servers that all tests of a package share, since they
// take seconds to form: each test has its own prefix, and stop
// nothing. A group is started by the first test that asks for it. The zero value
// is ready; its Run must be what TestMain runs.
type Shared struct {
	Replicas int // of each of the cluster's masters

	sentinel group[*Sentinel]
	cluster  group[*Cluster]
}

// Sentinel gives a master, its replicas and its Sentinels; all write to disk.
func (s *Shared) Sentinel(tb testing.TB) *Sentinel {
	tb.Helper()
	return s.sentinel.get(tb, func(tb testing.TB) *Sentinel { tb.Helper(); return StartSentinel(tb, AppendOnly(), Patient()) })
}

// Cluster gives three masters and their replicas; all write to disk.
func (s *Shared) Cluster(tb testing.TB) *Cluster {
	tb.Helper()
	return s.cluster.get(tb, func(tb testing.TB) *Cluster {
		tb.Helper()
		return StartCluster(tb, s.Replicas, AppendOnly(), Patient())
	})
}

// Run runs the tests and then stops what they have started. With goleak:
// goleak.VerifyTestMain(shared.Main(m)).
func (s *Shared) Run(m interface{ Run() int }) int {
	defer s.sentinel.close()
	defer s.cluster.close()
	return m.Run()
}

// Main is m as goleak takes it, with Run around it.
func (s *Shared) Main(m interface{ Run() int }) interface{ Run() int } { return main{s, m} }

type main struct {
	shared *Shared
	tests  interface{ Run() int }
}

// Run is Shared.Run.
func (m main) Run() int { return m.shared.Run(m.tests) }

// group is one that is started once.
type group[T any] struct {
	mu      sync.Mutex
	started bool
	servers T
	host    *groupHost
}

func (g *group[T]) get(tb testing.TB, start func(testing.TB) T) T {
	tb.Helper()
	g.mu.Lock()
	defer g.mu.Unlock()
	if !g.started {
		if g.host != nil {
			tb.Fatal("redistest: the servers that all tests share did not start; the first test that wanted them says why")
		}
		g.host = &groupHost{TB: tb}
		g.servers = start(g.host)
		g.started = true
	}
	return g.servers
}

func (g *group[T]) close() {
	if g.host == nil {
		return
	}
	for _, v := range slices.Backward(g.host.cleanups) {
		v()
	}
}

// groupHost is the test that started a group, but what it starts outlives it.
type groupHost struct {
	testing.TB
	cleanups []func()
}

// Cleanup puts it off to the end of all tests.
func (h *groupHost) Cleanup(f func()) { h.cleanups = append(h.cleanups, f) }

// Context never ends: all that servers do is bounded by itself.
func (h *groupHost) Context() context.Context { return context.Background() }

// TempDir is a folder that is removed at the end of all tests.
func (h *groupHost) TempDir() string {
	h.Helper()
	dir, err := os.MkdirTemp("", "redistest-")
	if err != nil {
		h.Fatalf("redistest: %v", err)
	}
	h.Cleanup(func() { _ = os.RemoveAll(dir) })
	return dir
}
