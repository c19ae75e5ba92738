package cache_test

import (
	"context"
	"encoding/json"
	"fmt"
	"strconv"
	"sync"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"

	"larder/cache"
	"larder/internal/menu"
)

// whole checks that a served menu is of one version: every dish of version v
// costs v.
func whole(body []byte, version int64) error {
	var menuBody struct {
		Result struct {
			Version  int64 `json:"version"`
			Products []struct {
				Price json.Number `json:"price"`
			} `json:"products"`
		} `json:"result"`
	}
	if err := json.Unmarshal(body, &menuBody); err != nil {
		return err
	}
	if menuBody.Result.Version != version || len(menuBody.Result.Products) != 12 {
		return fmt.Errorf("version %d with %d dishes in the body of version %d", menuBody.Result.Version, len(menuBody.Result.Products), version)
	}
	for i, product := range menuBody.Result.Products {
		if product.Price.String() != strconv.FormatInt(version, 10) {
			return fmt.Errorf("version %d: dish %d costs %s", version, i, product.Price)
		}
	}
	return nil
}

// readMemory reads one menu and one dish of it and gives the version.
func readMemory(ctx context.Context, replica *cache.Replica) (int64, error) {
	snap, err := replica.Catalogue(ctx, bistro)
	if err != nil {
		return 0, err
	}
	version := snap.Version.Version
	body, err := replica.Menu(snap, cache.Identity)
	if err != nil {
		return 0, err
	}
	if err := whole(body.Body, version); err != nil {
		return 0, err
	}
	dish, err := replica.Product(snap, menu.Index(version%12), cache.Identity)
	if err != nil {
		return 0, err
	}
	var product struct {
		Result struct {
			Version int64       `json:"version"`
			Price   json.Number `json:"price"`
		} `json:"result"`
	}
	if err := json.Unmarshal(dish.Body, &product); err != nil {
		return 0, err
	}
	if product.Result.Version != version || product.Result.Price.String() != strconv.FormatInt(version, 10) {
		return 0, fmt.Errorf("version %d: the dish says version %d, price %s", version, product.Result.Version, product.Result.Price)
	}
	return version, nil
}

// readKeys reads the documented keys as another program does.
func readKeys(ctx context.Context, client redis.UniversalClient) (int64, error) {
	current, err := client.HGetAll(ctx, "larder:{r:bistro}:current").Result()
	if err != nil {
		return 0, err
	}
	version, err := strconv.ParseInt(current["version"], 10, 64)
	if err != nil {
		return 0, err
	}
	products, err := client.HGetAll(ctx, current["index"]+":products").Result()
	if err != nil {
		return 0, err
	}
	external, err := client.HLen(ctx, current["index"]+":externalIds").Result()
	if err != nil {
		return 0, err
	}
	if len(products) != 12 || external != 11 {
		return 0, fmt.Errorf("version %d has %d products, %d external ids", version, len(products), external)
	}
	for id, product := range products {
		var fields struct {
			Price json.Number `json:"price"`
		}
		if err := json.Unmarshal([]byte(product), &fields); err != nil {
			return 0, err
		}
		if fields.Price.String() != current["version"] {
			return 0, fmt.Errorf("version %d: %s costs %s", version, id, fields.Price)
		}
	}
	return version, nil
}

// TestReadersSeeWholeVersions publishes a thousand times while readers loop
// over memory and over the documented keys (policies S2, S6).
func TestReadersSeeWholeVersions(t *testing.T) {
	t.Parallel()
	onEveryRedis(t, func(t *testing.T, r *cache.Redis) {
		const publishes = 1000
		s := cache.NewStore(r, cache.StoreConfig{})
		publish(t, s, bistro, 0, menuJSON(12, 1))
		// Small memory: bodies are thrown out while they are read.
		replica := cache.NewReplica(s, cache.ReplicaConfig{Memory: 20_000, Poll: 20 * time.Millisecond})
		run(t, replica)
		publisher := cache.NewReplica(s, cache.ReplicaConfig{})

		ctx, stop := context.WithCancel(t.Context())
		var readers sync.WaitGroup
		for name, read := range map[string]func() (int64, error){
			"memory":      func() (int64, error) { return readMemory(ctx, replica) },
			"memory too":  func() (int64, error) { return readMemory(ctx, replica) },
			"publisher":   func() (int64, error) { return readMemory(ctx, publisher) },
			"a new start": func() (int64, error) { return readMemory(ctx, cache.NewReplica(s, cache.ReplicaConfig{Memory: 1})) },
			"keys":        func() (int64, error) { return readKeys(ctx, r.Client()) },
		} {
			readers.Go(func() {
				seen, reads := int64(0), 0
				// A pace, so that on two cores the publisher is not starved.
				pace := time.NewTicker(time.Millisecond)
				defer pace.Stop()
				for ctx.Err() == nil {
					<-pace.C
					version, err := read()
					if ctx.Err() != nil {
						break
					}
					if err != nil || version < seen {
						t.Errorf("%s: version %d after %d, %v", name, version, seen, err)
						return
					}
					seen = version
					reads++
				}
				if reads == 0 {
					t.Errorf("%s: not a single read", name)
				}
			})
		}
		for version := int64(2); version <= publishes; version++ {
			p := publication(t, bistro, version-1, menuJSON(12, version))
			published, err := s.Publish(t.Context(), p)
			if err != nil {
				t.Errorf("publish %d: %v", version, err)
				break
			}
			publisher.Offer(&cache.Snapshot{Version: published, Catalogue: p.Catalogue})
		}
		eventually(t, "the replica has the last version", func() bool {
			snap, ok := replica.Peek(bistro)
			return ok && snap.Version.Version == publishes
		})
		stop()
		readers.Wait()
	})
}
