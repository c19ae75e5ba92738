package encoded

import (
	"bytes"
	"crypto/sha256"
	"fmt"
	"io"
	"slices"
	"sync"

	"github.com/andybalholm/brotli"
	"github.com/klauspost/compress/gzip"
	"github.com/klauspost/compress/zstd"

	"larder.local/internal/menu"
)

// The level of each encoding. Higher levels cost much time for little size
// (docs/decisions/0001-response-body-cache-and-compression.md). Zstd uses its default.
const (
	gzipLevel   = 5
	brotliLevel = 4
)

// writtenAtATime is the size of one write to brotli's writer, in bytes.
const writtenAtATime = 64 << 10

// Representation is one encoded body. All readers share it and must not change it.
type Representation struct {
	Body []byte
	// ETag is weak: W/"<version>-<8 hex of the identity body's hash>". It is the same for every encoding.
	ETag     string
	Encoding Encoding
}

type compressor interface {
	io.WriteCloser
	Reset(to io.Writer)
}

// Encoder encodes bodies. It is safe for concurrent use and starts no goroutine.
type Encoder struct {
	compressors [encodings]sync.Pool // of compressor
	zstd        *zstd.Encoder
}

// NewEncoder returns an Encoder. It keeps its buffers for later bodies.
func NewEncoder() *Encoder {
	// A window of 2 MiB makes the largest menus about 0.3 % larger, and the encoder's memory 4 MiB instead of 18.
	encoder, err := zstd.NewWriter(nil, zstd.WithEncoderLevel(zstd.SpeedDefault), zstd.WithEncoderConcurrency(1),
		zstd.WithWindowSize(2<<20), zstd.WithLowerEncoderMem(true))
	if err != nil {
		panic(err) // it fails only for invalid options, and these are constant
	}
	return &Encoder{zstd: encoder}
}

// Represent encodes an identity body of a version.
func (e *Encoder) Represent(version int64, identity []byte, enc Encoding) (*Representation, error) {
	sum := sha256.Sum256(identity)
	body, err := e.encode(enc, identity)
	return &Representation{Body: body, ETag: fmt.Sprintf(`W/"%d-%x"`, version, sum[:4]), Encoding: enc}, err
}

func (e *Encoder) encode(enc Encoding, body []byte) ([]byte, error) {
	switch enc {
	case Identity:
		return body, nil
	case Zstd:
		return bytes.Clone(e.zstd.EncodeAll(body, make([]byte, 0, len(body)/4+64))), nil // no spare capacity is kept
	default:
	}
	var out bytes.Buffer
	out.Grow(len(body)/4 + 64)
	writer, ok := e.compressors[enc].Get().(compressor)
	if !ok {
		writer = newCompressor(enc)
	}
	writer.Reset(&out)
	// In parts: brotli's writer keeps a buffer for everything that one write contains.
	for part := range slices.Chunk(body, writtenAtATime) {
		if _, err := writer.Write(part); err != nil {
			return nil, fmt.Errorf("encoded: %s: %w", enc, err)
		}
	}
	if err := writer.Close(); err != nil {
		return nil, fmt.Errorf("encoded: %s: %w", enc, err)
	}
	writer.Reset(io.Discard) // so that it does not keep out
	e.compressors[enc].Put(writer)
	return bytes.Clone(out.Bytes()), nil // no spare capacity is kept
}

func newCompressor(enc Encoding) compressor {
	if enc == Brotli {
		return brotli.NewWriterV2(nil, brotliLevel)
	}
	writer, _ := gzip.NewWriterLevel(nil, gzipLevel) // it fails only for an invalid level
	return writer
}

// Encoding is a content encoding.
type Encoding uint8

// The supported content encodings.
const (
	Identity Encoding = iota
	Gzip
	Brotli
	Zstd
)

const encodings = int(Zstd) + 1

// String returns the encoding's name in Content-Encoding and Accept-Encoding.
func (e Encoding) String() string {
	return [encodings]string{"identity", "gzip", "br", "zstd"}[e]
}

// Encodings is the set of encodings to which a client gives the same, highest weight.
type Encodings uint8

// Accept returns the set of the given encodings. An empty set means that the client accepts no encoding.
func Accept(all ...Encoding) Encodings {
	var set Encodings
	for _, e := range all {
		set |= 1 << e
	}
	return set
}

// Has reports whether e is in the set.
func (s Encodings) Has(e Encoding) bool { return s&(1<<e) != 0 }

// The order in which larder chooses among encodings of equal weight. For a menu, the encoding with the
// smallest body is first. For a dish, all bodies have almost the same size. So the encoding that most
// clients accept is first, and most of them share one cached body.
var (
	menuOrder = [...]Encoding{Brotli, Zstd, Gzip, Identity} //nolint:gochecknoglobals // constant
	dishOrder = [...]Encoding{Gzip, Zstd, Brotli, Identity} //nolint:gochecknoglobals // constant
)

// First returns the encoding in the set that larder uses for a body: WholeMenu, PublishedMenu or the
// index of a dish. For an empty set it returns Identity.
func (s Encodings) First(what menu.Index) Encoding {
	order := &dishOrder
	if what == WholeMenu || what == PublishedMenu {
		order = &menuOrder
	}
	if at := slices.IndexFunc(order[:], s.Has); at >= 0 {
		return order[at]
	}
	return Identity
}
