package cache_test

import (
	"context"
	"errors"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"

	"larder.local/cache"
	"larder.local/internal/redisdb"
	"larder.local/internal/testkit/cachetest"
	"larder.local/internal/testkit/topology"
)

// beforeScripts calls a function once before a script runs.
type beforeScripts struct{ call func() }

func (b *beforeScripts) DialHook(next redis.DialHook) redis.DialHook { return next }

func (b *beforeScripts) ProcessPipelineHook(next redis.ProcessPipelineHook) redis.ProcessPipelineHook {
	return next
}

func (b *beforeScripts) ProcessHook(next redis.ProcessHook) redis.ProcessHook {
	return func(ctx context.Context, cmd redis.Cmder) error {
		if call := b.call; call != nil && cmd.Name() == "evalsha" {
			b.call = nil
			call()
		}
		return next(ctx, cmd)
	}
}

// If a floor is raised while a publisher writes a lower version, that version is
// rejected and the publisher starts again (policy S2a).
func TestFloor_RaisedDuringAPublish_S2a(t *testing.T) {
	t.Parallel()
	topology.Each(t, func(t *testing.T, r *redisdb.DB) {
		s := cache.NewStore(r, cache.StoreConfig{})
		served := cachetest.Publish(t, s, bistro, 0, cachetest.MenuJSON(3, 1))
		served.Version = 8
		topology.DeleteAllKeys(t, r)
		r.NoRetry().AddHook(&beforeScripts{func() {
			if _, raised, err := s.RaiseFloor(t.Context(), served); err != nil || !raised[0] {
				t.Errorf("raised %v, %v", raised, err)
			}
		}})
		p := cachetest.Publication(t, bistro, 0, cachetest.MenuJSON(3, 2))
		if _, err := s.Publish(t.Context(), p); !errors.Is(err, cache.ErrStale) {
			t.Errorf("published below the floor: %v, want ErrStale", err)
		}
		if _, err := s.Current(t.Context(), bistro); !errors.Is(err, cache.ErrNoCatalogue) {
			t.Errorf("something was published: %v", err)
		}
		p.SyncedAt = p.SyncedAt.Add(time.Second)
		if v, err := s.Publish(t.Context(), p); err != nil || v.Version != 9 {
			t.Errorf("published %d, %v; want 9", v.Version, err)
		}
	})
}

func TestRaiseFloor(t *testing.T) {
	t.Parallel()
	topology.Each(t, func(t *testing.T, r *redisdb.DB) {
		s := cache.NewStore(r, cache.StoreConfig{})
		served := cachetest.Publish(t, s, bistro, 0, cachetest.MenuJSON(3, 1))
		if floors, raised, err := s.RaiseFloor(t.Context(), served); err != nil || floors[0] != 0 || raised[0] {
			t.Errorf("floor of a version that Redis has: %v, %v, %v; want nothing raised", floors, raised, err)
		}
		topology.DeleteAllKeys(t, r)
		for i, want := range []bool{true, false} {
			floors, raised, err := s.RaiseFloor(t.Context(), served)
			if err != nil || floors[0] != 1 || raised[0] != want {
				t.Errorf("call %d for a lost version: %v, %v, %v; want 1, raised %t", i, floors, raised, err, want)
			}
		}
		behind := served
		behind.Floor = 1
		if !behind.Behind() || served.Behind() {
			t.Errorf("behind %t with the floor, %t without; want true and false", behind.Behind(), served.Behind())
		}
		if v := cachetest.Publish(t, s, bistro, 0, cachetest.MenuJSON(3, 1)); v.Version != 2 || v.Behind() {
			t.Errorf("published %+v, want version 2, above the floor", v)
		}
	})
}
