package jsontext

import "unicode/utf8"

// jsonDepth is how deep encoding/json lets a text nest.
const jsonDepth = 10_000

func pastSpace(text string, i int) int {
	for i < len(text) && (text[i] == ' ' || text[i] == '\n' || text[i] == '\t' || text[i] == '\r') {
		i++
	}
	return i
}

// valueEnd returns the offset behind the value that begins at i; -1 if there is
// no well-formed one that nests at most depth levels. So do the functions below.
// It accepts what encoding/json accepts.
func valueEnd(text string, i, depth int) int {
	if i >= len(text) {
		return -1
	}
	switch text[i] {
	case '{', '[':
		return listEnd(text, i, depth-1)
	case '"':
		end, _ := stringEnd(text, i)
		return end
	case 't':
		return wordEnd(text, i, "true")
	case 'f':
		return wordEnd(text, i, "false")
	case 'n':
		return wordEnd(text, i, "null")
	default:
		return numberEnd(text, i)
	}
}

// listEnd reads an object or an array.
func listEnd(text string, i, depth int) int {
	if depth < 0 {
		return -1
	}
	closing := text[i] + 2 // ']' and '}' follow their opening brackets at this distance
	i = pastSpace(text, i+1)
	if i < len(text) && text[i] == closing {
		return i + 1
	}
	for {
		if closing == '}' {
			if i = nameEnd(text, i); i < 0 {
				return -1
			}
		}
		if i = valueEnd(text, i, depth); i < 0 {
			return -1
		}
		if i = pastSpace(text, i); i >= len(text) {
			return -1
		}
		switch text[i] {
		case closing:
			return i + 1
		case ',':
			i = pastSpace(text, i+1)
		default:
			return -1
		}
	}
}

// nameEnd reads a member's name and colon, and the white space before the value.
func nameEnd(text string, i int) int {
	if i >= len(text) || text[i] != '"' {
		return -1
	}
	if i, _ = stringEnd(text, i); i < 0 {
		return -1
	}
	if i = pastSpace(text, i); i >= len(text) || text[i] != ':' {
		return -1
	}
	return pastSpace(text, i+1)
}

// stringEnd also reports whether the string is plain: ASCII without escapes.
func stringEnd(text string, i int) (end int, plain bool) {
	plain = true
	for i++; i < len(text); i++ {
		c := text[i]
		if isPlain[c] { // a table, because most of a menu is inside strings
			continue
		}
		switch {
		case c == '"':
			return i + 1, plain
		case c < ' ':
			return -1, false
		case c == '\\':
			if i = escapeEnd(text, i+1) - 1; i < 0 {
				return -1, false
			}
		}
		plain = false
	}
	return -1, false
}

// isPlain has the ASCII characters that stand for themselves in a string.
var isPlain = func() (plain [256]bool) { //nolint:gochecknoglobals // a constant table
	for c := ' '; c < utf8.RuneSelf; c++ {
		plain[c] = c != '"' && c != '\\'
	}
	return plain
}()

// escapeEnd reads an escape behind its backslash; 0 if there is none.
func escapeEnd(text string, i int) int {
	if i >= len(text) {
		return 0
	}
	switch text[i] {
	case '"', '\\', '/', 'b', 'f', 'n', 'r', 't':
		return i + 1
	case 'u':
		for range 4 {
			if i++; i >= len(text) || !isHexDigit(text[i]) {
				return 0
			}
		}
		return i + 1
	default:
		return 0
	}
}

func isHexDigit(c byte) bool {
	return c >= '0' && c <= '9' || c >= 'a' && c <= 'f' || c >= 'A' && c <= 'F'
}

func wordEnd(text string, i int, word string) int {
	if len(text)-i < len(word) || text[i:i+len(word)] != word {
		return -1
	}
	return i + len(word)
}

func numberEnd(text string, i int) int {
	if text[i] == '-' {
		i++
	}
	whole := i
	if i = digitsEnd(text, i); i < 0 || (text[whole] == '0' && i > whole+1) {
		return -1
	}
	if i < len(text) && text[i] == '.' {
		if i = digitsEnd(text, i+1); i < 0 {
			return -1
		}
	}
	if i < len(text) && (text[i] == 'e' || text[i] == 'E') {
		i++
		if i < len(text) && (text[i] == '+' || text[i] == '-') {
			i++
		}
		i = digitsEnd(text, i)
	}
	return i
}

// digitsEnd reads at least one digit.
func digitsEnd(text string, i int) int {
	start := i
	for i < len(text) && text[i] >= '0' && text[i] <= '9' {
		i++
	}
	if i == start {
		return -1
	}
	return i
}
