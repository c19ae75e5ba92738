package cache

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"io"
	"slices"
	"sync"

	"github.com/andybalholm/brotli"
	"github.com/klauspost/compress/gzip"
	"github.com/klauspost/compress/zstd"
)

// effort is how long an encoder may look for a smaller body.
type effort uint8

// A reader waits for what is quick; what is dense is made behind his back.
const (
	quick effort = iota
	dense
	efforts
)

const (
	// smallBody is up to which size, in bytes, a body is dense at once: that
	// takes some hundred microseconds at most.
	smallBody = 16 << 10
	// writtenAtATime is the block of brotli's writer, in bytes.
	writtenAtATime = 64 << 10
	// maxContent bounds what a stored content may unpack to: the limit of
	// policy W15 with room for what is written longer.
	maxContent = 128 << 20
)

// level is that of an encoder: where bytes stop shrinking for the time
// (docs/decisions/0022-dense-bodies.md). Of zstd one serves both.
func level(enc Encoding, e effort) int {
	switch {
	case enc == Brotli && e == dense:
		return 5
	case enc == Gzip && e == dense:
		return 6
	default:
		return 1
	}
}

// encoder is what gzip's and brotli's writers have in common.
type encoder interface {
	io.WriteCloser
	Reset(to io.Writer)
}

// packer compresses and unpacks. It is safe for concurrent use and starts no
// goroutine.
type packer struct {
	encoders [encodings][efforts]sync.Pool
	zstd     *zstd.Encoder
	unzstd   *zstd.Decoder
	stored   *zstd.Encoder // of what pack compresses
}

func newPacker() *packer {
	// Both fail for wrong options alone, and these are constant. A window of
	// 2 MiB costs the largest menus some 0.3 % of their size, and the encoder
	// then keeps 4 MiB and not 18.
	encoder, err := zstd.NewWriter(nil, zstd.WithEncoderLevel(zstd.SpeedDefault), zstd.WithEncoderConcurrency(1),
		zstd.WithWindowSize(2<<20), zstd.WithLowerEncoderMem(true))
	if err != nil {
		panic(err)
	}
	stored, err := zstd.NewWriter(nil, zstd.WithEncoderLevel(zstd.SpeedFastest), zstd.WithEncoderConcurrency(1), zstd.WithWindowSize(2<<20))
	if err != nil {
		panic(err)
	}
	decoder, err := zstd.NewReader(nil, zstd.WithDecoderMaxMemory(maxContent), zstd.WithDecoderConcurrency(1))
	if err != nil {
		panic(err)
	}
	return &packer{zstd: encoder, unzstd: decoder, stored: stored}
}

// encode compresses a body for transfer.
func (p *packer) encode(enc Encoding, e effort, body []byte) ([]byte, error) {
	if enc == Zstd {
		return bytes.Clone(p.zstd.EncodeAll(body, make([]byte, 0, len(body)/4+64))), nil // no spare capacity is kept
	}
	var out bytes.Buffer
	out.Grow(len(body)/4 + 64)
	pool := &p.encoders[enc][e]
	writer, ok := pool.Get().(encoder)
	if ok {
		writer.Reset(&out)
	} else {
		var err error
		if writer, err = newEncoder(enc, level(enc, e), &out); err != nil {
			return nil, fmt.Errorf("cache: %s: %w", enc, err)
		}
	}
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
	pool.Put(writer)
	return bytes.Clone(out.Bytes()), nil // no spare capacity is kept
}

func newEncoder(enc Encoding, level int, to io.Writer) (encoder, error) {
	if enc == Brotli {
		return brotli.NewWriterV2(to, level), nil
	}
	return gzip.NewWriterLevel(to, level)
}

// decode gives back what encode was given.
func (p *packer) decode(enc Encoding, packed []byte) ([]byte, error) {
	var from io.Reader
	switch enc {
	case Identity:
		return packed, nil
	case Zstd:
		return p.unpack(packed)
	case Brotli:
		from = brotli.NewReader(bytes.NewReader(packed))
	default:
		reader, err := gzip.NewReader(bytes.NewReader(packed))
		if err != nil {
			return nil, fmt.Errorf("cache: unpack gzip: %w", err)
		}
		from = reader
	}
	var body bytes.Buffer
	body.Grow(len(packed) * 6) // menus shrink to a sixth, more or less
	if _, err := body.ReadFrom(from); err != nil {
		return nil, fmt.Errorf("cache: unpack %s: %w", enc, err)
	}
	return bytes.Clone(body.Bytes()), nil // no spare capacity is kept
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
