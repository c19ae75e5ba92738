package menu

import (
	"math/bits"
	"unicode/utf8"
)

// Eight bytes at once: the ones of each byte, and its highest bit.
const (
	eachOne  = 0x0101010101010101
	eachHigh = 0x8080808080808080
)

// eightBytes gives the eight bytes of text at i, the first one lowest.
func eightBytes[T string | []byte](text T, i int) uint64 {
	t := text[i : i+8] // one check of bounds instead of eight
	return uint64(t[0]) | uint64(t[1])<<8 | uint64(t[2])<<16 | uint64(t[3])<<24 |
		uint64(t[4])<<32 | uint64(t[5])<<40 | uint64(t[6])<<48 | uint64(t[7])<<56
}

// special marks, in eight bytes of text, quotes, backslashes and control
// characters: the lowest mark is right, those above it may not be. 0 for none.
func special(word uint64) uint64 {
	quote, slash := word^eachOne*'"', word^eachOne*'\\'
	return ((word-eachOne*' ')&^word | (quote-eachOne)&^quote | (slash-eachOne)&^slash) & eachHigh
}

// ascii is special that marks too what is no ASCII.
func ascii(word uint64) uint64 { return special(word) | word&eachHigh }

// pastPlain gives the offset of the first byte from i on that does not stand
// for itself in a JSON string.
func pastPlain[T string | []byte](text T, i int) int {
	for ; i+8 <= len(text); i += 8 {
		if marks := special(eightBytes(text, i)); marks != 0 {
			return i + bits.TrailingZeros64(marks)/8
		}
	}
	for i < len(text) && text[i] >= ' ' && text[i] != '"' && text[i] != '\\' {
		i++
	}
	return i
}

// pastASCII is pastPlain that stops too at what is no ASCII.
func pastASCII[T string | []byte](text T, i int) int {
	for ; i+8 <= len(text); i += 8 {
		if marks := ascii(eightBytes(text, i)); marks != 0 {
			return i + bits.TrailingZeros64(marks)/8
		}
	}
	for i < len(text) && text[i] >= ' ' && text[i] < utf8.RuneSelf && text[i] != '"' && text[i] != '\\' {
		i++
	}
	return i
}
