package encoded

import (
	"errors"
	"runtime"
	"strconv"
	"sync"
	"sync/atomic"
	"testing"

	"larder.local/internal/menu"
)

func bodyOf(n int) func() (*Representation, error) {
	return func() (*Representation, error) { return &Representation{Body: make([]byte, n)}, nil }
}

func TestBodiesStayWithinMemory(t *testing.T) {
	t.Parallel()
	const memory = 1 << 20
	b, s := NewBodies(memory), &VersionBodies{}
	for i := range 2000 {
		key := Key{Restaurant: "bistro", Version: 1, Product: menu.Index(i)}
		if _, err := b.Build(key, s, bodyOf(4000)); err != nil {
			t.Fatal(err)
		}
	}
	b.cache.CleanUp()
	if got := b.cache.WeightedSize(); got > memory || got < memory/2 {
		t.Errorf("%d bytes are kept, want at most %d and most of it", got, memory)
	}
	s.Clear(b)
	b.cache.CleanUp()
	if got := b.cache.WeightedSize(); got != 0 {
		t.Errorf("%d bytes of a removed version are left", got)
	}
	key := Key{Restaurant: "bistro", Version: 1}
	if _, err := b.Build(key, s, bodyOf(10)); err != nil {
		t.Fatal(err)
	}
	if _, ok := b.Get(key); ok {
		t.Error("a body was kept for a removed version")
	}
}

// A version's data beside its bodies is small, even for many bodies, because
// cache.memory does not count it.
func TestRemovedBodiesLeaveNothingInMemory(t *testing.T) { //nolint:paralleltest // it measures the heap
	const restaurants, dishes = 20, 5000
	versions := make([]*VersionBodies, restaurants)
	b := NewBodies(1)
	before := heap()
	for i := range versions {
		versions[i] = &VersionBodies{}
		key := Key{Restaurant: menu.RestaurantID(strconv.Itoa(i)), Version: 1, Product: WholeMenu}
		for ; key.Product < dishes; key.Product++ {
			for _, key.Encoding = range []Encoding{Identity, Gzip} {
				versions[i].Put(b, key, &Representation{})
			}
		}
	}
	b.cache.CleanUp()
	if left := heap() - before; left > 1<<20 {
		t.Errorf("%d bytes are left of %d removed bodies", left, restaurants*dishes*2)
	}
	runtime.KeepAlive(versions)
}

func heap() int64 {
	runtime.GC()
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return int64(m.HeapAlloc)
}

func TestBodiesThatAreSet(t *testing.T) {
	t.Parallel()
	b, key := NewBodies(1<<20), Key{
		Restaurant: "bistro",
		Version:    2,
		Product:    ChangesOnly,
		Since:      1,
	}
	body := &Representation{Body: make([]byte, 1000)}
	b.Set(key, body)
	if got, ok := b.Get(key); !ok || got != body {
		t.Error("a body that was set is not kept")
	}
	b.cache.CleanUp()
	if got := b.Size(); got < 1000 || got > 2000 {
		t.Errorf("%d bytes are kept, want those of one body and its entry", got)
	}
	var none *VersionBodies
	other := Key{Restaurant: "bistro", Version: 1}
	if _, err := b.Build(other, none, bodyOf(10)); err != nil {
		t.Fatal(err)
	}
	if _, ok := b.Get(other); ok {
		t.Error("a body of a version that is not current was kept")
	}
}

func TestBodyIsBuiltOnce(t *testing.T) {
	t.Parallel()
	b, s := NewBodies(1<<20), &VersionBodies{}
	var builds atomic.Int64
	gate := make(chan struct{})
	var wait sync.WaitGroup
	for range 16 {
		wait.Go(func() {
			_, err := b.Build(Key{Version: 1}, s, func() (*Representation, error) {
				builds.Add(1)
				<-gate
				return &Representation{Body: []byte("body")}, nil
			})
			if err != nil {
				t.Error(err)
			}
		})
	}
	close(gate)
	wait.Wait()
	if builds.Load() != 1 {
		t.Errorf("built %d times, want once", builds.Load())
	}
	broken := errors.New("broken")
	if _, err := b.Build(Key{Version: 2}, s, func() (*Representation, error) { return nil, broken }); !errors.Is(err, broken) {
		t.Errorf("got %v, want the error of the builder", err)
	}
}
