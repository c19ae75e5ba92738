package cache

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"

	"larder.local/internal/menu"
	"larder.local/internal/redisdb"
	"larder.local/internal/testkit/redistest"
	"larder.local/internal/testkit/topology"
	"larder.local/internal/testkit/viewtest"
)

// generated returns a publication of a menu of n dishes, with prices from seed.
func generated(tb testing.TB, base int64, n, seed int) Publication {
	tb.Helper()
	return generatedWith(tb, base, n, func(dish int) int { return seed + dish })
}

// generatedWith is generated with given prices. Each dish costs half a unit more than
// price returns.
func generatedWith(tb testing.TB, base int64, n int, price func(dish int) int) Publication {
	tb.Helper()
	view, published, err := menu.DecodePublished(viewtest.Menu(n, price))
	if err != nil {
		tb.Fatal(err)
	}
	return Publication{
		Restaurant: "bistro",
		Base:       base,
		Published:  published,
		SyncedAt:   time.Now(),
		Catalogue:  menu.Compile(view, "bistro", menu.DefaultSettings()),
	}
}

// staged executes all steps of Publish except the last one, like a publisher that
// crashes there.
func staged(t *testing.T, s *Store, p Publication) *publishTx {
	t.Helper()
	ctx := t.Context()
	before, err := s.publishState(ctx, p.Restaurant)
	if err != nil {
		t.Fatal(err)
	}
	v := Version{
		Restaurant: p.Restaurant,
		Version:    p.Base + 1,
		Content:    menu.ContentHash(p.Published.Content, p.Catalogue.Settings()),
		Stops:      p.Catalogue.Stops(),
		SyncedAt:   truncateMillis(p.SyncedAt),
		Counts:     p.Catalogue.Counts(),
	}
	own := s.keys.Version(p.Restaurant, v.Version)
	index, err := s.storeContent(ctx, p, v.Content, own)
	if err != nil {
		t.Fatal(err)
	}
	step, err := s.stage(ctx, p, v, index)
	if err != nil {
		t.Fatal(err)
	}
	step.planRetirement(s, before)
	return step
}

// serves fails unless a new replica would serve that version: it is current, and
// its content can be loaded.
func serves(t *testing.T, s *Store, want int64) {
	t.Helper()
	v, err := s.Current(t.Context(), "bistro")
	if err == nil {
		_, err = s.Content(t.Context(), v.Content, nil)
	}
	if err != nil || v.Version != want {
		t.Fatalf("the store has %+v, %v; want version %d", v, err, want)
	}
}

func TestACrashedPublishKeepsTheOldVersion(t *testing.T) {
	t.Parallel()
	topology.Each(t, func(t *testing.T, r *redisdb.DB) {
		ctx, s := t.Context(), NewStore(r, StoreConfig{})
		if _, err := s.Publish(ctx, generated(t, 0, 40, 1)); err != nil {
			t.Fatal(err)
		}
		dead := staged(t, s, generated(t, 1, 40, 2))
		serves(t, s, 1)
		for pair := range slices.Chunk(dead.staged, 2) {
			from, to := pair[0], pair[1]
			if life := r.Client().PTTL(ctx, from).Val(); life <= 0 || life > stagedLife {
				t.Errorf("the TTL of %s is %s", from, life)
			}
			if r.Client().Exists(ctx, to).Val() != 0 {
				t.Errorf("%s exists before the version does", to)
			}
		}
		// The next publisher uses the same number. The last step of the crashed one
		// arrives late.
		if v, err := s.Publish(ctx, generated(t, 1, 40, 3)); err != nil || v.Version != 2 {
			t.Fatalf("the next publisher: version %d, %v", v.Version, err)
		}
		if err := s.commit(ctx, dead); !errors.Is(err, ErrStale) {
			t.Errorf("the late step: %v, want ErrStale", err)
		}
		if err := r.Client().HSet(ctx, NewKeys(r.Prefix()).Fence("bistro"), "fence", 9).Err(); err != nil {
			t.Fatal(err)
		}
		if err := s.commit(ctx, dead); !errors.Is(err, ErrFenced) {
			t.Errorf("the late step of a lost lease: %v, want ErrFenced", err)
		}
		serves(t, s, 2)
	})
}

func TestExpiredStagingIsNotPublished(t *testing.T) {
	t.Parallel()
	topology.Each(t, func(t *testing.T, r *redisdb.DB) {
		ctx, s := t.Context(), NewStore(r, StoreConfig{})
		if _, err := s.Publish(ctx, generated(t, 0, 40, 1)); err != nil {
			t.Fatal(err)
		}
		wholly := staged(t, s, generated(t, 1, 40, 2))
		if err := r.Client().Del(ctx, wholly.staged[len(wholly.staged)-2]).Err(); err != nil {
			t.Fatal(err)
		}
		partly := staged(t, s, generated(t, 1, 40, 2))
		if err := r.Client().HDel(ctx, partly.staged[0], "5f0c9a51-77aa-4c0a-8d7e-000000000007").Err(); err != nil {
			t.Fatal(err)
		}
		for name, step := range map[string]*publishTx{"wholly": wholly, "partly": partly} {
			if err := s.commit(ctx, step); !errors.Is(err, errIncompleteStage) || !errors.Is(err, redisdb.ErrUnavailable) {
				t.Errorf("%s expired: %v, want redisdb.ErrUnavailable", name, err)
			}
		}
		serves(t, s, 1)
	})
}

var errCut = errors.New("connection cut")

// cutAfter loses the responses of scripts after they ran.
type cutAfter struct{}

func (cutAfter) DialHook(next redis.DialHook) redis.DialHook { return next }

func (cutAfter) ProcessPipelineHook(next redis.ProcessPipelineHook) redis.ProcessPipelineHook {
	return next
}

func (cutAfter) ProcessHook(next redis.ProcessHook) redis.ProcessHook {
	return func(ctx context.Context, cmd redis.Cmder) error {
		if err := next(ctx, cmd); err != nil || !strings.HasPrefix(cmd.Name(), "eval") {
			return err
		}
		cmd.SetErr(errCut)
		return errCut
	}
}

func TestLostResponseOfAPublish(t *testing.T) {
	t.Parallel()
	topology.Each(t, func(t *testing.T, r *redisdb.DB) {
		s := NewStore(r, StoreConfig{})
		r.NoRetry().AddHook(cutAfter{})
		// The script took effect, and the caller gets no error.
		if v, err := s.Publish(t.Context(), generated(t, 0, 40, 1)); err != nil || v.Version != 1 {
			t.Fatalf("version %d, %v; want 1", v.Version, err)
		}
		// The script rejected it because another publisher used the number. The
		// caller cannot know that.
		dead := staged(t, s, generated(t, 1, 40, 2))
		dead.publication.Base = 7
		if err := s.commit(t.Context(), dead); !errors.Is(err, redisdb.ErrUnavailable) || !errors.Is(err, errCut) {
			t.Errorf("a rejection without a response: %v, want redisdb.ErrUnavailable", err)
		}
		serves(t, s, 1)
	})
}

func TestAnUnknownResponseOfAScript(t *testing.T) {
	t.Parallel()
	for _, answer := range [][]string{nil, {}, {"perhaps"}} {
		if err := publishError(answer, 1); !errors.Is(err, ErrCorrupt) {
			t.Errorf("%q: %v, want ErrCorrupt", answer, err)
		}
	}
}

func TestLargeMenuIsStagedInBoundedPipelines(t *testing.T) {
	t.Parallel()
	topology.Each(t, func(t *testing.T, r *redisdb.DB) {
		s := NewStore(r, StoreConfig{})
		v, err := s.Publish(t.Context(), generated(t, 0, 5000, 1))
		if err != nil {
			t.Fatal(err)
		}
		if n := r.Client().HLen(t.Context(), NewKeys(r.Prefix()).Products(NewKeys(r.Prefix()).Version("bistro", 1))).Val(); n != 5000 || v.Counts.Products != 5000 {
			t.Errorf("%d products in Redis, %d counted, want 5000", n, v.Counts.Products)
		}
	})
}

func BenchmarkPublish(b *testing.B) {
	for name, url := range map[string]string{"embedded": redisdb.Embedded, "redis": redistest.Start(b).URL()} {
		for _, dishes := range []int{400, 5000} {
			b.Run(fmt.Sprintf("%s/dishes=%d", name, dishes), func(b *testing.B) {
				s := NewStore(topology.Open(b, url), StoreConfig{})
				p := generated(b, 0, dishes, 1)
				p.Restaurant = menu.RestaurantID(fmt.Sprintf("r%d", dishes))
				if v, err := s.Current(b.Context(), p.Restaurant); err == nil {
					p.Base = v.Version
				}
				b.ReportAllocs()
				for b.Loop() {
					v, err := s.Publish(b.Context(), p)
					if err != nil {
						b.Fatal(err)
					}
					p.Base = v.Version
				}
			})
		}
	}
}
