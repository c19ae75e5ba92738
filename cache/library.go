package cache

import (
	"context"
	"runtime"
	"sync"
	"weak"

	"golang.org/x/sync/singleflight"

	"larder/internal/menu"
)

// library holds every compiled content once, for as long as any catalogue
// uses it: it holds them weakly, so one that no restaurant uses is collected.
type library struct {
	load func(ctx context.Context, hash string) (*menu.Content, error)

	flight singleflight.Group
	mu     sync.Mutex
	books  map[string]weak.Pointer[menu.Content]
	views  map[string][]byte // of books, compressed as in Redis
}

func newLibrary(load func(context.Context, string) (*menu.Content, error)) *library {
	return &library{load: load, books: make(map[string]weak.Pointer[menu.Content]), views: map[string][]byte{}}
}

// content gives the content of a hash and loads it where nobody holds it.
// Callers at the same time share one load.
func (l *library) content(ctx context.Context, hash string) (*menu.Content, error) {
	if content := l.held(hash); content != nil {
		return content, nil
	}
	loaded, err, _ := l.flight.Do(hash, func() (any, error) {
		if content := l.held(hash); content != nil {
			return content, nil
		}
		content, err := l.load(ctx, hash)
		if err != nil {
			return nil, err
		}
		return l.adopt(hash, content), nil
	})
	if err != nil {
		return nil, err
	}
	content, _ := loaded.(*menu.Content)
	return content, nil
}

func (l *library) held(hash string) *menu.Content {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.books[hash].Value()
}

// adopt gives the content that everyone uses for the hash: the one that is
// held, or else the one given.
func (l *library) adopt(hash string, content *menu.Content) *menu.Content {
	l.mu.Lock()
	defer l.mu.Unlock()
	if held := l.books[hash].Value(); held != nil {
		return held
	}
	l.books[hash] = weak.Make(content)
	runtime.AddCleanup(content, l.forget, hash)
	return content
}

// forget drops the entry of a content that was collected, unless the hash has
// been loaded again since.
func (l *library) forget(hash string) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.books[hash].Value() == nil {
		delete(l.books, hash)
		delete(l.views, hash)
	}
}

// packed returns a content as it is stored, if that is held.
func (l *library) packed(hash string) ([]byte, bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	packed, held := l.views[hash]
	return packed, held
}

// keepPacked holds a content as it is stored for as long as the content.
func (l *library) keepPacked(hash string, packed []byte) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.books[hash].Value() != nil {
		l.views[hash] = packed
	}
}
