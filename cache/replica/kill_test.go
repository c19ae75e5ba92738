package replica

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"larder.local/cache"
	"larder.local/internal/testkit/cachetest"
	"larder.local/internal/testkit/redistest"
	"larder.local/internal/testkit/topology"
)

// Publishers are killed at random while they publish a thousand versions. Readers
// of three replicas, of the documented keys and of new replicas see only complete
// versions, and never an older one after a newer one (policies S2, S6).
func TestKilledPublishersLeaveCompleteVersions(t *testing.T) {
	t.Parallel()
	const publishes, leastKills, leastReads = 1000, 10, 20
	server := redistest.Start(t)
	cachetest.Publish(t, cache.NewStore(topology.Open(t, server.URL()), cache.StoreConfig{}), bistro, 0, cachetest.MenuJSON(dishesPerVersion, 1))

	ctx, stop := context.WithCancel(t.Context())
	defer stop()
	var readers sync.WaitGroup
	read := func(name string, pace time.Duration, read func() (int64, error)) *atomic.Int64 {
		var newest atomic.Int64
		readers.Go(func() {
			ticker := time.NewTicker(pace)
			defer ticker.Stop()
			reads := 0
			for ctx.Err() == nil {
				<-ticker.C
				version, err := read()
				if ctx.Err() != nil {
					break
				}
				if seen := newest.Load(); err != nil || version < seen {
					t.Errorf("%s: version %d after %d, %v", name, version, seen, err)
					return
				}
				newest.Store(version)
				reads++
			}
			if reads < leastReads {
				t.Errorf("%s: %d reads, want at least %d beside the publishes", name, reads, leastReads)
			}
		})
		return &newest
	}
	var seen []*atomic.Int64
	for i := range 3 {
		replica := New(cache.NewStore(topology.Open(t, server.URL()), cache.StoreConfig{}), Config{Poll: 50 * time.Millisecond})
		run(t, replica)
		for k := range 2 {
			seen = append(seen, read(fmt.Sprintf("replica %d, reader %d", i, k), 3*time.Millisecond, func() (int64, error) { return readMemory(ctx, replica) }))
		}
	}
	r := topology.Open(t, server.URL())
	s := cache.NewStore(r, cache.StoreConfig{})
	read("keys", 7*time.Millisecond, func() (int64, error) { return readKeys(ctx, r) })
	read("a new replica", 20*time.Millisecond, func() (int64, error) {
		return readMemory(ctx, New(s, Config{Memory: 1}))
	})

	kills := 0
	for newest := int64(1); newest < publishes; kills++ {
		newest = publishUntilKilled(t, server.URL(), newest, publishes)
	}
	cachetest.Eventually(t, "every reader of a replica has the last version", func() bool {
		last, err := s.Current(ctx, bistro)
		for _, newest := range seen {
			if err != nil || newest.Load() != last.Version {
				return false
			}
		}
		return true
	})
	stop()
	readers.Wait()
	if kills < leastKills {
		t.Errorf("%d publishers were killed, want at least %d", kills, leastKills)
	}
	t.Logf("%d publishers were killed", kills)
}

// publishUntilKilled lets a publisher work and kills it at a random moment after
// some versions, or at the last one. It returns the last version that the publisher
// reported.
func publishUntilKilled(t *testing.T, url string, newest, last int64) int64 {
	t.Helper()
	publisher := startPublisher(t, url)
	defer publisher.kill()
	for left := 1 + rand.IntN(100); left > 0 && newest < last; left-- {
		line := publisher.line()
		if _, err := fmt.Sscanf(line, "published %d", &newest); err != nil {
			t.Fatalf("the publisher after version %d: %q", newest, line)
		}
	}
	// At any moment within a version, not only between two.
	timer := time.NewTimer(rand.N(3 * time.Millisecond))
	defer timer.Stop()
	<-timer.C
	return newest
}

// A publisher is paused (SIGSTOP) after it wrote everything but the last step.
// Another publisher takes over the restaurant and publishes. When the first continues
// (SIGCONT), the store rejects its version (policy S2).
func TestAPausedPublisherIsFencedOff_S2(t *testing.T) {
	t.Parallel()
	server := redistest.Start(t)
	r := topology.Open(t, server.URL())
	s := cache.NewStore(r, cache.StoreConfig{})
	cachetest.Publish(t, s, bistro, 0, cachetest.MenuJSON(dishesPerVersion, 1))
	paused := startPublisher(t, server.URL(), frozenAt+"=3")
	for _, want := range []string{"published 2", "frozen"} {
		if line := paused.line(); line != want {
			t.Fatalf("the publisher printed %q, want %q", line, want)
		}
	}
	var status syscall.WaitStatus
	if _, err := syscall.Wait4(paused.cmd.Process.Pid, &status, syscall.WUNTRACED, nil); err != nil || !status.Stopped() {
		t.Fatalf("the publisher is not paused: %v, %v", status, err)
	}
	other := cachetest.Publication(t, bistro, 2, cachetest.MenuJSON(dishesPerVersion, 3, "d1"))
	fence, err := r.Client().HIncrBy(t.Context(), cache.NewKeys(r.Prefix()).Fence(bistro), "fence", 1).Result()
	if err != nil {
		t.Fatal(err)
	}
	other.Fence = fence
	v, err := s.Publish(t.Context(), other)
	if err != nil || v.Version != 3 {
		t.Fatalf("the publisher that took over: version %d, %v", v.Version, err)
	}
	if err := paused.cmd.Process.Signal(syscall.SIGCONT); err != nil {
		t.Fatal(err)
	}
	if line := paused.line(); !strings.HasPrefix(line, "failed true ") {
		t.Errorf("the paused publisher printed %q, want a fence error", line)
	}
	current, err := s.Current(t.Context(), bistro)
	if err != nil || current.Version != 3 || !current.Stops.Equal(v.Stops) {
		t.Errorf("current is %+v, %v; want the version of the publisher that took over", current, err)
	}
	if _, err := s.Version(t.Context(), bistro, 4); !errors.Is(err, cache.ErrNoCatalogue) {
		t.Errorf("a version 4: %v, want none", err)
	}
}
