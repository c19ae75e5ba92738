package replica

import (
	"context"
	"runtime"
	"sync"
	"weak"

	"golang.org/x/sync/singleflight"

	"larder/internal/menu"
)

// contentCache holds every compiled content once, for as long as any catalogue
// uses it: it holds them weakly, so one that no restaurant uses is collected.
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

// content gives the content of a hash and loads it where nobody holds it.
// Callers at the same time share one load.
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

// intern gives the content that everyone uses for the hash: the one that is
// held, or else the one given.
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

// remove drops the entry of a content that was collected, unless the hash has
// been loaded again since.
func (l *contentCache) remove(hash string) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.entries[hash].Value() == nil {
		delete(l.entries, hash)
		delete(l.packedViews, hash)
	}
}

// packedContent returns a content as it is stored, if that is held.
func (l *contentCache) packedContent(hash string) ([]byte, bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	packed, held := l.packedViews[hash]
	return packed, held
}

// keepPackedContent holds a content as it is stored for as long as the content.
func (l *contentCache) keepPackedContent(hash string, packed []byte) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.entries[hash].Value() != nil {
		l.packedViews[hash] = packed
	}
}
