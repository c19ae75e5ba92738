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

// content returns the content with the hash. If memory has none, concurrent callers share one load.
func (l *contentCache) content(ctx context.Context, hash string) (*menu.Content, error) {
	if content := l.cached(hash); content != nil {
		return content, nil
	}
	loaded, err, _ := l.flight.Do(hash, func() (any, error) {
		if content := l.cached(hash); content != nil {
			return content, nil
		}
		content, err := l.load(ctx, hash)
		if err != nil {
			return nil, err
		}
		return l.intern(hash, content), nil
	})
	if err != nil {
		return nil, err
	}
	content, _ := loaded.(*menu.Content)
	return content, nil
}

func (l *contentCache) cached(hash string) *menu.Content {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.entries[hash].Value()
}

// intern returns the content in memory that has the hash. If memory has no such content, intern caches
// the given content and returns it.
func (l *contentCache) intern(hash string, content *menu.Content) *menu.Content {
	l.mu.Lock()
	defer l.mu.Unlock()
	if held := l.entries[hash].Value(); held != nil {
		return held
	}
	l.entries[hash] = weak.Make(content)
	runtime.AddCleanup(content, l.remove, hash)
	return content
}

// remove deletes the entry of a content that was freed, unless the content was loaded again.
func (l *contentCache) remove(hash string) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.entries[hash].Value() == nil {
		delete(l.entries, hash)
		delete(l.packedViews, hash)
	}
}

func (l *contentCache) packedContent(hash string) ([]byte, bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	packed, held := l.packedViews[hash]
	return packed, held
}

// keepPackedContent caches the compressed view of a content while the content is in memory.
func (l *contentCache) keepPackedContent(hash string, packed []byte) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.entries[hash].Value() != nil {
		l.packedViews[hash] = packed
	}
}
