package jsontext

import "strconv"

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
	w.Buf = append(w.Buf, '"')
	w.Buf = append(w.Buf, name...)
	w.Buf = append(w.Buf, '"', ':')
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
