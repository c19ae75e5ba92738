package replica

import (
	"context"
	"runtime"
	"strings"
	"sync"
	"weak"

	"golang.org/x/sync/singleflight"

	"larder.local/internal/menu"
)

// contentCache has one copy of every compiled content that a catalogue uses, for each settings (see contentKey). Its pointers are weak:
// Go's garbage collector frees a content that nothing uses.
type contentCache struct {
	load func(ctx context.Context, key string) (*menu.Content, error)

	flight      singleflight.Group
	mu          sync.Mutex
	entries     map[string]weak.Pointer[menu.Content]
	packedViews map[string][]byte // content hash to its published view, compressed as in Redis
	live        map[string]int    // content hash to the number of its contents in memory
}

func newContentCache(load func(context.Context, string) (*menu.Content, error)) *contentCache {
	return &contentCache{
		load: load, entries: map[string]weak.Pointer[menu.Content]{}, packedViews: map[string][]byte{}, live: map[string]int{},
	}
}

// content returns the content with the key. If memory has none, concurrent callers share one load; the
// end of ctx ends only this caller's wait.
func (c *contentCache) content(ctx context.Context, key string) (*menu.Content, error) {
	if content := c.cached(key); content != nil {
		return content, nil
	}
	return shared(ctx, &c.flight, key, func(ctx context.Context) (*menu.Content, error) {
		if content := c.cached(key); content != nil {
			return content, nil
		}
		content, err := c.load(ctx, key)
		if err != nil {
			return nil, err
		}
		return c.intern(key, content), nil
	})
}

func (c *contentCache) cached(key string) *menu.Content {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.entries[key].Value()
}

// intern returns the content in memory that has the key. If memory has no such content, intern caches
// the given content and returns it.
func (c *contentCache) intern(key string, content *menu.Content) *menu.Content {
	c.mu.Lock()
	defer c.mu.Unlock()
	if cached := c.entries[key].Value(); cached != nil {
		return cached
	}
	c.entries[key] = weak.Make(content)
	c.live[hashOf(key)]++
	runtime.AddCleanup(content, c.remove, key)
	return content
}

// remove deletes the entry of a content that was freed, unless the content was loaded again.
func (c *contentCache) remove(key string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.entries[key].Value() == nil {
		delete(c.entries, key)
	}
	of := hashOf(key)
	if c.live[of]--; c.live[of] == 0 {
		delete(c.live, of)
		delete(c.packedViews, of)
	}
}

// hashOf returns the content hash of a contentKey.
func hashOf(key string) string {
	hash, _, _ := strings.Cut(key, " ")
	return hash
}

func (c *contentCache) packedContent(hash string) ([]byte, bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	packed, cached := c.packedViews[hash]
	return packed, cached
}

// keepPackedContent caches the compressed view of a content while the content is in memory.
func (c *contentCache) keepPackedContent(hash string, packed []byte) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.live[hash] > 0 {
		c.packedViews[hash] = packed
	}
}
