package cache

import (
	"testing"

	"larder/internal/redisdb"
)

// BenchmarkReady is a cache hit: of a menu for each list of encodings, in the
// first place that larder looks at and in the second.
func BenchmarkReady(b *testing.B) {
	s := NewStore(openForTest(b, redisdb.Embedded), StoreConfig{})
	if _, err := s.Publish(b.Context(), generated(b, 0, 400, 1)); err != nil {
		b.Fatal(err)
	}
	r := NewReplica(s, ReplicaConfig{})
	snap, err := r.Catalogue(b.Context(), "bistro")
	if err != nil {
		b.Fatal(err)
	}
	if _, err := r.Menu(snap, Gzip); err != nil {
		b.Fatal(err)
	}
	b.ReportAllocs()
	for b.Loop() {
		if _, ok := r.Ready(snap, WholeMenu, Gzip); !ok {
			b.Fatal("not ready")
		}
	}
}

// BenchmarkFirstRead is what the first reader of a version of a menu of 400
// dishes waits for.
func BenchmarkFirstRead(b *testing.B) {
	version := Version{Restaurant: "bistro", Name: "Bistro", Version: 1}
	catalogue := menuOf(b, 400)
	p := newPacker()
	for _, enc := range []Encoding{Identity, Gzip, Brotli, Zstd} {
		b.Run(enc.String(), func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				if _, err := p.represent(1, menuBody(version, catalogue), enc); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}
