package jsontext

import (
	"encoding/json"
	"regexp"
	"strconv"
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

// unquote returns the text of a well-formed string literal. Invalid UTF-8 and unpaired surrogates become U+FFFD. plain is
// true if the literal is known to have neither these nor escapes.
func unquote(literal string, plain bool) string {
	inner := literal[1 : len(literal)-1]
	if plain || strings.IndexByte(inner, '\\') < 0 && utf8.ValidString(inner) {
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
	if text := unquote(literal, false); !strings.Contains(text, replacement) {
		return AppendString(dst, text)
	}
	text := string([]rune(inner)) // replaces invalid UTF-8
	text = escapeForm.ReplaceAllStringFunc(text, func(escape string) string {
		meant := unquote(`"`+escape+`"`, false)
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

// Writer appends one JSON text to Buf and writes the commas. A Writer with any Buf is ready to use.
// For other values, callers append to Buf directly.
type Writer struct {
	Buf   []byte
	comma bool // the next member or element needs a comma
}

// Open starts an object or an array with its bracket.
func (w *Writer) Open(bracket byte) {
	w.Buf = append(w.Buf, bracket)
	w.comma = false
}

// Close ends an object or an array with its bracket.
func (w *Writer) Close(bracket byte) {
	w.Buf = append(w.Buf, bracket)
	w.comma = true
}

// Next starts an element of an array.
func (w *Writer) Next() {
	if w.comma {
		w.Buf = append(w.Buf, ',')
	}
	w.comma = true
}

// Name starts a member. The name must need no escapes.
func (w *Writer) Name(name string) {
	w.Next()
	w.Buf = append(append(append(w.Buf, '"'), name...), '"', ':')
}

// AnyName starts a member with any name.
func (w *Writer) AnyName(name string) {
	w.Next()
	w.Buf = append(AppendString(w.Buf, name), ':')
}

// Text writes a string.
func (w *Writer) Text(s string) { w.Buf = AppendString(w.Buf, s) }

// Bool writes true or false.
func (w *Writer) Bool(b bool) { w.Buf = strconv.AppendBool(w.Buf, b) }

// Int writes a whole number.
func (w *Writer) Int(n int64) { w.Buf = strconv.AppendInt(w.Buf, n, 10) }

// Number writes an exact number.
func (w *Writer) Number(n Number) { w.Buf = n.Append(w.Buf) }

// Raw writes a value that is already JSON.
func (w *Writer) Raw(value string) { w.Buf = append(w.Buf, value...) }
