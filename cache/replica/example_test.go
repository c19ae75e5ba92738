package replica_test

import (
	"context"
	"fmt"
	"time"

	"larder.local/cache"
	"larder.local/cache/encoded"
	"larder.local/cache/replica"
	"larder.local/internal/menu"
	"larder.local/internal/redisdb"
	"larder.local/internal/silentlog"
)

// A menu is published to the embedded Redis and read from a replica's memory, with
// the body that an HTTP route sends.
func Example() {
	ctx := context.Background()
	log := silentlog.New()
	redis, err := redisdb.Open(redisdb.Config{URL: redisdb.Embedded}, log)
	if err != nil {
		fmt.Println(err)
		return
	}
	defer func() { _ = redis.Close() }()
	store := cache.NewStore(redis, cache.StoreConfig{})

	view, published, err := menu.DecodePublished([]byte(`{"result":{"name":"Lunch","products":[{"id":"1","externalId":"P1","name":"Soup","price":4.50}]}}`))
	if err != nil {
		fmt.Println(err)
		return
	}
	_, err = store.Publish(ctx, cache.Publication{
		Restaurant: "bistro",
		Name:       "The Bistro",
		Published:  published,
		Catalogue:  menu.Compile(view, "bistro", menu.DefaultSettings()),
		SyncedAt:   time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC),
	})
	if err != nil {
		fmt.Println(err)
		return
	}

	catalogues := replica.New(store, replica.Config{Log: log})
	snapshot, err := catalogues.Catalogue(ctx, "bistro")
	if err != nil {
		fmt.Println(err)
		return
	}
	soup, _ := snapshot.Catalogue.Products().ByID("1")
	body, err := catalogues.Product(snapshot, soup, encoded.Identity)
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println("version", snapshot.Version.Version, body.Encoding, len(body.Body) > 0)
	fmt.Println(redis.Client().HGet(ctx, cache.NewKeys(redis.Prefix()).Products(cache.NewKeys(redis.Prefix()).Version("bistro", 1)), "1").Val())
	// Output:
	// version 1 identity true
	// {"externalId":"P1","name":"Soup","price":4.5,"schemeId":null,"categoryId":null,"categoryIds":[],"available":true}
}
