package menu

import "encoding/binary"

// Sizes of a GUID as text, with its four dashes, and packed.
const (
	guidText   = 36
	guidPacked = 16
)

// code is an id as an entry packs it: a GUID in lower case, which most external
// ids are, as 16 bytes, and any other as it is.
type code struct {
	packed string
	guid   bool
}

// text gives the id. Of a GUID it allocates.
func (c code) text() string {
	if !c.guid {
		return c.packed
	}
	room := guidOf(c.packed)
	return string(room[:])
}

// is tells whether the id is that text. It allocates nothing.
func (c code) is(text string) bool {
	if !c.guid {
		return c.packed == text
	}
	if len(text) != guidText || text[8] != '-' || text[13] != '-' || text[18] != '-' || text[23] != '-' {
		return false
	}
	return eightBytes(text, 0) == hexOf(c.packed, 0) &&
		fourBytes(text, 9)|fourBytes(text, 14)<<32 == hexOf(c.packed, 4) &&
		fourBytes(text, 19)|fourBytes(text, 24)<<32 == hexOf(c.packed, 8) &&
		eightBytes(text, 28) == hexOf(c.packed, 12)
}

// append appends the id as a JSON string, or null where there is none.
func (c code) append(dst []byte) []byte {
	if !c.guid {
		return appendOptional(dst, c.packed)
	}
	room := guidOf(c.packed)
	return append(append(append(dst, '"'), room[:]...), '"')
}

// packGUID gives the 16 bytes of a GUID; false for any other text.
func packGUID(text string) (packed [guidPacked]byte, ok bool) {
	if len(text) != guidText {
		return packed, false
	}
	binary.LittleEndian.PutUint32(packed[0:], unhex(eightBytes(text, 0)))
	binary.LittleEndian.PutUint32(packed[4:], unhex(fourBytes(text, 9)|fourBytes(text, 14)<<32))
	binary.LittleEndian.PutUint32(packed[8:], unhex(fourBytes(text, 19)|fourBytes(text, 24)<<32))
	binary.LittleEndian.PutUint32(packed[12:], unhex(eightBytes(text, 28)))
	return packed, code{string(packed[:]), true}.is(text) // unhex believes everything
}

// guidOf writes a GUID out.
func guidOf(packed string) (text [guidText]byte) {
	binary.LittleEndian.PutUint64(text[0:], hexOf(packed, 0))
	four, more := hexOf(packed, 4), hexOf(packed, 8)
	binary.LittleEndian.PutUint32(text[9:], uint32(four)) //nolint:gosec // the lower half
	binary.LittleEndian.PutUint32(text[14:], uint32(four>>32))
	binary.LittleEndian.PutUint32(text[19:], uint32(more)) //nolint:gosec // the lower half
	binary.LittleEndian.PutUint32(text[24:], uint32(more>>32))
	binary.LittleEndian.PutUint64(text[28:], hexOf(packed, 12))
	text[8], text[13], text[18], text[23] = '-', '-', '-', '-'
	return text
}

// hexOf writes four bytes of packed at i as eight digits, the first one lowest.
func hexOf(packed string, i int) uint64 {
	x := fourBytes(packed, i)
	x = (x | x<<16) & 0x0000ffff0000ffff
	x = (x | x<<8) & evenBytes
	x = x>>4&(evenBytes&eachLow) | x&(evenBytes&eachLow)<<8
	letters := (x + 6*eachOne) >> 4 & eachOne // one for each of a to f
	return x + '0'*eachOne + letters*('a'-'0'-10)
}

// unhex is the inverse of hexOf; it gives anything for what is no digit.
func unhex(digits uint64) uint32 {
	x := digits&eachLow + digits>>6&eachOne*9
	x = x<<4&(evenBytes&^eachLow) | x>>8&(evenBytes&eachLow)
	x = (x | x>>8) & 0x0000ffff0000ffff
	return uint32(x | x>>16) //nolint:gosec // the lower half
}

// The lower four bits of each byte, and every other byte.
const (
	eachLow   = 0x0f0f0f0f0f0f0f0f
	evenBytes = 0x00ff00ff00ff00ff
)

// fourBytes is eightBytes for four.
func fourBytes(text string, i int) uint64 {
	t := text[i : i+4]
	return uint64(t[0]) | uint64(t[1])<<8 | uint64(t[2])<<16 | uint64(t[3])<<24
}
