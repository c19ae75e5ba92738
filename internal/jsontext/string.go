package jsontext

import (
	"encoding/json"
	"regexp"
	"strings"
	"unicode/utf8"
	"unsafe"
)

// String returns body as a string without copying it, which for a large menu
// costs as much as reading it. The body must not change as long as the string,
// or a string that a Reader took from it, is used.
func String(body []byte) string {
	return unsafe.String(unsafe.SliceData(body), len(body)) //nolint:gosec // the caller does not change it
}

// FoldName makes the spellings of a field name equal: orderID, orderId and
// order_id become orderid (policy W3). It goes by upper case, so that ſ
// (U+017F) is an s and ı (U+0131) an i, as for readers that ignore case.
func FoldName(name string) string {
	for i := range len(name) {
		if name[i] >= utf8.RuneSelf {
			name = strings.ToUpper(name)
			break
		}
	}
	return strings.ReplaceAll(strings.ToLower(name), "_", "")
}

// AppendString appends s as a JSON string with the fewest escapes; bytes that
// are not UTF-8 become U+FFFD.
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

// unquote returns the text of a well-formed string literal. Bytes that are not
// UTF-8, and surrogates without a partner, become U+FFFD.
func unquote(literal string) string {
	inner := literal[1 : len(literal)-1]
	if strings.IndexByte(inner, '\\') < 0 && utf8.ValidString(inner) {
		return inner
	}
	var s string
	_ = json.Unmarshal([]byte(literal), &s) // it is well-formed
	return s
}

// appendLiteral appends a well-formed string literal with the escapes of
// AppendString, so that two spellings of a text become one. A surrogate without
// a partner stays an escape: UTF-8 cannot hold it.
func appendLiteral(dst []byte, literal string) []byte {
	inner := literal[1 : len(literal)-1]
	if strings.IndexByte(inner, '\\') < 0 && utf8.ValidString(inner) {
		return append(dst, literal...)
	}
	const replacement = "\ufffd"
	if text := unquote(literal); !strings.Contains(text, replacement) {
		return AppendString(dst, text)
	}
	text := string([]rune(inner)) // bytes that are not UTF-8 are replaced
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

// escapeForm is an escape of a well-formed string: a pair of surrogates, another
// character by its number, or any other.
var escapeForm = regexp.MustCompile(`\\(?:u[dD][89abAB]..\\u[dD][c-fC-F]..|u....|.)`)

// AppendStringOrNull appends s as a JSON string, or null if it is empty.
func AppendStringOrNull(dst []byte, s string) []byte {
	if s == "" {
		return append(dst, "null"...)
	}
	return AppendString(dst, s)
}

// AppendComma appends the comma before element i of a list, of which the first has
// none.
func AppendComma(dst []byte, i int) []byte {
	if i == 0 {
		return dst
	}
	return append(dst, ',')
}
