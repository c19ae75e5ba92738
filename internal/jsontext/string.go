package jsontext

import (
	"encoding/json"
	"regexp"
	"strings"
	"unicode/utf8"
	"unsafe"
)

// String returns body as a string without copying it, which would cost as much as reading a large menu. The
// body must not change while the string, or a string that a Reader took from it, is in use.
func String(body []byte) string {
	return unsafe.String(unsafe.SliceData(body), len(body)) //nolint:gosec // see the comment
}

// FoldName makes the spellings of a field name equal: orderID, orderId and order_id become orderid
// (policy W3). It converts to upper case first, so that ſ (U+017F) becomes s and ı (U+0131) becomes
// i, as in other case-insensitive readers.
func FoldName(name string) string {
	for i := range len(name) {
		if name[i] >= utf8.RuneSelf {
			name = strings.ToUpper(name)
			break
		}
	}
	return strings.ReplaceAll(strings.ToLower(name), "_", "")
}

// AppendString appends s as a JSON string with minimal escapes; invalid UTF-8 becomes U+FFFD.
func AppendString(dst []byte, s string) []byte {
	const hexDigits = "0123456789abcdef"
	if !utf8.ValidString(s) {
		s = string([]rune(s))
	}
	dst = append(dst, '"')
	start := 0
	for i := range len(s) {
		c := s[i]
		if isPlain[c] || c >= utf8.RuneSelf {
			continue
		}
		dst = append(dst, s[start:i]...)
		start = i + 1
		if k := strings.IndexByte("\"\\\n\r\t", c); k >= 0 {
			dst = append(dst, '\\', `"\nrt`[k])
		} else {
			dst = append(dst, '\\', 'u', '0', '0', hexDigits[c>>4], hexDigits[c&15])
		}
	}
	return append(append(dst, s[start:]...), '"')
}

// unquote returns the text of a well-formed string literal. Invalid UTF-8 and unpaired surrogates become U+FFFD.
func unquote(literal string) string {
	inner := literal[1 : len(literal)-1]
	if strings.IndexByte(inner, '\\') < 0 && utf8.ValidString(inner) {
		return inner
	}
	var s string
	_ = json.Unmarshal([]byte(escapeControls(literal)), &s) // it is well-formed
	return s
}

// appendLiteral appends a well-formed string literal with the escapes of AppendString, so that all spellings
// of a text become equal. An unpaired surrogate stays an escape, because UTF-8 cannot represent it.
func appendLiteral(dst []byte, literal string) []byte {
	inner := literal[1 : len(literal)-1]
	if strings.IndexByte(inner, '\\') < 0 && utf8.ValidString(inner) {
		return append(dst, literal...)
	}
	const replacement = "\ufffd"
	if text := unquote(literal); !strings.Contains(text, replacement) {
		return AppendString(dst, text)
	}
	text := string([]rune(inner)) // replaces invalid UTF-8
	text = escapeForm.ReplaceAllStringFunc(text, func(escape string) string {
		meant := unquote(`"` + escape + `"`)
		if meant == replacement && !strings.EqualFold(escape, `\ufffd`) {
			return strings.ToLower(escape)
		}
		quoted := AppendString(nil, meant)
		return string(quoted[1 : len(quoted)-1])
	})
	return append(append(append(dst, '"'), text...), '"')
}

// escapeForm matches an escape of a well-formed string: a surrogate pair, another character by its
// number, or any other escape.
var escapeForm = regexp.MustCompile(`\\(?:u[dD][89abAB]..\\u[dD][c-fC-F]..|u....|.)`)

// AppendStringOrNull appends s as a JSON string, or null if it is empty.
func AppendStringOrNull(dst []byte, s string) []byte {
	if s == "" {
		return append(dst, "null"...)
	}
	return AppendString(dst, s)
}

// AppendComma appends the comma before element i of a list; the first element has none.
func AppendComma(dst []byte, i int) []byte {
	if i == 0 {
		return dst
	}
	return append(dst, ',')
}
