package replica

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"strconv"
	"sync"
	"testing"
	"time"

	"larder.local/cache"
	"larder.local/cache/encoded"
	"larder.local/internal/menu"
	"larder.local/internal/redisdb"
	"larder.local/internal/testkit/cachetest"
	"larder.local/internal/testkit/menutest"
	"larder.local/internal/testkit/topology"
)

// checkBody checks that a served body belongs to one version: all n dishes of
// version v cost v. It parses no JSON, so that readers are fast and many publishes
// fit into the test.
func checkBody(body []byte, version int64, dishes int) error {
	says := bytes.Contains(body, fmt.Appendf(nil, `"version":%d,`, version))
	costs := bytes.Count(body, fmt.Appendf(nil, `"price":%d,"measure"`, version))
	if prices := bytes.Count(body, []byte(`"price":`)); !says || costs != dishes || prices != dishes+ingredientPrices {
		return fmt.Errorf("version %d: %d of %d dishes have its price, number in the head %t: %.80s…", version, costs, dishes, says, body)
	}
	return nil
}

const (
	// dishesPerVersion is the number of dishes of each version. A version is
	// complete if all of them cost its number. More dishes only make the test
	// slower.
	dishesPerVersion = 6
	// ingredientPrices is the number of ingredient prices in cachetest.MenuJSON.
	ingredientPrices = 2
)

// readMemory reads one menu and one dish of it, and returns the version.
func readMemory(ctx context.Context, replica *Replica) (int64, error) {
	snap, err := replica.Catalogue(ctx, bistro)
	if err != nil {
		return 0, err
	}
	version := snap.Version.Version
	body, err := replica.Menu(snap, encoded.Identity)
	if err != nil {
		return 0, err
	}
	if err := checkBody(body.Body, version, dishesPerVersion); err != nil {
		return 0, err
	}
	// A dish without options: the first is a combo.
	dish, err := replica.Product(snap, menu.Index(1+version%(dishesPerVersion-1)), encoded.Identity)
	if err != nil {
		return 0, err
	}
	if !bytes.Contains(dish.Body, fmt.Appendf(nil, `"price":%d,`, version)) ||
		!bytes.Contains(dish.Body, fmt.Appendf(nil, `"version":%d,`, version)) {
		return 0, fmt.Errorf("version %d: the dish body is %s", version, dish.Body)
	}
	return version, nil
}

// readKeys reads the documented keys as another program does.
func readKeys(ctx context.Context, r *redisdb.DB) (int64, error) {
	client := r.Client()
	current, err := client.HGetAll(ctx, cache.NewKeys(r.Prefix()).Current(bistro)).Result()
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
	if len(products) != dishesPerVersion || external != dishesPerVersion-1 {
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

// TestReadersSeeCompleteVersions publishes many times while readers loop over
// memory and over the documented keys (policies S2, S6).
func TestReadersSeeCompleteVersions(t *testing.T) {
	t.Parallel()
	topology.EmbeddedAndSingle(t, func(t *testing.T, r *redisdb.DB) {
		const leastReads = 5
		publishes := int64(menutest.Rounds(300, 1000))
		s := cache.NewStore(r, cache.StoreConfig{})
		cachetest.Publish(t, s, bistro, 0, cachetest.MenuJSON(dishesPerVersion, 1))
		// Little memory: bodies are evicted while they are read.
		replica := New(s, Config{Memory: 3_000, Poll: 20 * time.Millisecond})
		run(t, replica)
		publisher := New(s, Config{})

		ctx, stop := context.WithCancel(t.Context())
		var readers sync.WaitGroup
		// The pauses of the readers leave most of two cores to the publisher, also
		// with the race detector: expensive reads are slower.
		for name, reader := range map[string]struct {
			pace time.Duration
			read func() (int64, error)
		}{
			"memory":        {2 * time.Millisecond, func() (int64, error) { return readMemory(ctx, replica) }},
			"publisher":     {2 * time.Millisecond, func() (int64, error) { return readMemory(ctx, publisher) }},
			"keys":          {5 * time.Millisecond, func() (int64, error) { return readKeys(ctx, r) }},
			"a new replica": {20 * time.Millisecond, func() (int64, error) { return readMemory(ctx, New(s, Config{Memory: 1})) }},
		} {
			readers.Go(func() {
				seen, reads := int64(0), 0
				pace := time.NewTicker(reader.pace)
				defer pace.Stop()
				for ctx.Err() == nil {
					<-pace.C
					version, err := reader.read()
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
				if reads < leastReads {
					t.Errorf("%s: %d reads, want at least %d beside the publishes", name, reads, leastReads)
				}
			})
		}
		for version := int64(2); version <= publishes; version++ {
			p := cachetest.Publication(t, bistro, version-1, cachetest.MenuJSON(dishesPerVersion, version))
			published, err := s.Publish(t.Context(), p)
			if err != nil {
				t.Errorf("publish %d: %v", version, err)
				break
			}
			publisher.Install(&cache.Snapshot{Version: published, Catalogue: p.Catalogue})
		}
		cachetest.Eventually(t, "the replica has the last version", func() bool {
			snap, ok := replica.Cached(bistro)
			return ok && snap.Version.Version == publishes
		})
		stop()
		readers.Wait()
	})
}
