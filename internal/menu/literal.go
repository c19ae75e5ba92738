package menu

import (
	"bytes"
	"strconv"
	"unicode/utf16"
	"unicode/utf8"
)

// appendLiteral appends a JSON string literal with the same text, escaped as
// AppendString does, so that two ways of writing a text become one. A lone
// surrogate stays an escape: it is no text that UTF-8 could hold.
func appendLiteral(dst, literal []byte) []byte {
	inner := literal[1 : len(literal)-1]
	if bytes.IndexByte(inner, '\\') < 0 && utf8.Valid(inner) {
		return append(dst, literal...)
	}
	dst = append(dst, '"')
	for i := 0; i < len(inner); {
		c := inner[i]
		switch {
		case c == '\\':
			var size int
			dst, size = appendEscape(dst, inner[i:])
			i += size
		case c < utf8.RuneSelf:
			dst = append(dst, c)
			i++
		default:
			r, size := utf8.DecodeRune(inner[i:])
			dst = utf8.AppendRune(dst, r)
			i += size
		}
	}
	return append(dst, '"')
}

// unicodeEscape is the length of \u0000.
const unicodeEscape = 6

// appendEscape appends what the escape at the start of text stands for, and
// tells how long the escape is.
func appendEscape(dst, text []byte) ([]byte, int) {
	switch c := text[1]; c {
	case 'u':
		first := hexRune(text)
		if !utf16.IsSurrogate(first) {
			return appendEscaped(dst, first), unicodeEscape
		}
		if rest := text[unicodeEscape:]; len(rest) >= unicodeEscape && rest[0] == '\\' && rest[1] == 'u' {
			if r := utf16.DecodeRune(first, hexRune(rest)); r != utf8.RuneError {
				return utf8.AppendRune(dst, r), 2 * unicodeEscape
			}
		}
		return append(dst, bytes.ToLower(text[:unicodeEscape])...), unicodeEscape
	case 'b':
		return appendEscaped(dst, '\b'), 2
	case 'f':
		return appendEscaped(dst, '\f'), 2
	case '/':
		return append(dst, c), 2
	default: // as AppendString writes it
		return append(dst, '\\', c), 2
	}
}

// hexRune reads the digits of \u0000.
func hexRune(escape []byte) rune {
	n, err := strconv.ParseUint(string(escape[2:unicodeEscape]), 16, 16)
	if err != nil {
		return utf8.RuneError // cannot be: the text is checked
	}
	return rune(n)
}

// appendEscaped appends a character inside a JSON string.
func appendEscaped(dst []byte, r rune) []byte {
	quoted := AppendString(nil, string(r))
	return append(dst, quoted[1:len(quoted)-1]...)
}
