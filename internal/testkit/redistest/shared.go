package redistest

import (
	"context"
	"os"
	"slices"
	"sync"
	"testing"
)

// Shared holds groups of servers that all tests of a package share, because a start
// takes seconds. Each test has its own prefix and stops no server. The first test
// that needs a group starts it. The zero value is ready; TestMain must call its
// Run.
type Shared struct {
	Replicas int // of each of the cluster's masters

	sentinel group[*Sentinel]
	cluster  group[*Cluster]
}

// Sentinel returns a master, its replicas and its Sentinels; all write to disk.
func (s *Shared) Sentinel(tb testing.TB) *Sentinel {
	tb.Helper()
	return s.sentinel.get(tb, func(tb testing.TB) *Sentinel { tb.Helper(); return StartSentinel(tb, AppendOnly(), Patient()) })
}

// Cluster returns three masters and their replicas; all write to disk.
func (s *Shared) Cluster(tb testing.TB) *Cluster {
	tb.Helper()
	return s.cluster.get(tb, func(tb testing.TB) *Cluster {
		tb.Helper()
		return StartCluster(tb, s.Replicas, AppendOnly(), Patient())
	})
}

// Run runs the tests and then stops the servers. With a check for goroutines:
// leaktest.Main(shared.Main(m)).
func (s *Shared) Run(m interface{ Run() int }) int {
	defer s.sentinel.close()
	defer s.cluster.close()
	return m.Run()
}

// Main returns m with Run around it, for leaktest.
func (s *Shared) Main(m interface{ Run() int }) interface{ Run() int } { return main{s, m} }

type main struct {
	shared *Shared
	tests  interface{ Run() int }
}

// Run is Shared.Run.
func (m main) Run() int { return m.shared.Run(m.tests) }

// group is started once.
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

// groupHost is the test that started a group; the group outlives the test.
type groupHost struct {
	testing.TB
	cleanups []func()
}

// Cleanup delays f to the end of all tests.
func (h *groupHost) Cleanup(f func()) { h.cleanups = append(h.cleanups, f) }

// Context never ends: all work of the servers has its own limits.
func (h *groupHost) Context() context.Context { return context.Background() }

// TempDir returns a folder that is removed at the end of all tests.
func (h *groupHost) TempDir() string {
	h.Helper()
	dir, err := os.MkdirTemp("", "redistest-")
	if err != nil {
		h.Fatalf("redistest: %v", err)
	}
	h.Cleanup(func() { _ = os.RemoveAll(dir) })
	return dir
}
