package encoded

import (
	"container/list"
	"fmt"
	"hash/maphash"
	"math/rand/v2"
	"sync"
	"testing"

	"larder.local/internal/menu"
)

// shardedLRU is the alternative that bodies were compared with: a map and a list
// behind a mutex, in shards (docs/decisions/0001-response-body-cache-and-compression.md).
type shardedLRU struct {
	seed   maphash.Seed
	shards [16]struct {
		mu      sync.Mutex
		room    int
		used    int
		order   list.List
		entries map[Key]*list.Element
	}
}

type lruEntry struct {
	key  Key
	body *Representation
}

func newShardedLRU(memory int) *shardedLRU {
	l := &shardedLRU{seed: maphash.MakeSeed()}
	for i := range l.shards {
		l.shards[i].room = memory / len(l.shards)
		l.shards[i].entries = make(map[Key]*list.Element)
	}
	return l
}

func (l *shardedLRU) get(key Key) (*Representation, bool) {
	s := &l.shards[maphash.Comparable(l.seed, key)%uint64(len(l.shards))]
	s.mu.Lock()
	defer s.mu.Unlock()
	at, ok := s.entries[key]
	if !ok {
		return nil, false
	}
	s.order.MoveToFront(at)
	entry, _ := at.Value.(*lruEntry)
	return entry.body, true
}

func (l *shardedLRU) set(key Key, body *Representation) {
	s := &l.shards[maphash.Comparable(l.seed, key)%uint64(len(l.shards))]
	s.mu.Lock()
	defer s.mu.Unlock()
	if at, ok := s.entries[key]; ok {
		s.order.Remove(at)
		s.used -= len(body.Body) + bodyOverhead
	}
	s.entries[key] = s.order.PushFront(&lruEntry{key, body})
	s.used += len(body.Body) + bodyOverhead
	for s.used > s.room && s.order.Len() > 0 {
		entry, _ := s.order.Remove(s.order.Back()).(*lruEntry)
		delete(s.entries, entry.key)
		s.used -= len(entry.body.Body) + bodyOverhead
	}
}

// BenchmarkBodies reads 20,000 bodies of 2 KB, some far more often than others
// (Zipf), with either cache. "fits" has memory for all, "tight" for an eighth;
// hits/op is the share of reads that found a body.
func BenchmarkBodies(b *testing.B) {
	const count, size = 20_000, 2 << 10
	keys := make([]Key, count)
	for i := range keys {
		keys[i] = Key{
			Restaurant: menu.RestaurantID(fmt.Sprintf("76439fb3-c0c4-42ca-a269-%012d", i/100)),
			Version:    42,
			Content:    "5a105e8b9d40e1329780d62ea2265d8a5a105e8b9d40e1329780d62ea2265d8a",
			Product:    menu.Index(i % 100),
			Encoding:   Gzip,
		}
	}
	body := &Representation{Body: make([]byte, size)}
	for _, room := range []struct {
		name   string
		memory int
	}{{"fits", 2 * count * (size + bodyOverhead)}, {"tight", count * (size + bodyOverhead) / 8}} {
		otter := NewBodies(int64(room.memory)).cache
		lru := newShardedLRU(room.memory)
		for name, c := range map[string]struct {
			get func(Key) (*Representation, bool)
			set func(Key, *Representation)
		}{
			"otter": {otter.GetIfPresent, func(k Key, r *Representation) { otter.Set(k, r) }},
			"lru":   {lru.get, lru.set},
		} {
			b.Run(room.name+"/"+name, func(b *testing.B) {
				for _, key := range keys {
					c.set(key, body)
				}
				b.ReportAllocs()
				b.ResetTimer()
				var mu sync.Mutex
				hits, reads := 0, 0
				b.RunParallel(func(pb *testing.PB) {
					zipf := rand.NewZipf(rand.New(rand.NewPCG(1, 2)), 1.1, 1, count-1)
					found, asked := 0, 0
					for pb.Next() {
						key := keys[zipf.Uint64()]
						asked++
						if _, ok := c.get(key); ok {
							found++
						} else {
							c.set(key, body)
						}
					}
					mu.Lock()
					defer mu.Unlock()
					hits, reads = hits+found, reads+asked
				})
				b.ReportMetric(float64(hits)/float64(reads), "hits/op")
			})
		}
	}
}
