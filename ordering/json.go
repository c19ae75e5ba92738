package ordering

import (
	"strconv"

	"larder/internal/menu"
)

// jsonWriter appends JSON and keeps the commas.
type jsonWriter struct {
	buf  []byte
	next bool // the next member or element follows another one
}

func (w *jsonWriter) open(bracket byte) {
	w.buf = append(w.buf, bracket)
	w.next = false
}

func (w *jsonWriter) close(bracket byte) {
	w.buf = append(w.buf, bracket)
	w.next = true
}

func (w *jsonWriter) comma() {
	if w.next {
		w.buf = append(w.buf, ',')
	}
	w.next = true
}

func (w *jsonWriter) name(name string) {
	w.comma()
	w.buf = append(w.buf, '"')
	w.buf = append(w.buf, name...)
	w.buf = append(w.buf, '"', ':')
}

func (w *jsonWriter) raw(text string) { w.buf = append(w.buf, text...) }

func (w *jsonWriter) bool(b bool) { w.buf = strconv.AppendBool(w.buf, b) }

func (w *jsonWriter) int(n int64) { w.buf = strconv.AppendInt(w.buf, n, 10) }

func (w *jsonWriter) text(s string) { w.buf = menu.AppendString(w.buf, s) }
