package upstream

import (
	"bytes"
	"strconv"

	"github.com/shopspring/decimal"

	"larder/internal/menu"
)

// object writes one JSON object, field by field.
type object struct {
	dst     []byte
	wire    FieldCase
	comma   bool
	extra   []Field
	written []string // the interface's names written so far, where there is extra
}

// begin opens an object that will end with the fields of extra.
func begin(dst []byte, wire FieldCase, extra []Field) object {
	return object{dst: append(dst, '{'), wire: wire, extra: extra}
}

// beginItem opens a dish or an ingredient.
func beginItem(dst []byte, wire FieldCase, item *menu.Item, quantity menu.Number, extra []Field) object {
	head := `{"ID":`
	if wire == WireCamel {
		head = `{"id":`
	}
	dst = append(append(append(dst, head...), item.JSON...), `,"quantity":`...)
	w := object{dst: quantity.Append(dst), wire: wire, comma: true, extra: extra}
	if len(extra) > 0 {
		w.written = append(w.written, "ID", "name", "price", "quantity")
		if item.Measured {
			w.written = append(w.written, "measure")
		}
	}
	return w
}

// name writes a name of the interface, which needs no escapes.
func (w *object) name(name string) {
	if len(w.extra) > 0 {
		w.written = append(w.written, name)
	}
	if w.comma {
		w.dst = append(w.dst, ',')
	}
	w.comma = true
	w.dst = append(append(append(w.dst, '"'), w.wire.spell(name)...), '"', ':')
}

func (w *object) text(name string, value *string) {
	if value != nil {
		w.name(name)
		w.dst = menu.AppendString(w.dst, *value)
	}
}

func (w *object) whole(name string, value *int) {
	if value != nil {
		w.name(name)
		w.dst = strconv.AppendInt(w.dst, int64(*value), 10)
	}
}

func (w *object) decimal(name string, value *decimal.Decimal) {
	if value != nil {
		w.name(name)
		w.dst = menu.AppendDecimal(w.dst, *value)
	}
}

func (w *object) number(name string, value *menu.Number) {
	if value != nil {
		w.name(name)
		w.dst = value.Append(w.dst)
	}
}

// end appends the fields that larder does not know and closes the object.
func (w *object) end() []byte {
	for _, field := range w.extra {
		if w.has(field.Name) {
			continue
		}
		if w.comma {
			w.dst = append(w.dst, ',')
		}
		w.comma = true
		w.dst = append(menu.AppendString(w.dst, field.Name), ':')
		w.dst = appendRaw(w.dst, field.Value)
	}
	return append(w.dst, '}')
}

// has tells whether a field of this name, in any spelling, is written already:
// a second one could change what the service reads.
func (w *object) has(name string) bool {
	folded := menu.FoldName(name)
	for _, known := range w.written {
		if menu.FoldName(known) == folded {
			return true
		}
	}
	return false
}

// appendRaw appends a JSON value without white space and with numbers written
// out, without exponent (policy P3). What is no JSON becomes null.
func appendRaw(dst, raw []byte) []byte {
	body, err := menu.Check(raw, 0)
	if err != nil {
		return append(dst, "null"...)
	}
	for i := 0; i < len(body); {
		end := i + 1
		switch b := body[i]; {
		case b == ' ' || b == '\t' || b == '\n' || b == '\r':
		case b == '"':
			for body[end] != '"' {
				if body[end] == '\\' {
					end++
				}
				end++
			}
			end++
			dst = append(dst, body[i:end]...)
		case b == '-' || b >= '0' && b <= '9':
			for end < len(body) && bytes.IndexByte([]byte("0123456789+-.eE"), body[end]) >= 0 {
				end++
			}
			dst = appendNumber(dst, body[i:end])
		default: // brackets, commas, colons, letters of true, false, null
			dst = append(dst, b)
		}
		i = end
	}
	return dst
}

// appendNumber keeps a number's digits as they stand and writes out an
// exponent; one beyond the bounds of menu.ParseDecimal stays as it is.
func appendNumber(dst, number []byte) []byte {
	if bytes.ContainsAny(number, "eE") {
		if d, state := menu.ParseDecimal(string(number)); state == menu.NumberOK {
			return menu.AppendDecimal(dst, d)
		}
	}
	return append(dst, number...)
}
