package replica

import (
	"bytes"
	"fmt"
	"io"
	"testing"

	"github.com/andybalholm/brotli"
	"github.com/klauspost/compress/gzip"
	"github.com/klauspost/compress/zstd"

	"larder.local/cache"
	"larder.local/internal/menu"
	"larder.local/internal/sandbox"
)

// coder is one encoding at one level, for the choice of levels
// (docs/decisions/0001-response-body-cache-and-compression.md).
type coder struct {
	name string
	code func(tb testing.TB, body []byte) int // returns the size of the output
}

// coders reuse buffers as the encoder does.
func coders(tb testing.TB) []coder {
	tb.Helper()
	var all []coder
	stream := func(name string, w interface {
		io.WriteCloser
		Reset(dst io.Writer)
	},
	) {
		var out bytes.Buffer
		all = append(all, coder{name, func(tb testing.TB, body []byte) int {
			tb.Helper()
			out.Reset()
			w.Reset(&out)
			if _, err := w.Write(body); err != nil {
				tb.Fatal(err)
			}
			if err := w.Close(); err != nil {
				tb.Fatal(err)
			}
			return out.Len()
		}})
	}
	for _, level := range []int{1, 2, 3, 5, 6, 7, 9} {
		w, err := gzip.NewWriterLevel(io.Discard, level)
		if err != nil {
			tb.Fatal(err)
		}
		stream(fmt.Sprintf("gzip=%d", level), w)
	}
	for _, level := range []zstd.EncoderLevel{zstd.SpeedFastest, zstd.SpeedDefault, zstd.SpeedBetterCompression, zstd.SpeedBestCompression} {
		w, err := zstd.NewWriter(nil, zstd.WithEncoderLevel(level), zstd.WithEncoderConcurrency(1))
		if err != nil {
			tb.Fatal(err)
		}
		all = append(all, coder{"zstd=" + level.String(), func(_ testing.TB, body []byte) int { return len(w.EncodeAll(body, nil)) }})
	}
	for _, level := range []int{1, 2, 3, 4, 5, 6, 7, 9} {
		stream(fmt.Sprintf("br=%d", level), brotli.NewWriterLevel(io.Discard, level))
	}
	for _, level := range []int{0, 1, 2, 3, 4, 5, 7, 8, 9} {
		stream(fmt.Sprintf("br2=%d", level), brotli.NewWriterV2(io.Discard, level))
	}
	return all
}

// menuOf returns the catalogue of the sandbox's generated menu with the given
// number of dishes.
func menuOf(tb testing.TB, dishes int) *menu.Catalogue {
	tb.Helper()
	view, _, err := menu.DecodePublished(sandbox.Generate{Restaurants: 1, Products: dishes, Seed: 1}.Menu(0))
	if err != nil {
		tb.Fatal(err)
	}
	return menu.Compile(view, "bistro", menu.DefaultSettings())
}

// BenchmarkLevels measures each encoding at each level for a dish and menus of
// three sizes: time and size of one body.
func BenchmarkLevels(b *testing.B) {
	bodies := map[string][]byte{"dish": menuOf(b, 60).AppendProduct(nil, 7, 1)}
	names := []string{"dish"}
	for _, dishes := range []int{60, 400, 5000} {
		name := fmt.Sprintf("dishes=%d", dishes)
		names = append(names, name)
		bodies[name] = menuBody(cache.Version{Restaurant: "bistro", Name: "Bistro", Version: 1}, menuOf(b, dishes))
	}
	for _, name := range names {
		body := bodies[name]
		for _, c := range coders(b) {
			b.Run(name+"/"+c.name, func(b *testing.B) {
				b.ReportAllocs()
				b.SetBytes(int64(len(body)))
				size := 0
				for b.Loop() {
					size = c.code(b, body)
				}
				b.ReportMetric(float64(size), "bytes")
			})
		}
	}
}
