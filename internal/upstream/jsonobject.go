package upstream

import (
	"slices"
	"strings"

	"larder/internal/jsontext"
	"larder/internal/menu"
)

// object writes one JSON object, field by field.
type object struct {
	jsontext.Writer

	fieldCase FieldCase
	extra     []Field
	written   []string // the interface's names written so far, if there is extra
}

// begin opens an object that will end with the fields of extra.
func begin(dst []byte, fieldCase FieldCase, extra []Field) object {
	w := object{fieldCase: fieldCase, extra: extra}
	w.Buf = dst
	w.Open('{')
	return w
}

// beginItem opens a dish or an ingredient.
func beginItem(dst []byte, fieldCase FieldCase, item *menu.Item, quantity jsontext.Number, extra []Field) object {
	w := begin(dst, fieldCase, extra)
	w.Name(fieldCase.spell("ID"))
	w.Raw(item.JSON)
	w.Name("quantity")
	w.Number(quantity)
	if len(extra) > 0 {
		w.written = append(w.written, "ID", "name", "price", "quantity")
		if item.HasMeasure {
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
	w.Name(w.fieldCase.spell(name))
}

func (w *object) text(name string, value *string) {
	if value != nil {
		w.name(name)
		w.Text(*value)
	}
}

func (w *object) whole(name string, value *int) {
	if value != nil {
		w.name(name)
		w.Int(int64(*value))
	}
}

func (w *object) number(name string, value *jsontext.Number) {
	if value != nil {
		w.name(name)
		w.Number(*value)
	}
}

// end appends the fields that larder does not know and closes the object.
func (w *object) end() []byte {
	for _, field := range w.extra {
		if !w.has(field.Name) {
			w.AnyName(field.Name)
			w.Buf = appendRaw(w.Buf, string(field.Value))
		}
	}
	w.Close('}')
	return w.Buf
}

// has reports whether a field of this name, in any spelling, is written already:
// a second one could change what the service reads.
func (w *object) has(name string) bool {
	folded := jsontext.FoldName(name)
	return slices.ContainsFunc(w.written, func(known string) bool { return jsontext.FoldName(known) == folded })
}

// appendRaw appends a JSON value without white space and with numbers written
// out, without exponent (policy P3). What is not JSON becomes null.
func appendRaw(dst []byte, value string) []byte {
	text, err := jsontext.Check(value, 0)
	if err != nil {
		return append(dst, "null"...)
	}
	return jsontext.AppendCompact(dst, text, appendNumber)
}

// appendNumber keeps a number's digits as they are and writes out an exponent;
// one beyond the bounds of jsontext.ParseNumber stays as it is.
func appendNumber(dst []byte, number string) []byte {
	if strings.ContainsAny(number, "eE") {
		if n, state := jsontext.ParseNumber(number); state == jsontext.NumberOK {
			return n.Append(dst)
		}
	}
	return append(dst, number...)
}
