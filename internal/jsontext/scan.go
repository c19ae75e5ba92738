package jsontext

import (
	"strings"
	"unicode/utf8"
)

// jsonDepth is the maximum nesting depth of encoding/json.
const jsonDepth = 10_000

func pastSpace(text string, i int) int {
	for i < len(text) && (text[i] == ' ' || text[i] == '\n' || text[i] == '\t' || text[i] == '\r') {
		i++
	}
	return i
}

// scalarEnd returns the offset after the string, number, boolean or null at i; -1 if it is not well-formed. It accepts
// the same texts as encoding/json, and control characters in strings, which it reports. The functions below are similar.
func scalarEnd(text string, i int) (end int, control bool) {
	if i >= len(text) {
		return -1, false
	}
	if text[i] == '"' {
		end, _, control = stringEnd(text, i)
		return end, control
	}
	for _, word := range [...]string{"true", "false", "null"} {
		if strings.HasPrefix(text[i:], word) {
			return i + len(word), false
		}
	}
	return numberEnd(text, i), false
}

// stringEnd also reports whether the string is plain, ASCII without escapes, and whether it has control characters.
func stringEnd(text string, i int) (end int, plain, control bool) {
	i++
	for i < len(text) && isPlain[text[i]] { // a table, because most of a menu is inside strings
		i++
	}
	if i < len(text) && text[i] == '"' {
		return i + 1, true, false
	}
	for ; i < len(text); i++ {
		switch c := text[i]; {
		case isPlain[c]:
		case c == '"':
			return i + 1, false, control
		case c < ' ':
			control = true
		case c == '\\':
			if i = escapeEnd(text, i+1) - 1; i < 0 {
				return -1, false, false
			}
		}
	}
	return -1, false, false
}

// escapeControls escapes the control characters in the strings of a text.
func escapeControls(text string) string {
	var b []byte
	inside, from := false, 0
	for i := 0; i < len(text); i++ {
		switch c := text[i]; {
		case c == '"':
			inside = !inside
		case c == '\\' && inside:
			i++
		case c < ' ' && inside:
			quoted := AppendString(nil, text[i:i+1])
			b = append(append(b, text[from:i]...), quoted[1:len(quoted)-1]...)
			from = i + 1
		}
	}
	if from == 0 { // none
		return text
	}
	return string(append(b, text[from:]...))
}

// isPlain marks the ASCII characters that need no escape in a string.
var isPlain = func() (plain [256]bool) { //nolint:gochecknoglobals // a constant table
	for c := ' '; c < utf8.RuneSelf; c++ {
		plain[c] = c != '"' && c != '\\'
	}
	return plain
}()

// escapeEnd returns the offset after an escape whose backslash is before i; 0 if it is invalid.
func escapeEnd(text string, i int) int {
	switch {
	case i >= len(text):
		return 0
	case strings.IndexByte(`"\/bfnrt`, text[i]) >= 0:
		return i + 1
	case text[i] == 'u' && i+5 <= len(text) && strings.Trim(text[i+1:i+5], "0123456789abcdefABCDEF") == "":
		return i + 5
	}
	return 0
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
