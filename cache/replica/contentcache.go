package replica

import (
	"context"
	"fmt"
	"runtime"
	"sync"
	"weak"

	"golang.org/x/sync/singleflight"

	"larder.local/internal/menu"
)

// contentCache has one copy of every compiled content that a catalogue uses, for each settings.
type contentCache struct {
	load     func(context.Context, contentKey) (*menu.Content, error)
	flight   singleflight.Group
	contents weakMap[contentKey, menu.Content]
}

// contentKey identifies a content that is compiled with settings.
type contentKey struct {
	hash     string
	settings menu.Settings
}

// content returns the content with the key. If memory has none, concurrent callers share one load; the
// end of ctx ends only this caller's wait.
func (c *contentCache) content(ctx context.Context, key contentKey) (*menu.Content, error) {
	if content := c.contents.get(key); content != nil {
		return content, nil
	}
	return shared(ctx, &c.flight, fmt.Sprint(key), func(ctx context.Context) (*menu.Content, error) {
		if content := c.contents.get(key); content != nil {
			return content, nil
		}
		content, err := c.load(ctx, key)
		if err != nil {
			return nil, err
		}
		return c.contents.intern(key, content), nil
	})
}

// weakMap finds values that are in use by their keys. Its pointers are weak: Go's garbage collector frees a value that
// nothing uses. The zero value is empty.
type weakMap[K comparable, V any] struct {
	mu      sync.Mutex
	entries map[K]weak.Pointer[V]
}

// get returns the value with the key; nil if memory has none.
func (m *weakMap[K, V]) get(key K) *V {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.entries[key].Value()
}

// intern returns the value in memory that has the key. If memory has no such value, intern keeps the given one and
// returns it.
func (m *weakMap[K, V]) intern(key K, value *V) *V {
	m.mu.Lock()
	defer m.mu.Unlock()
	if there := m.entries[key].Value(); there != nil {
		return there
	}
	if m.entries == nil {
		m.entries = map[K]weak.Pointer[V]{}
	}
	m.entries[key] = weak.Make(value)
	runtime.AddCleanup(value, m.remove, key)
	return value
}

// remove deletes the entry of a value that was freed, unless there is another one with its key.
func (m *weakMap[K, V]) remove(key K) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.entries[key].Value() == nil {
		delete(m.entries, key)
	}
}
