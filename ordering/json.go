package ordering

import (
	"encoding/json"
	"strconv"
	"unicode/utf8"
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

// text appends a string; one with nothing to escape byte for byte.
func (w *jsonWriter) text(s string) {
	plain := utf8.ValidString(s)
	for i := 0; plain && i < len(s); i++ {
		plain = s[i] >= 0x20 && s[i] != '"' && s[i] != '\\'
	}
	if plain {
		w.buf = append(w.buf, '"')
		w.buf = append(w.buf, s...)
		w.buf = append(w.buf, '"')
		return
	}
	quoted, err := json.Marshal(s)
	if err != nil { // a string always marshals
		quoted = []byte(`""`)
	}
	w.buf = append(w.buf, quoted...)
}
