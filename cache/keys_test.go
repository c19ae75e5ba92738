package cache_test

import (
	"context"
	"strings"
	"testing"

	"larder.local/cache"
	"larder.local/internal/menu"
	"larder.local/internal/redisdb"
	"larder.local/internal/testkit/topology"
)

func TestSweepLoopEndsWithItsContext(t *testing.T) {
	t.Parallel()
	s := cache.NewStore(topology.Open(t, redisdb.Embedded), cache.StoreConfig{})
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if err := s.Run(ctx); err != nil {
		t.Errorf("Run: %v", err)
	}
}

// The keys of one script are in one slot of a cluster, and no two keys are equal.
func TestKeysShareTheirHashTag(t *testing.T) {
	t.Parallel()
	k := cache.NewKeys("larder")
	id := menu.RestaurantID("bistro")
	own := k.Version(id, 42)
	restaurant := []string{
		k.Current(id), k.Products(own), k.ExternalIDs(own), k.Schemes(own), k.Stopped(id, 42), k.Record(id, 42),
		k.StopValues(id, 42), k.History(id), k.Lease(id), k.Fence(id), k.Queue(id), k.Runs(id), k.RunLog(id), k.Findings(id), k.LastFetch(id),
	}
	shared := k.Content("ab12")
	content := []string{k.ContentBody("ab12"), k.ContentUsers("ab12"), k.Products(shared), k.ExternalIDs(shared), k.Schemes(shared)}
	orders := []string{
		k.Order("main", "ref"), k.OrderGuest("main", "ref", 1), k.OrderKey("main", "hash"), k.OrderID("main", "765"),
		k.OrderAborted("main", "opening"), k.Orders("main"), k.OrdersIn("main", "unknown"), k.OrdersOpen("main"), k.OrdersExpiry("main"),
	}
	single := []string{
		k.JournalSecret(), k.Contents(), k.Swept(), k.Notices(), k.RunIndex(), k.ChangeIndex(), k.SigningKey(),
		k.ReplacedSigningKeys(), k.RevokedSigningKeys(), k.Reasons("main"),
	}
	seen := make(map[string]bool)
	for tag, keys := range map[string][]string{"larder:{r:bistro}:": restaurant, "larder:{c:ab12}:": content, "larder:{o:main}:": orders, "larder:": single} {
		for _, key := range keys {
			if !strings.HasPrefix(key, tag) {
				t.Errorf("%s does not start with %s", key, tag)
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
