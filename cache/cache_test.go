package cache_test

import (
	"context"
	"fmt"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"
	"github.com/sirupsen/logrus"
	"github.com/sirupsen/logrus/hooks/test"
	"go.uber.org/goleak"

	"larder/cache"
	"larder/internal/menu"
	"larder/internal/redisdb"
)

func TestMain(m *testing.M) {
	redis.SetLogger(silent{}) // it logs each refused connection of the tests that stop a server
	if url := os.Getenv(publisherOf); url != "" {
		os.Exit(publisher(url))
	}
	goleak.VerifyTestMain(cache.SharedServers.Main(m))
}

type silent struct{}

func (silent) Printf(context.Context, string, ...any) {}

const bistro menu.RestaurantID = "bistro"

var noon = time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)

func quiet() logrus.FieldLogger {
	log, _ := test.NewNullLogger()
	return log
}

// open opens a Redis and closes it when the test ends.
func open(tb testing.TB, url string) *redisdb.DB {
	tb.Helper()
	r, err := redisdb.Open(redisdb.Config{URL: url}, quiet())
	if err != nil {
		tb.Fatalf("open %s: %v", url, err)
	}
	tb.Cleanup(func() {
		if err := r.Close(); err != nil {
			tb.Errorf("close: %v", err)
		}
	})
	return r
}

// onEveryRedis runs one behaviour over a Redis of every form.
func onEveryRedis(t *testing.T, behaviour func(t *testing.T, r *redisdb.DB)) {
	t.Helper()
	cache.OnEveryTopology(t, behaviour)
}

// menuJSON is a small menu whose dishes all cost price: dishes d0 to dN-1 with
// POS identifiers, the first one composed, the last two sharing an externalId.
func menuJSON(dishes int, price int64, stopped ...string) []byte {
	var b strings.Builder
	b.WriteString(`{"name":"Menu","categories":[{"id":"c","name":"All","parentId":null}],"products":[`)
	for i := range dishes {
		if i > 0 {
			b.WriteByte(',')
		}
		scheme, stop := "null", "[]"
		if i == 0 {
			scheme = `"s"`
		}
		for _, id := range stopped {
			if id == fmt.Sprintf("d%d", i) {
				stop = `["bistro","grill"]`
			}
		}
		fmt.Fprintf(&b, `{"id":"d%d","externalId":"pos%d","categoryId":"c","name":"Dish %d","price":%d,"schemeId":%s,"description":"","imageUrls":[],"measure":null,"isContainInStopList":%s}`,
			i, min(i, dishes-2), i, price, scheme, stop)
	}
	b.WriteString(`],"ingredientsSchemes":[{"id":"s","ingredientsGroups":[{"id":"g","minCount":1,"maxCount":2},{"id":"h","minCount":0,"maxCount":0}]}],
"ingredientsGroups":[{"id":"g","name":"Sauce \"hot\"","ingredients":["i1","i2"]},{"id":"h","name":"Extra","ingredients":["i2"]}],
"ingredients":[{"id":"i1","externalId":"x1","name":"Salsa","price":0.5},{"id":"i2","externalId":"x2","name":"Чили","price":0}]}`)
	return []byte(b.String())
}

// publication decodes and compiles a menu for publishing.
func publication(tb testing.TB, restaurant menu.RestaurantID, base int64, raw []byte) cache.Publication {
	tb.Helper()
	view, published, err := menu.DecodePublished(raw)
	if err != nil {
		tb.Fatalf("decode: %v", err)
	}
	return cache.Publication{
		Restaurant: restaurant, Name: "The Bistro", Fence: 1, Base: base, Published: published,
		Catalogue: menu.Compile(view, restaurant, menu.DefaultSettings()), SyncedAt: noon,
	}
}

// publish publishes a menu over base and fails the test if that is refused.
func publish(tb testing.TB, s *cache.Store, restaurant menu.RestaurantID, base int64, raw []byte) cache.Version {
	tb.Helper()
	version, err := s.Publish(tb.Context(), publication(tb, restaurant, base, raw))
	if err != nil {
		tb.Fatalf("publish: %v", err)
	}
	return version
}

// eventually waits until the condition holds.
func eventually(t *testing.T, what string, condition func() bool) {
	t.Helper()
	deadline := time.After(20 * time.Second)
	ticker := time.NewTicker(5 * time.Millisecond)
	defer ticker.Stop()
	for !condition() {
		select {
		case <-deadline:
			t.Fatalf("not within 20 s: %s", what)
		case <-ticker.C:
		}
	}
}
