package menu

import "math/bits"

// Eight bytes at once: the ones of each byte, and its highest bit.
const (
	eachOne  = 0x0101010101010101
	eachHigh = 0x8080808080808080
)

// plainByte tells whether a byte in a JSON string stands for itself and is
// ASCII.
func plainByte(b byte) bool { return b >= ' ' && b < 0x80 && b != '"' && b != '\\' }

// oddBytes marks, in eight bytes of text, those that are not plain: the lowest
// mark is right, those above it may not be. 0 for none.
func oddBytes(text string) uint64 {
	_ = text[7]
	word := uint64(text[0]) | uint64(text[1])<<8 | uint64(text[2])<<16 | uint64(text[3])<<24 |
		uint64(text[4])<<32 | uint64(text[5])<<40 | uint64(text[6])<<48 | uint64(text[7])<<56
	quote, slash := word^eachOne*'"', word^eachOne*'\\'
	return ((word - eachOne*' ') | (quote-eachOne)&^quote | (slash-eachOne)&^slash | word) & eachHigh
}

// trailingBytes is how many bytes lie below the lowest mark.
func trailingBytes(marks uint64) int { return bits.TrailingZeros64(marks) / 8 }
