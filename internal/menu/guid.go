package menu

import (
	"encoding/hex"

	"larder/internal/jsontext"
)

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

// text returns the id. Of a GUID it allocates.
func (c code) text() string {
	if !c.guid {
		return c.packed
	}
	text := guidOf(c.packed)
	return string(text[:])
}

// is reports whether the id is that text. It allocates nothing.
func (c code) is(text string) bool {
	if !c.guid {
		return c.packed == text
	}
	guid := guidOf(c.packed)
	return string(guid[:]) == text
}

// append appends the id as a JSON string, or null where there is none.
func (c code) append(dst []byte) []byte {
	if !c.guid {
		return jsontext.AppendStringOrNull(dst, c.packed)
	}
	text := guidOf(c.packed)
	return append(append(append(dst, '"'), text[:]...), '"')
}

// packGUID returns the 16 bytes of a GUID; false for any other text, also for
// one with upper-case letters, which would not come back.
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

// guidOf writes a GUID out.
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
