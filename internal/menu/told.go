package menu

import (
	"encoding/binary"
	"strings"
	"sync"
	"weak"
)

// Packer packs bytes small and gives them back. It is safe for concurrent use.
type Packer interface {
	Pack(plain []byte) []byte
	// Unpack gives what Pack was given. It is called with what Pack gave alone.
	Unpack(packed []byte) ([]byte, error)
}

// told is what is told of a dish or ingredient and no order asks for:
// description, pictures, nutritional values.
type told struct {
	description string
	images      entryReader // before the first of them
	imageCount  int
	nutritious  bool
	nutrition   entryReader // before the first of five numbers, where it is nutritious
}

// readTold reads what press.tell wrote; nothing is told where it is empty.
func readTold(packed string) (t told) {
	if packed == "" {
		return t
	}
	r := entryReader{packed: packed}
	t.description = r.text()
	t.imageCount = int(r.count()) //nolint:gosec // the length of a list
	t.images = r
	for range t.imageCount {
		r.text()
	}
	t.nutrition, t.nutritious = r, r.at < len(packed)
	return t
}

func (t *told) imageURLs() []string {
	all := make([]string, t.imageCount)
	r := t.images
	for i := range all {
		all[i] = r.text()
	}
	return all
}

// toldTogether is of how many dishes or ingredients one piece tells: some 40 KB,
// which are unpacked in some 30 microseconds.
const toldTogether = 128

// endSize is how many bytes say where in its piece a telling ends. All of a
// piece stand before the first telling.
const endSize = 4

// tellings are what is told of all dishes, or of all ingredients, in pieces.
// Compiled they are plain. Once condensed they are packed, and a piece is
// unpacked when something of it is asked for; it is used again until the garbage
// collector takes it.
type tellings struct {
	mu     sync.Mutex
	plain  []string // nil once they are condensed
	packer Packer
	packed [][]byte
	lately []weak.Pointer[string] // of those of packed that were unpacked
}

// newTellings cuts what is told of count entries into pieces; ends are where in
// all each ends.
func newTellings(all []byte, ends []uint32) *tellings {
	t := &tellings{plain: make([]string, 0, (len(ends)+toldTogether-1)/toldTogether)}
	for begin := uint32(0); len(ends) > 0; {
		some := ends[:min(toldTogether, len(ends))]
		ends = ends[len(some):]
		end := some[len(some)-1]
		var head [endSize * toldTogether]byte // of the last one a part
		for k, e := range some {
			binary.LittleEndian.PutUint32(head[endSize*k:], e-begin)
		}
		var piece strings.Builder
		piece.Grow(len(head) + int(end-begin))
		piece.Write(head[:])
		piece.Write(all[begin:end])
		t.plain = append(t.plain, piece.String())
		begin = end
	}
	return t
}

// of gives what is told of the entry at i, packed as press.tell wrote it.
func (t *tellings) of(i Index) string {
	piece, k := t.piece(int(i)/toldTogether), int(i)%toldTogether
	begin, end := 0, endIn(piece, k)
	if k > 0 {
		begin = endIn(piece, k-1)
	}
	return piece[endSize*toldTogether:][begin:end]
}

// endIn gives where the telling k ends behind the ends of all.
func endIn(piece string, k int) int {
	e := piece[endSize*k : endSize*(k+1)]
	return int(uint32(e[0]) | uint32(e[1])<<8 | uint32(e[2])<<16 | uint32(e[3])<<24)
}

// piece gives one piece plain. Who asks while it is unpacked waits.
func (t *tellings) piece(n int) string {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.plain != nil {
		return t.plain[n]
	}
	if kept := t.lately[n].Value(); kept != nil {
		return *kept
	}
	plain, err := t.packer.Unpack(t.packed[n])
	if err != nil {
		panic(err) // for a broken memory alone: it came back when it was packed
	}
	piece := string(plain)
	t.lately[n] = weak.Make(&piece)
	return piece
}

// condense packs the pieces, once. Readers wait for the exchange alone. Where a
// piece does not come back, as one beyond the packer's bounds, all stay plain.
func (t *tellings) condense(p Packer) {
	t.mu.Lock()
	plain := t.plain
	t.mu.Unlock()
	if plain == nil {
		return
	}
	packed := make([][]byte, len(plain))
	for n := range plain {
		packed[n] = p.Pack([]byte(plain[n]))
		if back, err := p.Unpack(packed[n]); err != nil || string(back) != plain[n] {
			return
		}
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	t.plain, t.packer, t.packed, t.lately = nil, p, packed, make([]weak.Pointer[string], len(packed))
}

// condensed tells whether the pieces are packed.
func (t *tellings) condensed() bool {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.plain == nil
}

// Condensed tells whether Condense has been called and is done.
func (c *Content) Condensed() bool {
	return c.products.tellings.condensed() && c.ingredients.tellings.condensed()
}

// Condense packs what menus and lists tell of dishes and ingredients and no
// order asks for, and keeps p to unpack it where a body is made. It is for
// contents that are kept, may be called while others read, and does nothing the
// second time, or where p cannot unpack what it packed. O(texts).
func (c *Content) Condense(p Packer) {
	c.products.tellings.condense(p)
	c.ingredients.tellings.condense(p)
}
