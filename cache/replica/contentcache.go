package replica

import (
	"context"
	"runtime"
	"sync"
	"weak"

	"golang.org/x/sync/singleflight"

	"larder/internal/menu"
)

// contentCache has one copy of every compiled content that a catalogue uses. Its pointers are weak:
// Go's garbage collector frees a content that nothing uses.
type contentCache struct {
	load func(ctx context.Context, hash string) (*menu.Content, error)

	flight      singleflight.Group
	mu          sync.Mutex
	entries     map[string]weak.Pointer[menu.Content]
	packedViews map[string][]byte // content hash to its published view, compressed as in Redis
}

func newContentCache(load func(context.Context, string) (*menu.Content, error)) *contentCache {
	return &contentCache{load: load, entries: make(map[string]weak.Pointer[menu.Content]), packedViews: map[string][]byte{}}
}

// content returns the content with the hash. If memory has none, concurrent callers share one load; the
// end of ctx ends only this caller's wait.
func (c *contentCache) content(ctx context.Context, hash string) (*menu.Content, error) {
	if content := c.cached(hash); content != nil {
		return content, nil
	}
	flight := c.flight.DoChan(hash, func() (any, error) {
		if content := c.cached(hash); content != nil {
			return content, nil
		}
		ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), loadWithin)
		defer cancel()
		content, err := c.load(ctx, hash)
		if err != nil {
			return nil, err
		}
		return c.intern(hash, content), nil
	})
	select {
	case <-ctx.Done():
		return nil, ctx.Err()
	case loaded := <-flight:
		content, _ := loaded.Val.(*menu.Content) // nil with an error
		return content, loaded.Err
	}
}

func (c *contentCache) cached(hash string) *menu.Content {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.entries[hash].Value()
}

// intern returns the content in memory that has the hash. If memory has no such content, intern caches
// the given content and returns it.
func (c *contentCache) intern(hash string, content *menu.Content) *menu.Content {
	c.mu.Lock()
	defer c.mu.Unlock()
	if cached := c.entries[hash].Value(); cached != nil {
		return cached
	}
	c.entries[hash] = weak.Make(content)
	runtime.AddCleanup(content, c.remove, hash)
	return content
}

// remove deletes the entry of a content that was freed, unless the content was loaded again.
func (c *contentCache) remove(hash string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.entries[hash].Value() == nil {
		delete(c.entries, hash)
		delete(c.packedViews, hash)
	}
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
	if c.entries[hash].Value() != nil {
		c.packedViews[hash] = packed
	}
}
