package menu

import (
	"encoding/hex"

	"larder/internal/jsontext"
)

// The sizes of a GUID: as text with four dashes, and packed.
const (
	guidText   = 36
	guidPacked = 16
)

// code is an id as stored in an entry: a GUID in lower case, as most external ids are, takes 16
// bytes; other ids are stored as text.
type code struct {
	packed string
	guid   bool
}

// text returns the id. It allocates for a GUID.
func (c code) text() string {
	if !c.guid {
		return c.packed
	}
	text := guidOf(c.packed)
	return string(text[:])
}

// is reports whether the id equals text. It does not allocate.
func (c code) is(text string) bool {
	if !c.guid {
		return c.packed == text
	}
	guid := guidOf(c.packed)
	return string(guid[:]) == text
}

// append appends the id as a JSON string, or null if it is empty.
func (c code) append(dst []byte) []byte {
	if !c.guid {
		return jsontext.AppendStringOrNull(dst, c.packed)
	}
	text := guidOf(c.packed)
	return append(append(append(dst, '"'), text[:]...), '"')
}

// packGUID returns the 16 bytes of a GUID; ok is false for other texts, and for upper-case letters,
// because unpacking would not restore them.
func packGUID(text string) (packed [guidPacked]byte, ok bool) {
	if len(text) != guidText {
		return packed, false
	}
	var digits [2 * guidPacked]byte
	copy(digits[0:], text[0:8])
	copy(digits[8:], text[9:13])
	copy(digits[12:], text[14:18])
	copy(digits[16:], text[19:23])
	copy(digits[20:], text[24:])
	if _, err := hex.Decode(packed[:], digits[:]); err != nil {
		return packed, false
	}
	return packed, code{string(packed[:]), true}.is(text)
}

func guidOf(packed string) (text [guidText]byte) {
	var digits [2 * guidPacked]byte
	hex.Encode(digits[:], []byte(packed))
	copy(text[0:], digits[0:8])
	copy(text[9:], digits[8:12])
	copy(text[14:], digits[12:16])
	copy(text[19:], digits[16:20])
	copy(text[24:], digits[20:])
	text[8], text[13], text[18], text[23] = '-', '-', '-', '-'
	return text
}
