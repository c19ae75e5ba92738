package menu

import (
	"bytes"
	"encoding/json"
	"slices"
	"strings"
	"unsafe"
)

// maxViewDepth bounds the nesting of a menu view's JSON.
const maxViewDepth = 64

// ShapeError says that well-formed JSON is no menu view at all.
type ShapeError struct{ Got string }

// Error names what came instead.
func (e *ShapeError) Error() string {
	return "this is no menu view: want an object with categories, products, ingredientsSchemes, ingredientsGroups and ingredients, got " + e.Got
}

// Decode reads a menu view, enveloped in {"result": …} or bare, whatever the
// spelling of its names and the form of its values (policies W3 to W8, W11).
// A value that cannot be read costs itself alone and is noted in Oddities. The
// view's texts are parts of raw, which must not change any more.
// Errors: *SyntaxError where the body is no JSON, *ShapeError where the JSON
// is no menu view, *LimitError where it holds more than larder takes.
func Decode(raw []byte) (*View, error) {
	view, _, err := decodeAnswer(raw)
	return view, err
}

// decodeAnswer gives the view that an answer holds, decoded and as it stands,
// in one pass over an answer in one of the usual forms.
func decodeAnswer(raw []byte) (view *View, inner []byte, err error) {
	if d, from, to, known := readAnswer(raw); d != nil {
		bom := len(raw) - len(d.text)
		view, err = d.done(known)
		return view, raw[bom+from : bom+to], err
	}
	body, err := Check(raw, maxViewDepth)
	if err != nil {
		return nil, nil, err
	}
	if kind := NewReader(body).Kind(); kind != KindObject {
		return nil, nil, &ShapeError{Got: "JSON " + kind.String()}
	}
	inner, ok := envelope(body)
	if !ok {
		inner = bytes.Trim(body, " \t\r\n")
	} else if kind := NewReader(inner).Kind(); kind != KindObject {
		return nil, nil, &ShapeError{Got: "a result that is JSON " + kind.String()}
	}
	view, err = decodeView(inner, len(body) != len(raw))
	return view, inner, err
}

// readAnswer reads an object that begins with the result, an object too, or
// that is itself the view, and tells where the view stands in its text. It gives
// nil for anything else, for what may be either, and for what is no JSON.
func readAnswer(raw []byte) (d *decoder, from, to int, known bool) {
	d = newDecoder(raw)
	if d.Kind() != KindObject {
		return nil, 0, 0, false
	}
	if len(d.text) != len(raw) {
		d.odd(OddByteOrderMark, "", "")
	}
	whole := d.Cursor
	d.Open()
	name, _ := d.Member()
	enveloped := FoldName(name) == "result"
	if !enveloped {
		d.Cursor = whole
	} else if d.Kind() != KindObject {
		return nil, 0, 0, false
	}
	from = d.at
	known = d.readView()
	to = d.at
	if enveloped {
		d.bare, d.result = false, false
		for name, ok := d.Member(); ok; name, ok = d.Member() {
			d.note(FoldName(name))
			d.Skip()
		}
	}
	if !d.End() || d.result && !d.bare || enveloped && d.bare {
		return nil, 0, 0, false
	}
	return d, from, to, known
}

// note notes the members that tell a view from what holds one; see envelope.
func (d *decoder) note(folded string) {
	switch folded {
	case "result":
		d.result = true
	case "products", "categories":
		d.bare = true
	}
}

// decodeView reads a bare view, which nobody has checked. The errors are those
// of Decode.
func decodeView(body []byte, marked bool) (*View, error) {
	d := newDecoder(body)
	if marked {
		d.odd(OddByteOrderMark, "", "")
	}
	known := d.readView()
	if err := d.Err(body); err != nil {
		return nil, err
	}
	return d.done(known)
}

// done gives the view that was read.
func (d *decoder) done(known bool) (*View, error) {
	if !known {
		return nil, &ShapeError{Got: "an object with none of them"}
	}
	if err := d.checkLimits(); err != nil {
		return nil, err
	}
	return d.view, nil
}

// envelope finds the value of "result" where the object is not itself a view.
func envelope(body []byte) ([]byte, bool) {
	r := NewReader(body)
	var inner []byte
	bare := false
	r.Fields(func(_, folded string) {
		switch folded {
		case "result":
			inner = r.Raw()
		case "products", "categories":
			bare = true
		}
	})
	return inner, inner != nil && !bare
}

// decoder is the state of one Decode: the text, and whose fields are read. It
// finds the values and verifies the text in one pass; what it has read means
// nothing where the Cursor has an error.
type decoder struct {
	Cursor

	view *View
	kind string // "product", …; empty for the view itself
	id   string
	tail string // behind a field's name: "[]" in a list
	pend int    // oddities of the current element, whose id is not known yet

	elementCount int
	bare, result bool // the view has members of a view; has one named result

	names    map[string]*fieldName
	shapes   struct{ view, category, product, scheme, limit, group, ingredient, measure members }
	spare    Nutrition // empty
	numbers  numbers
	units    map[string]string
	measures map[Measure]*Measure
}

func newDecoder(body []byte) *decoder {
	return &decoder{
		Cursor: NewCursor(textOf(body), maxViewDepth), view: &View{},
		names: make(map[string]*fieldName), numbers: newNumbers(len(body)), units: make(map[string]string), measures: make(map[Measure]*Measure),
	}
}

// textOf gives the body as a text without a copy: that of a large menu costs as
// much as finding its values.
func textOf(body []byte) string {
	return unsafe.String(unsafe.SliceData(body), len(body)) //nolint:gosec // nobody changes a body that is decoded
}

// odd notes a value that is not as the document has it.
func (d *decoder) odd(code, field, value string) {
	field += d.tail
	if len(d.view.Oddities) >= maxOddities {
		d.view.OdditiesOmitted++
		return
	}
	if len(value) > maxOddValue {
		value = strings.ToValidUTF8(value[:maxOddValue], "") + "…"
	}
	d.view.Oddities = append(d.view.Oddities, Oddity{Code: code, Field: field, Kind: d.kind, ID: d.id, Value: value})
}

const maxOddValue = 60

// own gives the oddities of the current element their owner's id.
func (d *decoder) own(id string) {
	for i := d.pend; i < len(d.view.Oddities); i++ {
		d.view.Oddities[i].ID = id
	}
	d.pend = len(d.view.Oddities)
	d.kind = ""
}

func (d *decoder) readView() (known bool) {
	v := d.view
	if d.Kind() != KindObject {
		d.Skip()
		return false
	}
	d.fields("", &d.shapes.view, func(folded string) bool {
		switch folded {
		case "name":
			v.Name = d.words("name")
			return true
		case "ispossibledelete":
			v.IsPossibleDelete = d.flag("isPossibleDelete")
			return true
		case "havechanges":
			v.HaveChanges = d.flag("haveChanges")
			return true
		case "categories":
			d.elements("categories", "category", func() { v.Categories = grown(v.Categories, d.category()) })
		case "products":
			d.elements("products", "product", func() { v.Products = grown(v.Products, d.product()) })
		case "ingredientsschemes":
			d.elements("ingredientsSchemes", "scheme", func() { v.Schemes = grown(v.Schemes, d.scheme()) })
		case "ingredientsgroups":
			d.elements("ingredientsGroups", "group", func() { v.Groups = grown(v.Groups, d.group()) })
		case "ingredients":
			d.elements("ingredients", "ingredient", func() { v.Ingredients = grown(v.Ingredients, d.ingredient()) })
		default:
			d.note(folded)
			return false
		}
		d.note(folded)
		known = true
		return true
	}, &v.Extra)
	return known
}

// members are the names of an object's members in the order they came: the
// objects of a list mostly have the same.
type members struct{ names []*fieldName }

// fields reads an object whose known members read consumes; the others are
// kept in extra. where is the path of the object, ending in a full stop.
func (d *decoder) fields(where string, before *members, read func(folded string) bool, extra *Extra) {
	n := 0
	d.Open()
	for name, ok := d.Member(); ok; name, ok = d.Member() {
		field := d.field(before, n, name)
		n++
		if read(field.folded) {
			if field.canonical != name && field.canonical != "" {
				d.odd(OddNameSpelling, where+field.canonical, name)
			}
			continue
		}
		d.odd(OddUnknownField, where+name, "")
		*extra = append(*extra, ExtraField{Name: field.name, Value: compact([]byte(d.Raw()))})
	}
	if len(*extra) > 1 {
		*extra = sortExtra(*extra)
	}
}

// field gives what is known of the n-th name of an object; that of the object
// before is tried first.
func (d *decoder) field(before *members, n int, name string) *fieldName {
	if n < len(before.names) && before.names[n].name == name {
		return before.names[n]
	}
	field, ok := d.names[name]
	if !ok {
		name = strings.Clone(name) // it outlives the text, in an Extra
		folded := FoldName(name)
		field = &fieldName{name: name, folded: folded, canonical: documentName(folded)}
		if len(d.names) < maxNames {
			d.names[name] = field
		}
	}
	if n < maxNames {
		before.names = append(before.names[:min(n, len(before.names))], field)
	}
	return field
}

// sortExtra sorts by name; of a repeated name the last value counts.
func sortExtra(all Extra) Extra {
	slices.SortStableFunc(all, func(a, b ExtraField) int { return strings.Compare(a.Name, b.Name) })
	kept := all[:0]
	for i := range all {
		if i+1 == len(all) || all[i+1].Name != all[i].Name {
			kept = append(kept, all[i])
		}
	}
	return kept
}

func compact(raw []byte) []byte {
	var b bytes.Buffer
	if err := json.Compact(&b, raw); err != nil {
		return []byte("null") // cannot be: raw is part of a checked body
	}
	return b.Bytes()
}

// elements reads an array of objects, or null for none (policy W6).
func (d *decoder) elements(field, kind string, read func()) {
	if d.null(field) {
		return
	}
	if d.Kind() != KindArray {
		d.odd(OddTypeMismatch, field, d.Raw())
		return
	}
	for d.Open(); d.Element(); {
		if !d.room() {
			d.Skip()
			continue
		}
		d.kind, d.id, d.pend = kind, "", len(d.view.Oddities)
		if d.Kind() != KindObject {
			d.odd(OddTypeMismatch, field+"[]", d.Raw())
			d.own("")
			continue
		}
		read()
	}
}

// grown appends to a list of large elements: twice its size where it is full,
// since what append does there costs more than reading them.
func grown[T any](list []T, element T) []T {
	if len(list) == cap(list) {
		list = slices.Grow(list, max(len(list), 8))
	}
	return append(list, element)
}
