package cache

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"

	"github.com/klauspost/compress/zstd"
)

// maxContent limits the unpacked size of a stored content: the limit of policy W15,
// with space for values that larder writes longer.
const maxContent = 128 << 20

// packer compresses and unpacks stored values. It is safe for concurrent use and starts no goroutine.
type packer struct {
	zstd   *zstd.Encoder
	unzstd *zstd.Decoder
}

func newPacker() *packer {
	encoder, err1 := zstd.NewWriter(nil, zstd.WithEncoderLevel(zstd.SpeedFastest), zstd.WithEncoderConcurrency(1),
		zstd.WithWindowSize(2<<20))
	decoder, err2 := zstd.NewReader(nil, zstd.WithDecoderMaxMemory(maxContent), zstd.WithDecoderConcurrency(1))
	if err := errors.Join(err1, err2); err != nil {
		panic(err) // they fail only for invalid options, and these are constant
	}
	return &packer{zstd: encoder, unzstd: decoder}
}

// pack compresses a value that only larder reads. A publish waits for it, so it uses zstd's fastest
// level, which still compresses well (docs/decisions/0008-published-menu-view.md).
func (p *packer) pack(value []byte) []byte {
	return p.zstd.EncodeAll(value, make([]byte, 0, len(value)/4+64))
}

// unpack reverses pack. The error is ErrCorrupt.
func (p *packer) unpack(packed []byte) ([]byte, error) {
	value, err := p.unzstd.DecodeAll(packed, nil)
	if err != nil {
		return nil, fmt.Errorf("cache: unpack: %w: %w", ErrCorrupt, err)
	}
	return value, nil
}

// sum returns the first bytes of a body's SHA-256 in hex.
func sum(body []byte) string {
	full := sha256.Sum256(body)
	return hex.EncodeToString(full[:16])
}
