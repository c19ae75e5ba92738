package cache_test

import (
	"context"
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"

	"larder/cache"
	"larder/internal/menu"
)

func TestOpenDoesNotWaitForTheServer(t *testing.T) {
	t.Parallel()
	r := open(t, "redis://127.0.0.1:1/0") // nothing listens there
	if err := r.Ping(t.Context()); !errors.Is(err, cache.ErrUnavailable) {
		t.Errorf("ping: %v, want ErrUnavailable", err)
	}
	if r.Embedded() {
		t.Error("a server of its own is called embedded")
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if err := r.Run(ctx); err != nil {
		t.Errorf("Run: %v", err)
	}
}

func TestEmbeddedWantsItsPassword(t *testing.T) {
	t.Parallel()
	r := open(t, cache.Embedded)
	if !r.Embedded() || r.Ping(t.Context()) != nil {
		t.Fatalf("embedded %t, ping %v", r.Embedded(), r.Ping(t.Context()))
	}
	client, ok := r.Client().(*redis.Client)
	if !ok {
		t.Fatalf("client is a %T", r.Client())
	}
	stranger := redis.NewClient(&redis.Options{Addr: client.Options().Addr})
	err := stranger.Ping(t.Context()).Err()
	if closeErr := stranger.Close(); closeErr != nil {
		t.Error(closeErr)
	}
	if err == nil || !strings.Contains(err.Error(), "NOAUTH") {
		t.Errorf("without the password: %v, want NOAUTH", err)
	}
}

func TestEmbeddedKeysExpire(t *testing.T) {
	t.Parallel()
	r := open(t, cache.Embedded)
	ctx, cancel := context.WithCancel(t.Context())
	done := make(chan error, 1)
	go func() { done <- r.Run(ctx) }()
	if err := r.Client().Set(t.Context(), "k", "v", 100*time.Millisecond).Err(); err != nil {
		t.Fatal(err)
	}
	eventually(t, "the key has expired", func() bool { return r.Client().Exists(t.Context(), "k").Val() == 0 })
	cancel()
	if err := <-done; err != nil {
		t.Errorf("Run: %v", err)
	}
}

func TestStrictClientNeverRetries(t *testing.T) {
	t.Parallel()
	r := open(t, cache.Embedded)
	strict, ok := r.Strict().(*redis.Client)
	if !ok {
		t.Fatalf("strict is a %T", r.Strict())
	}
	// go-redis keeps "no retries" as 0 after NewClient.
	if got := strict.Options().MaxRetries; got > 0 {
		t.Errorf("MaxRetries %d, want none", got)
	}
	ordinary, ok := r.Client().(*redis.Client)
	if !ok || ordinary.Options().MaxRetries < 1 {
		t.Error("the ordinary client does not retry")
	}
}

func TestSweepLoopEndsWithItsContext(t *testing.T) {
	t.Parallel()
	s := cache.NewStore(open(t, cache.Embedded), cache.StoreConfig{})
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if err := s.Run(ctx); err != nil {
		t.Errorf("Run: %v", err)
	}
}

// TestKeysShareTheirHashTag: the keys of one script are in one slot of a
// cluster, and no two keys are the same.
func TestKeysShareTheirHashTag(t *testing.T) {
	t.Parallel()
	k := cache.NewKeys("larder")
	id := menu.RestaurantID("bistro")
	own := k.Version(id, 42)
	restaurant := []string{
		k.Current(id), k.Products(own), k.ExternalIDs(own), k.Schemes(own), k.Stopped(id, 42), k.Record(id, 42),
		k.StopValues(id, 42), k.History(id), k.Lease(id), k.Fence(id), k.Queue(id), k.Runs(id), k.RunLog(id), k.Findings(id), k.Validator(id),
	}
	shared := k.Content("ab12")
	content := []string{k.ContentBody("ab12"), k.ContentUsers("ab12"), k.Products(shared), k.ExternalIDs(shared), k.Schemes(shared)}
	orders := []string{
		k.Order("main", "ref"), k.OrderGuest("main", "ref", 1), k.OrderKey("main", "hash"), k.OrderID("main", "765"),
		k.OrderAborted("main", "opening"), k.Orders("main"), k.OrdersIn("main", "unknown"), k.OrdersOpen("main"), k.OrdersExpiry("main"),
	}
	single := []string{k.JournalSecret(), k.Contents(), k.Swept(), k.Notices(), k.RunIndex(), k.SigningKey(), k.ReplacedSigningKeys(), k.Reasons("main")}
	seen := make(map[string]bool)
	for tag, keys := range map[string][]string{"larder:{r:bistro}:": restaurant, "larder:{c:ab12}:": content, "larder:{o:main}:": orders, "larder:": single} {
		for _, key := range keys {
			if !strings.HasPrefix(key, tag) {
				t.Errorf("%s does not begin with %s", key, tag)
			}
			if seen[key] {
				t.Errorf("%s is the name of two keys", key)
			}
			seen[key] = true
		}
	}
	for got, want := range map[string]string{
		k.Current(id): "larder:{r:bistro}:current", k.Products(own): "larder:{r:bistro}:v:42:products",
		k.ExternalIDs(own): "larder:{r:bistro}:v:42:externalIds", k.Schemes(own): "larder:{r:bistro}:v:42:schemes",
		k.Stopped(id, 42): "larder:{r:bistro}:v:42:stopped", cache.NewKeys("").Current(id): "larder:{r:bistro}:current",
		k.Current(cache.DefaultMenu("main")): "larder:{r:@main}:current",
	} {
		if got != want {
			t.Errorf("got %s, want %s", got, want)
		}
	}
}
