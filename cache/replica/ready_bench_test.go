package replica

import (
	"testing"

	"larder.local/cache"
	"larder.local/cache/encoded"
	"larder.local/internal/redisdb"
	"larder.local/internal/testkit/cachetest"
	"larder.local/internal/testkit/topology"
)

// BenchmarkReady measures a cache hit: of a menu for each list of encodings, with
// the first and with the second encoding that larder tries.
func BenchmarkReady(b *testing.B) {
	s := cache.NewStore(topology.Open(b, redisdb.Embedded), cache.StoreConfig{})
	if _, err := s.Publish(b.Context(), cachetest.Generated(b, 0, 400, 1)); err != nil {
		b.Fatal(err)
	}
	r := New(s, Config{})
	snap, err := r.Catalogue(b.Context(), "bistro")
	if err != nil {
		b.Fatal(err)
	}
	if _, err := r.Menu(snap, encoded.Gzip); err != nil {
		b.Fatal(err)
	}
	b.ReportAllocs()
	for b.Loop() {
		if _, ok := r.Ready(snap, encoded.WholeMenu, encoded.Gzip); !ok {
			b.Fatal("not ready")
		}
	}
}

// BenchmarkFirstRead measures the first read of a version of a menu of 400 dishes.
func BenchmarkFirstRead(b *testing.B) {
	version := cache.Version{Restaurant: "bistro", Name: "Bistro", Version: 1}
	catalogue := menuOf(b, 400)
	p := encoded.NewEncoder()
	for _, enc := range []encoded.Encoding{encoded.Identity, encoded.Gzip, encoded.Brotli, encoded.Zstd} {
		b.Run(enc.String(), func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				if _, err := p.Represent(1, menuBody(version, catalogue), enc); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}

// BenchmarkMenuRead measures the complete read of a cached menu: slot and body.
func BenchmarkMenuRead(b *testing.B) {
	s := cache.NewStore(topology.Open(b, redisdb.Embedded), cache.StoreConfig{})
	if _, err := s.Publish(b.Context(), cachetest.Generated(b, 0, 400, 1)); err != nil {
		b.Fatal(err)
	}
	r := New(s, Config{})
	b.ReportAllocs()
	for b.Loop() {
		snap, err := r.Catalogue(b.Context(), "bistro")
		if err != nil {
			b.Fatal(err)
		}
		if _, err := r.Menu(snap, encoded.Gzip); err != nil {
			b.Fatal(err)
		}
	}
}
