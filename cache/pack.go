package cache

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"io"
	"sync"

	"github.com/klauspost/compress/gzip"
	"github.com/klauspost/compress/zstd"
)

const (
	// gzipLevel is klauspost's default: about twice the time of level 1, and a
	// menu some 15 % smaller for every guest that fetches it.
	gzipLevel = gzip.DefaultCompression
	// maxContent bounds what a stored content may unpack to: the limit of
	// policy W15 with room for what is written longer.
	maxContent = 128 << 20
)

// packer compresses and unpacks. It is safe for concurrent use and starts no
// goroutine.
type packer struct {
	gzips  sync.Pool
	zstd   *zstd.Encoder
	unzstd *zstd.Decoder
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
	decoder, err := zstd.NewReader(nil, zstd.WithDecoderMaxMemory(maxContent), zstd.WithDecoderConcurrency(1))
	if err != nil {
		panic(err)
	}
	return &packer{zstd: encoder, unzstd: decoder}
}

func (p *packer) gzip(body []byte) ([]byte, error) {
	var out bytes.Buffer
	out.Grow(len(body)/4 + 64)
	writer, ok := p.gzips.Get().(*gzip.Writer)
	if ok {
		writer.Reset(&out)
	} else {
		var err error
		if writer, err = gzip.NewWriterLevel(&out, gzipLevel); err != nil {
			return nil, fmt.Errorf("cache: gzip: %w", err)
		}
	}
	if _, err := writer.Write(body); err != nil {
		return nil, fmt.Errorf("cache: gzip: %w", err)
	}
	if err := writer.Close(); err != nil {
		return nil, fmt.Errorf("cache: gzip: %w", err)
	}
	p.gzips.Put(writer)
	return bytes.Clone(out.Bytes()), nil // no spare capacity is kept
}

// gunzip gives back what gzip packed.
func (p *packer) gunzip(packed []byte) ([]byte, error) {
	reader, err := gzip.NewReader(bytes.NewReader(packed))
	if err != nil {
		return nil, fmt.Errorf("cache: gunzip: %w", err)
	}
	body, err := io.ReadAll(reader)
	if err != nil {
		return nil, fmt.Errorf("cache: gunzip: %w", err)
	}
	return bytes.Clone(body), nil // no spare capacity is kept
}

// pack compresses what is stored for larder alone, in zstd.
func (p *packer) pack(value []byte) []byte {
	return p.zstd.EncodeAll(value, make([]byte, 0, len(value)/4+64))
}

// unpack gives back what pack packed. The error is ErrCorrupt.
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
