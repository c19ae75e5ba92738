package measure

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/cespare/xxhash/v2"
	"github.com/redis/go-redis/v9"
	"golang.org/x/sync/errgroup"

	"larder.local/cache"
	"larder.local/cache/replica"
	"larder.local/internal/menu"
	"larder.local/internal/sandbox"
)

// seedersAtOnce is the number of chains that are filled at the same time.
const seedersAtOnce = 8

// seed fills Redis with the chains from one restaurant to another, as real syncs do, in a
// fraction of the time. The first restaurant of each chain is synced. The others share
// its content: their versions are published, and the rest of their state is copied.
func (t *Cluster) seed(ctx context.Context, g sandbox.Generate, from, to int) error {
	var heads []string
	for i := from; i < to; i += g.ChainSize {
		heads = append(heads, g.RestaurantID(i))
	}
	nothing := replica.Config{Allowed: func(menu.RestaurantID) bool { return false }}
	own, err := t.ownRunner("", nothing, heads...)
	if err != nil {
		return err
	}
	defer own.close()
	group, ctx := errgroup.WithContext(ctx)
	group.SetLimit(seedersAtOnce)
	for first := from; first < to; first += g.ChainSize {
		group.Go(func() error {
			if err := own.seedChain(ctx, g, first, min(first+g.ChainSize, to)); err != nil {
				return fmt.Errorf("seed the chain of restaurant %d: %w", first, err)
			}
			return nil
		})
	}
	return group.Wait()
}

// chainHead is the state of the first restaurant of a chain after its sync.
type chainHead struct {
	id        menu.RestaurantID
	version   cache.Version
	content   *menu.Content
	view      *menu.View
	published menu.Published
	lastFetch map[string]string
	runs      []redis.XMessage
	gaps      []int // where the stop list of each dish is in a view without stop lists
}

func (o *ownRunner) seedChain(ctx context.Context, g sandbox.Generate, first, end int) error {
	render := g.Chain(first / g.ChainSize)
	head, err := o.head(ctx, menu.RestaurantID(g.RestaurantID(first)))
	if err != nil {
		return err
	}
	own := render(first)
	head.gaps = gapsOf(own)
	if len(head.gaps) != len(head.view.Products) {
		return fmt.Errorf("%d stop lists of %d dishes", len(head.gaps), len(head.view.Products))
	}
	if err := head.check(own); err != nil {
		return err
	}
	for i := first + 1; i < end; i++ {
		if err := o.seedOne(ctx, head, menu.RestaurantID(g.RestaurantID(i)), render(i)); err != nil {
			return err
		}
	}
	return nil
}

// gapsOf returns chainHead.gaps.
func gapsOf(view []byte) (gaps []int) {
	const list = `"isContainInStopList":[`
	at, inserted := 0, 0
	for {
		next := bytes.Index(view[at:], []byte(list))
		if next < 0 {
			return gaps
		}
		at += next + len(list)
		gaps = append(gaps, at-inserted)
		inserted += bytes.IndexByte(view[at:], ']')
	}
}

// head syncs a restaurant and returns its state.
func (o *ownRunner) head(ctx context.Context, id menu.RestaurantID) (h chainHead, err error) {
	h.id = id
	run, err := o.sync(ctx, id)
	if err != nil {
		return h, err
	}
	if run.Error != "" {
		return h, errors.New(run.Error)
	}
	if h.version, err = o.store.Current(ctx, id); err != nil {
		return h, err
	}
	if h.content, err = o.store.Content(ctx, h.version.Content, nil); err != nil {
		return h, err
	}
	if h.published, err = o.store.View(ctx, h.version); err != nil {
		return h, err
	}
	if h.view, err = menu.DecodeContent(h.published.Content); err != nil {
		return h, err
	}
	keys := cache.NewKeys(o.redis.Prefix())
	if h.lastFetch, err = o.redis.Client().HGetAll(ctx, keys.LastFetch(id)).Result(); err != nil {
		return h, err
	}
	h.runs, err = o.redis.Client().XRange(ctx, keys.RunLog(id), "-", "+").Result()
	return h, err
}

// check returns an error if the state that seedOne would write for the synced
// restaurant differs from the state that its sync has written.
func (h chainHead) check(view []byte) error {
	_, published, err := h.stops(view)
	if err != nil {
		return err
	}
	hash, etag := identify(view)
	if !bytes.Equal(published.Stops, h.published.Stops) || h.lastFetch["raw"] != hash || h.lastFetch["etag"] != etag {
		return fmt.Errorf("its sync has saved %s, %s, and stop lists of %d bytes, not %s, %s and %d bytes",
			h.lastFetch["raw"], h.lastFetch["etag"], len(h.published.Stops), hash, etag, len(published.Stops))
	}
	return nil
}

// identify returns what a sync saves of a response of the sandbox with this menu: the
// hash of the body and its ETag.
func identify(view []byte) (hash, etag string) {
	const before, after = `{"result":`, `}`
	sum, fast := sha256.New(), xxhash.New()
	for _, part := range [...][]byte{[]byte(before), view, []byte(after)} {
		_, _ = sum.Write(part) // no errors, as of the other one
		_, _ = fast.Write(part)
	}
	return strconv.Itoa(len(before)+len(view)+len(after)) + "-" + strconv.FormatUint(fast.Sum64(), 16),
		`W/"` + hex.EncodeToString(sum.Sum(nil)[:8]) + `"`
}

// stops returns the stop lists of a view of the chain. It decodes a view with the same
// elements and no other fields, which takes much less time.
func (h chainHead) stops(view []byte) (*menu.View, menu.Published, error) {
	var small bytes.Buffer
	small.WriteString(`{"ingredients":[{}` + strings.Repeat(",{}", len(h.view.Ingredients)-1) + `],"products":[`)
	inserted := 0
	for i, gap := range h.gaps {
		if i > 0 {
			small.WriteByte(',')
		}
		stops, _, _ := bytes.Cut(view[gap+inserted:], []byte("]"))
		inserted += len(stops)
		small.WriteString(`{"id":"` + h.view.Products[i].ID + `","isContainInStopList":[`)
		small.Write(stops)
		small.WriteString(`]}`)
	}
	small.WriteString(`]}`)
	return menu.DecodePublished(small.Bytes())
}

// seedOne writes what a sync of another restaurant of the chain writes.
func (o *ownRunner) seedOne(ctx context.Context, h chainHead, id menu.RestaurantID, view []byte) error {
	own, published, err := h.stops(view)
	if err != nil {
		return err
	}
	published.Content = h.published.Content
	keys := cache.NewKeys(o.redis.Prefix())
	hash, etag := identify(view)
	pipe := o.redis.Client().Pipeline()
	pipe.Copy(ctx, keys.Fence(h.id), keys.Fence(id), 0, true)
	pipe.Copy(ctx, keys.Findings(h.id), keys.Findings(id), 0, true)
	pipe.HSet(ctx, keys.LastFetch(id), h.lastFetch)
	pipe.HSet(ctx, keys.LastFetch(id), "raw", hash, "etag", etag)
	for _, run := range h.runs {
		record, _ := run.Values["r"].(string)
		pipe.XAdd(ctx, &redis.XAddArgs{
			Stream: keys.RunLog(id), ID: run.ID, Values: []any{"r", strings.ReplaceAll(record, string(h.id), string(id))},
		})
	}
	if _, err := pipe.Exec(ctx); err != nil {
		return err
	}
	_, err = o.store.Publish(ctx, cache.Publication{
		Restaurant: id,
		Name:       string(id),
		Fence:      1,
		Catalogue:  h.content.WithStops(own.Stops(id, menu.DefaultSettings())),
		Published:  published,
		SyncedAt:   time.Now(),
	})
	return err
}
