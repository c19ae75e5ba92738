package cache

import (
	"context"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"

	"larder.local/internal/menu"
	"larder.local/internal/redisdb"
	"larder.local/internal/testkit/topology"
)

// A content that left the history and is used again is not removed, whatever its
// first publisher does.
func TestSweepKeepsAContentThatIsUsedAgain(t *testing.T) {
	t.Parallel()
	topology.Each(t, func(t *testing.T, r *redisdb.DB) {
		ctx, now := t.Context(), time.Now()
		s := NewStore(r, StoreConfig{History: 1, Clock: func() time.Time { return now }})
		var versions []Version
		for base, seed := range []int{1, 2, 1} {
			v, err := s.Publish(ctx, generated(t, int64(base), 4, seed))
			if err != nil {
				t.Fatal(err)
			}
			versions = append(versions, v)
		}
		now = now.Add(25 * time.Hour)
		if got, err := s.Sweep(ctx); err != nil || got != 1 {
			t.Errorf("swept %d, %v; want the one content that no history names", got, err)
		}
		if _, err := s.Content(ctx, versions[2].Content, nil); err != nil || versions[0].Content != versions[2].Content {
			t.Errorf("the content that is used again: %v", err)
		}
	})
}

// beforeSRem calls a function between the sweep's script and its last step.
type beforeSRem struct {
	cutAfter

	do func(ctx context.Context)
}

func (b *beforeSRem) ProcessHook(next redis.ProcessHook) redis.ProcessHook {
	return func(ctx context.Context, cmd redis.Cmder) error {
		if do := b.do; cmd.Name() == "srem" && do != nil {
			b.do = nil
			do(ctx)
		}
		return next(ctx, cmd)
	}
}

// If a publisher stores a content again while it is being swept, a later sweep
// finds it.
func TestSweepListsAContentThatIsStoredDuringTheSweep(t *testing.T) {
	t.Parallel()
	topology.Each(t, func(t *testing.T, r *redisdb.DB) {
		ctx, now := t.Context(), time.Now()
		s := NewStore(r, StoreConfig{History: 1, Clock: func() time.Time { return now }})
		for base, seed := range []int{1, 2} {
			if _, err := s.Publish(ctx, generated(t, int64(base), 4, seed)); err != nil {
				t.Fatal(err)
			}
		}
		back := generated(t, 2, 4, 1)
		hash := menu.ContentHash(back.Published.Content, back.Catalogue.Settings())
		came := false
		r.Client().AddHook(&beforeSRem{do: func(ctx context.Context) {
			if _, err := s.storeContent(ctx, back, hash, "own"); err != nil {
				t.Error(err)
			}
			came = true
		}})
		now = now.Add(25 * time.Hour)
		if got, err := s.Sweep(ctx); err != nil || got != 1 || !came {
			t.Fatalf("swept %d, %v; stored again meanwhile: %t", got, err, came)
		}
		if listed, err := r.Client().SIsMember(ctx, NewKeys(r.Prefix()).Contents(), hash).Result(); err != nil || !listed {
			t.Errorf("listed: %t, %v; want it listed for the next sweep", listed, err)
		}
	})
}
