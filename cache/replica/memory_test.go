package replica

import (
	"context"
	"errors"
	"runtime"
	"strconv"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"larder.local/cache"
	"larder.local/internal/menu"
	"larder.local/internal/redisdb"
	"larder.local/internal/testkit/topology"
)

func TestContentCache_SharesAndReleases(t *testing.T) {
	t.Parallel()
	var loads atomic.Int64
	settings := menu.DefaultSettings()
	l := contentCache{load: func(context.Context, contentKey) (*menu.Content, error) {
		loads.Add(1)
		return menu.CompileContent(&menu.View{Name: "Menu"}, settings), nil
	}}
	key := contentKey{hash: "h"}
	var wait sync.WaitGroup
	got := make([]*menu.Content, 8)
	for i := range got {
		wait.Go(func() {
			if content, err := l.content(t.Context(), key); err == nil {
				got[i] = content
			}
		})
	}
	wait.Wait()
	for i, content := range got {
		if content == nil || content != got[0] {
			t.Fatalf("caller %d got another content", i)
		}
	}
	if interned := l.contents.intern(key, menu.CompileContent(&menu.View{}, settings)); interned != got[0] {
		t.Error("a second content of one hash was interned")
	}
	if loads.Load() != 1 || l.size() != 1 {
		t.Errorf("%d loads, %d held; want 1 and 1", loads.Load(), l.size())
	}
	runtime.KeepAlive(got)

	clear(got)
	deadline := time.Now().Add(20 * time.Second)
	for l.size() > 0 && time.Now().Before(deadline) {
		runtime.GC() // cleanups run in their own goroutine
		runtime.Gosched()
	}
	if l.size() != 0 {
		t.Fatal("an unused content is still in memory")
	}
	if _, err := l.content(t.Context(), key); err != nil || loads.Load() != 2 {
		t.Errorf("after its release: %d loads, %v; want 2", loads.Load(), err)
	}
}

func TestContentCache_PassesErrorsOn(t *testing.T) {
	t.Parallel()
	l := contentCache{load: func(context.Context, contentKey) (*menu.Content, error) { return nil, cache.ErrCorrupt }}
	if _, err := l.content(t.Context(), contentKey{hash: "h"}); !errors.Is(err, cache.ErrCorrupt) || l.size() != 0 {
		t.Errorf("got %v, %d held", err, l.size())
	}
}

func TestMissesAreBounded(t *testing.T) {
	t.Parallel()
	s := cache.NewStore(topology.Open(t, redisdb.Embedded), cache.StoreConfig{})
	r := New(s, Config{})
	for i := range maxMisses + 10 {
		r.slots.misses.note(strconv.Itoa(i), cache.ErrNoCatalogue)
	}
	r.slots.misses.note("cancelled", context.Canceled)
	if len(r.slots.misses.all) > maxMisses || r.slots.misses.find("cancelled") != nil {
		t.Errorf("%d misses are stored; the one of a caller whose context ended: %v", len(r.slots.misses.all), r.slots.misses.find("cancelled"))
	}
	r.onNotice(menu.RestaurantID(strconv.Itoa(maxMisses+1)), 1)
	if err := r.slots.misses.find(strconv.Itoa(maxMisses + 1)); err != nil {
		t.Errorf("after a notice: %v, want no stored miss", err)
	}
}

// size returns the number of contents in memory.
func (c *contentCache) size() int {
	c.contents.mu.Lock()
	defer c.contents.mu.Unlock()
	return len(c.contents.entries)
}

func heap() int64 {
	runtime.GC()
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return int64(m.HeapAlloc)
}
