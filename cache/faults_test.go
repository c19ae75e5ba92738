package cache_test

import (
	"context"
	"errors"
	"net"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"

	"larder.local/cache"
	"larder.local/cache/encoded"
	"larder.local/cache/replica"
	"larder.local/internal/redisdb"
	"larder.local/internal/testkit/cachetest"
	"larder.local/internal/testkit/topology"
)

var errCut = errors.New("connection cut")

// failAt fails the n-th command or pipeline, counted from 1, before it is sent.
type failAt struct{ left atomic.Int64 }

func (f *failAt) DialHook(next redis.DialHook) redis.DialHook {
	return func(ctx context.Context, network, address string) (net.Conn, error) {
		return next(ctx, network, address)
	}
}

func (f *failAt) ProcessHook(next redis.ProcessHook) redis.ProcessHook {
	return func(ctx context.Context, cmd redis.Cmder) error {
		if f.left.Add(-1) == 0 {
			cmd.SetErr(errCut)
			return errCut
		}
		return next(ctx, cmd)
	}
}

func (f *failAt) ProcessPipelineHook(next redis.ProcessPipelineHook) redis.ProcessPipelineHook {
	return func(ctx context.Context, cmds []redis.Cmder) error {
		if f.left.Add(-1) == 0 {
			for _, cmd := range cmds {
				cmd.SetErr(errCut)
			}
			return errCut
		}
		return next(ctx, cmds)
	}
}

// everyFault makes do fail at its first command, then at its second, and so on
// until it succeeds. It returns how often do failed, each time with
// redisdb.ErrUnavailable. It calls check after each failure.
func everyFault(t *testing.T, f *failAt, do func() error, check func(n int)) int {
	t.Helper()
	for n := 1; n < 1000; n++ {
		f.left.Store(int64(n))
		err := do()
		f.left.Store(0)
		if err == nil {
			return n - 1
		}
		if !errors.Is(err, redisdb.ErrUnavailable) || !errors.Is(err, errCut) {
			t.Fatalf("command %d failed: %v, want redisdb.ErrUnavailable for the cut", n, err)
		}
		check(n)
	}
	t.Fatal("it never succeeds")
	return 0
}

// If any command of a publish, an update of stop lists or a sweep fails, the served
// version stays complete (policy S6).
func TestEveryCommandMayFail(t *testing.T) {
	t.Parallel()
	topology.Each(t, func(t *testing.T, r *redisdb.DB) {
		ctx, fault := t.Context(), &failAt{}
		now := time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)
		s := cache.NewStore(r, cache.StoreConfig{History: 2, Clock: func() time.Time { return now }})
		first := cachetest.Generated(t, 0, 40, 1)
		if _, err := s.Publish(ctx, first); err != nil {
			t.Fatal(err)
		}
		r.Client().AddHook(fault)
		r.NoRetry().AddHook(fault)

		served := func() string {
			fresh := replica.New(s, replica.Config{})
			snap, err := fresh.Catalogue(ctx, "bistro")
			if err != nil {
				t.Fatal(err)
			}
			body, err := fresh.Published(ctx, snap, encoded.Identity)
			if err != nil {
				t.Fatal(err)
			}
			return string(body.Body) + snap.Content
		}
		before := served()
		unchanged := func(n int) {
			if served() != before {
				t.Fatalf("another version is served after command %d failed", n)
			}
		}
		publish := func(p cache.Publication) func() error {
			return func() error {
				_, err := s.Publish(ctx, p)
				return err
			}
		}
		if n := everyFault(t, fault, publish(cachetest.Generated(t, 1, 40, 2)), unchanged); n < 4 {
			t.Errorf("only %d commands of a publish failed", n)
		}
		// A chain's second restaurant uses the content's index.
		grill := cachetest.Generated(t, 0, 40, 2)
		grill.Restaurant, before = "grill", served()
		if n := everyFault(t, fault, publish(grill), unchanged); n < 4 {
			t.Errorf("only %d commands of a chain's publish failed", n)
		}
		if err := replica.New(s, replica.Config{}).Poll(ctx); err != nil {
			t.Errorf("poll: %v", err)
		}
		again, err := s.Current(ctx, "bistro")
		if err != nil {
			t.Fatal(err)
		}
		stops := []byte(`{"values":["{\"disabled\":false}"],"of":[0` + strings.Repeat(",0", 40) + `]}`)
		if n := everyFault(t, fault, func() error {
			_, err := s.UpdateStopLists(ctx, again, 0, "", stops, now)
			return err
		}, unchanged); n < 2 {
			t.Errorf("only %d commands of an update failed", n)
		}
		if before == served() {
			t.Error("the update changed nothing")
		}

		if err := publish(cachetest.Generated(t, 2, 40, 3))(); err != nil { // the history drops the first content
			t.Fatal(err)
		}
		now, before = now.Add(48*time.Hour), served()
		removed := 0
		if n := everyFault(t, fault, func() error {
			gone, err := s.Sweep(ctx)
			removed += gone
			return err
		}, unchanged); n < 4 || removed == 0 {
			t.Errorf("%d commands of a sweep failed, %d contents removed", n, removed)
		}
		unchanged(0)
	})
}
