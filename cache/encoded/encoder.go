package encoded

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"io"
	"slices"
	"strconv"
	"sync"

	"github.com/andybalholm/brotli"
	"github.com/klauspost/compress/gzip"
	"github.com/klauspost/compress/zstd"
)

// The level of each encoding: about where bodies stop shrinking for the time
// (docs/decisions/0055-one-compression-level-per-encoding.md). Zstd has its default.
const (
	gzipLevel   = 5
	brotliLevel = 4
)

// writtenAtATime is the block of brotli's writer, in bytes.
const writtenAtATime = 64 << 10

// Representation is one encoded body, shared by all readers: they must not
// change it.
type Representation struct {
	Body []byte
	// ETag is weak: W/"<version>-<8 hex of the identity body's hash>", the
	// same for every encoding.
	ETag     string
	Encoding Encoding
}

// compressor is what gzip's and brotli's writers have in common.
type compressor interface {
	io.WriteCloser
	Reset(to io.Writer)
}

// Encoder encodes bodies. It is safe for concurrent use and starts no goroutine.
type Encoder struct {
	compressors [encodings]sync.Pool // of compressor
	zstd        *zstd.Encoder
}

// NewEncoder returns an Encoder, which keeps buffers for its next bodies.
func NewEncoder() *Encoder {
	// A window of 2 MiB costs the largest menus some 0.3 % of their size, and the
	// encoder then keeps 4 MiB and not 18.
	encoder, err := zstd.NewWriter(nil, zstd.WithEncoderLevel(zstd.SpeedDefault), zstd.WithEncoderConcurrency(1),
		zstd.WithWindowSize(2<<20), zstd.WithLowerEncoderMem(true))
	if err != nil {
		panic(err) // it fails for wrong options alone, and these are constant
	}
	return &Encoder{zstd: encoder}
}

// Represent encodes an identity body of a version.
func (e *Encoder) Represent(version int64, identity []byte, enc Encoding) (*Representation, error) {
	sum := sha256.Sum256(identity)
	tag := strconv.AppendInt([]byte(`W/"`), version, 10)
	tag = append(tag, '-')
	tag = hex.AppendEncode(tag, sum[:4])
	tag = append(tag, '"')
	body, err := e.encode(enc, identity)
	return &Representation{Body: body, ETag: string(tag), Encoding: enc}, err
}

// encode compresses a body for transfer.
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
	// In parts: brotli's writer keeps room for all that it is given at a time.
	for part := range slices.Chunk(body, writtenAtATime) {
		if _, err := writer.Write(part); err != nil {
			return nil, fmt.Errorf("cache: %s: %w", enc, err)
		}
	}
	if err := writer.Close(); err != nil {
		return nil, fmt.Errorf("cache: %s: %w", enc, err)
	}
	writer.Reset(io.Discard) // or it would hold on to out
	e.compressors[enc].Put(writer)
	return bytes.Clone(out.Bytes()), nil // no spare capacity is kept
}

func newCompressor(enc Encoding) compressor {
	if enc == Brotli {
		return brotli.NewWriterV2(nil, brotliLevel)
	}
	writer, _ := gzip.NewWriterLevel(nil, gzipLevel) // it fails for a wrong level alone
	return writer
}
