package cache

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"slices"
	"sync"

	"github.com/andybalholm/brotli"
	"github.com/klauspost/compress/gzip"
	"github.com/klauspost/compress/zstd"
)

// The level of each encoding: about where bodies stop shrinking for the time
// (docs/decisions/0055-one-level-per-encoding.md). Zstd has its default.
const (
	gzipLevel   = 5
	brotliLevel = 4
)

const (
	// writtenAtATime is the block of brotli's writer, in bytes.
	writtenAtATime = 64 << 10
	// maxContent bounds what a stored content may unpack to: the limit of
	// policy W15 with room for what is written longer.
	maxContent = 128 << 20
)

// encoder is what gzip's and brotli's writers have in common.
type encoder interface {
	io.WriteCloser
	Reset(to io.Writer)
}

// packer compresses and unpacks. It is safe for concurrent use and starts no
// goroutine.
type packer struct {
	encoders [encodings]sync.Pool // of encoder
	zstd     *zstd.Encoder
	unzstd   *zstd.Decoder
	stored   *zstd.Encoder // of what pack compresses
}

func newPacker() *packer {
	// A window of 2 MiB costs the largest menus some 0.3 % of their size, and the
	// encoder then keeps 4 MiB and not 18.
	encoder, err1 := zstd.NewWriter(nil, zstd.WithEncoderLevel(zstd.SpeedDefault), zstd.WithEncoderConcurrency(1),
		zstd.WithWindowSize(2<<20), zstd.WithLowerEncoderMem(true))
	stored, err2 := zstd.NewWriter(nil, zstd.WithEncoderLevel(zstd.SpeedFastest), zstd.WithEncoderConcurrency(1),
		zstd.WithWindowSize(2<<20))
	decoder, err3 := zstd.NewReader(nil, zstd.WithDecoderMaxMemory(maxContent), zstd.WithDecoderConcurrency(1))
	if err := errors.Join(err1, err2, err3); err != nil {
		panic(err) // they fail for wrong options alone, and these are constant
	}
	return &packer{zstd: encoder, unzstd: decoder, stored: stored}
}

// encode compresses a body for transfer.
func (p *packer) encode(enc Encoding, body []byte) ([]byte, error) {
	switch enc {
	case Identity:
		return body, nil
	case Zstd:
		return bytes.Clone(p.zstd.EncodeAll(body, make([]byte, 0, len(body)/4+64))), nil // no spare capacity is kept
	default:
	}
	var out bytes.Buffer
	out.Grow(len(body)/4 + 64)
	writer, ok := p.encoders[enc].Get().(encoder)
	if !ok {
		writer = newEncoder(enc)
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
	p.encoders[enc].Put(writer)
	return bytes.Clone(out.Bytes()), nil // no spare capacity is kept
}

func newEncoder(enc Encoding) encoder {
	if enc == Brotli {
		return brotli.NewWriterV2(nil, brotliLevel)
	}
	writer, _ := gzip.NewWriterLevel(nil, gzipLevel) // it fails for a wrong level alone
	return writer
}

// pack compresses what is stored for larder alone. A publish waits for it, so it
// works at zstd's fastest level, which still compresses well
// (docs/decisions/0027-a-sync-in-few-passes.md).
func (p *packer) pack(value []byte) []byte {
	return p.stored.EncodeAll(value, make([]byte, 0, len(value)/4+64))
}

// unpack returns what pack was given. The error is ErrCorrupt.
func (p *packer) unpack(packed []byte) ([]byte, error) {
	value, err := p.unzstd.DecodeAll(packed, nil)
	if err != nil {
		return nil, fmt.Errorf("cache: unpack: %w: %w", ErrCorrupt, err)
	}
	return value, nil
}

// sum is the first bytes of a body's SHA-256 in hex.
func sum(body []byte) string {
	full := sha256.Sum256(body)
	return hex.EncodeToString(full[:16])
}
