package encoded

import (
	"bytes"
	"crypto/sha256"
	"fmt"
	"io"
	"testing"

	"github.com/andybalholm/brotli"
	"github.com/klauspost/compress/gzip"
	"github.com/klauspost/compress/zstd"
	"pgregory.net/rapid"

	"larder.local/internal/menu"
)

// unpacked decodes a body with independent readers, and checks that the ETag
// belongs to the result.
func unpacked(ready *Representation, version int64) (string, error) {
	var from io.Reader = bytes.NewReader(ready.Body)
	var err error
	switch ready.Encoding {
	case Gzip:
		from, err = gzip.NewReader(from)
	case Brotli:
		from = brotli.NewReader(from)
	case Zstd:
		from, err = zstd.NewReader(from, zstd.WithDecoderConcurrency(1))
	default:
	}
	if err != nil {
		return "", fmt.Errorf("%s: %w", ready.Encoding, err)
	}
	body, err := io.ReadAll(from)
	if err != nil {
		return "", fmt.Errorf("%s: %w", ready.Encoding, err)
	}
	if want := fmt.Sprintf(`W/"%d-%x"`, version, sha256.Sum256(body)); ready.ETag != want[:len(want)-57]+`"` {
		return "", fmt.Errorf("%s: ETag %s, want %s by the body's hash", ready.Encoding, ready.ETag, want)
	}
	return string(body), nil
}

// Among encodings of equal weight, menus use the smallest one and dishes use gzip.
func TestPreferredEncoding(t *testing.T) {
	t.Parallel()
	all := Accept(Gzip, Brotli, Zstd)
	for set, want := range map[Encodings]Encoding{all: Brotli, Accept(Zstd, Gzip): Zstd, Accept(Gzip): Gzip, 0: Identity} {
		for _, what := range []menu.Index{WholeMenu, PublishedMenu} {
			if got := set.First(what); got != want {
				t.Errorf("for %q, a menu is sent in %s, want %s", set, got, want)
			}
		}
	}
	for _, what := range []menu.Index{0, ChangesOnly} {
		if got := all.First(what); got != Gzip {
			t.Errorf("%d is sent in %s, want gzip", what, got)
		}
	}
}

func TestEncodingNames(t *testing.T) {
	t.Parallel()
	for enc, want := range map[Encoding]string{Identity: "identity", Gzip: "gzip", Brotli: "br", Zstd: "zstd"} {
		if got := enc.String(); got != want {
			t.Errorf("got %s, want %s", got, want)
		}
	}
}

func TestEveryEncodingCanBeDecoded(t *testing.T) {
	t.Parallel()
	p := NewEncoder()
	for _, enc := range []Encoding{Gzip, Brotli, Zstd} {
		rapid.Check(t, func(t *rapid.T) {
			// Repeated parts, in bodies of up to 120 kB.
			parts := rapid.SliceOfN(rapid.SliceOfN(rapid.Byte(), 0, 300), 1, 40).Draw(t, "parts")
			var body []byte
			for _, at := range rapid.SliceOfN(rapid.IntRange(0, len(parts)-1), 0, 400).Draw(t, "order") {
				body = append(body, parts[at]...)
			}
			ready, err := p.Represent(1, body, enc)
			if err != nil {
				t.Fatal(err)
			}
			if got, err := unpacked(ready, 1); err != nil || got != string(body) {
				t.Fatalf("%s: %d bytes were decoded to %d, %v", enc, len(body), len(got), err)
			}
		})
	}
}
