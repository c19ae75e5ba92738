package cache

import (
	"bytes"
	"encoding/binary"

	"github.com/cespare/xxhash/v2"
	"github.com/klauspost/compress/zstd"
)

// A content is packed in parts, each a frame of zstd by itself: one behind the
// other they are what zstd unpacks as a whole. Of a content of which little has
// changed the frames of the one before are taken over
// (docs/decisions/0029-what-a-changed-menu-shares.md).

const (
	// All before the dishes is one part, up to mostHead; ids that stand there come
	// again in each other, which packs well. Then a part has leastPart bytes at
	// least, unless it is the last one, and mostPart at most; it ends before an
	// element, about one in partOdds of those where it may.
	mostHead  = 2 << 20
	leastPart = 96 << 10
	mostPart  = 384 << 10
	partOdds  = 16
	// partMark is how many bytes of an element decide whether a part begins
	// there: with the same bytes it begins there in the next content too,
	// wherever that stands. Ids and descriptions tell elements apart.
	partMark = 128
	// partEntry is how many bytes tell of one part.
	partEntry = 24
)

// newStower makes the encoder of contents. A publish waits for it, so it is the
// quickest that still packs well: of 400 dishes it makes 3 % less than
// zstd.SpeedDefault in 0.7 of the time, of 5,000 dishes 12 % more in 0.6
// (docs/decisions/0027-a-sync-in-few-passes.md).
func newStower() *zstd.Encoder {
	stower, err := zstd.NewWriter(nil, zstd.WithEncoderLevel(zstd.SpeedFastest), zstd.WithEncoderConcurrency(1), zstd.WithWindowSize(2<<20))
	if err != nil {
		panic(err) // for wrong options alone, and these are constant
	}
	return stower
}

// stowed is a content as it is stored: its frames, and what is known of each.
// The zero value is none.
type stowed struct {
	frames []byte
	parts  []byte // partEntry bytes of each; see part
}

// part is what is known of one frame. The sums tell by chance, not against who
// wants to deceive: what a content unpacks to has a hash of its own.
type part struct {
	sum   uint64 // of the bytes, unpacked
	size  int    // unpacked
	frame uint64 // the sum of the frame
	end   int    // where the frame ends in all of them
}

func (p part) append(to []byte) []byte {
	to = binary.LittleEndian.AppendUint64(to, p.sum)
	to = binary.LittleEndian.AppendUint64(to, p.frame)
	to = binary.LittleEndian.AppendUint32(to, uint32(p.size))  //nolint:gosec // at most mostHead
	return binary.LittleEndian.AppendUint32(to, uint32(p.end)) //nolint:gosec // of a bounded body
}

func readPart(from []byte) part {
	return part{
		sum: binary.LittleEndian.Uint64(from), frame: binary.LittleEndian.Uint64(from[8:]),
		size: int(binary.LittleEndian.Uint32(from[16:])), end: int(binary.LittleEndian.Uint32(from[20:])),
	}
}

// size is how many bytes it unpacks to, as it says itself; 0 where it does not,
// or where that is more than any content has.
func (s stowed) size() int {
	size := 0
	for at := 0; at+partEntry <= len(s.parts); at += partEntry {
		size += readPart(s.parts[at:]).size
	}
	if size > maxContent {
		return 0
	}
	return size
}

// known gives the frames by what they unpack to. What is not whole is left out.
func (s stowed) known() map[partKey][]byte {
	frames := make(map[partKey][]byte, len(s.parts)/partEntry)
	begin := 0
	for at := 0; at+partEntry <= len(s.parts); at += partEntry {
		p := readPart(s.parts[at:])
		if p.end < begin || p.end > len(s.frames) {
			break
		}
		if frame := s.frames[begin:p.end]; xxhash.Sum64(frame) == p.frame {
			frames[partKey{p.sum, p.size}] = frame
		}
		begin = p.end
	}
	return frames
}

// partKey names what a part unpacks to.
type partKey struct {
	sum  uint64
	size int
}

// stow packs a content, before any version names it (policy S6). The frames of
// before, which may be none, are taken over where they fit.
func (p *packer) stow(content []byte, before stowed) stowed {
	known := before.known()
	s := stowed{frames: make([]byte, 0, max(len(content)/4, len(before.frames))+4<<10)}
	head := before.head(content)
	for len(content) > 0 {
		size := min(head, mostHead)
		if head -= size; size == 0 {
			size = partSize(content)
		}
		raw := content[:size]
		content = content[size:]
		key := partKey{xxhash.Sum64(raw), size}
		begin := len(s.frames)
		if frame, again := known[key]; again {
			s.frames = append(s.frames, frame...)
		} else {
			s.frames = p.stower.EncodeAll(raw, s.frames)
		}
		s.parts = part{sum: key.sum, size: size, frame: xxhash.Sum64(s.frames[begin:]), end: len(s.frames)}.append(s.parts)
	}
	return s
}

// unstow gives back what stow packed, or a larder before it in one frame. The
// error is ErrCorrupt.
func (p *packer) unstow(s stowed) ([]byte, error) {
	return p.unpackInto(make([]byte, 0, s.size()), s.frames)
}

// dishes is what a content's dishes begin with.
const dishes = `"products":[`

// head is how many bytes of the content stand before its dishes. Mostly as many
// as in the one before, whose parts tell: looking through them all takes as long
// as packing a part.
func (s stowed) head(content []byte) int {
	size := 0
	for at := 0; at+partEntry <= len(s.parts); at += partEntry {
		if size += readPart(s.parts[at:]).size; size >= len(content) {
			break
		}
		if bytes.HasPrefix(content[size:], []byte(dishes)) {
			return size
		}
	}
	return max(bytes.Index(content, []byte(dishes)), 0)
}

// partSize is the size of the part that begins the content: it ends before an
// element of a list, which its own bytes choose.
func partSize(content []byte) int {
	for at := leastPart; at < mostPart; at++ {
		next := bytes.Index(content[min(at, len(content)):min(mostPart, len(content))], []byte("},{"))
		if next < 0 {
			break
		}
		at += next + len("},")
		if xxhash.Sum64(content[at:min(at+partMark, len(content))])%partOdds == 0 {
			return at
		}
	}
	return min(mostPart, len(content))
}
