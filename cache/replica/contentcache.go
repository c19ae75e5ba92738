package replica

import (
	"context"
	"runtime"
	"sync"
	"weak"

	"golang.org/x/sync/singleflight"

	"larder/internal/menu"
)

// contentCache holds every compiled content once, as long as a catalogue uses it.
// Its references are weak, so an unused content is collected.
type contentCache struct {
	load func(ctx context.Context, hash string) (*menu.Content, error)

	flight      singleflight.Group
	mu          sync.Mutex
	entries     map[string]weak.Pointer[menu.Content]
	packedViews map[string][]byte // by hash of the content, compressed as in Redis
}

func newContentCache(load func(context.Context, string) (*menu.Content, error)) *contentCache {
	return &contentCache{load: load, entries: make(map[string]weak.Pointer[menu.Content]), packedViews: map[string][]byte{}}
}

// content returns the content of a hash. If it is not in memory, concurrent callers share one load.
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

// intern returns the content in memory for the hash. If memory has no such content, it
// keeps and returns the given one.
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

// remove deletes the entry of a collected content, unless the hash was loaded again.
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

// keepPackedContent keeps the stored form of a content as long as the content.
func (l *contentCache) keepPackedContent(hash string, packed []byte) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.entries[hash].Value() != nil {
		l.packedViews[hash] = packed
	}
}
