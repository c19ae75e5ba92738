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
	return decodeAnswer(raw, nil)
}

// decodeAnswer gives the view that an answer holds and writes the draft, in one
// pass over an answer in one of the usual forms.
func decodeAnswer(raw []byte, f *draft) (*View, error) {
	if d, known := readAnswer(raw, f); d != nil {
		return d.done(known)
	}
	body, err := Check(raw, maxViewDepth)
	if err != nil {
		return nil, err
	}
	if kind := NewReader(body).Kind(); kind != KindObject {
		return nil, &ShapeError{Got: "JSON " + kind.String()}
	}
	inner, ok := envelope(body)
	if !ok {
		inner = body
	} else if kind := NewReader(inner).Kind(); kind != KindObject {
		return nil, &ShapeError{Got: "a result that is JSON " + kind.String()}
	}
	return decodeView(inner, len(body) != len(raw), f)
}

// readAnswer reads an object that begins with the result, an object too, or
// that is itself the view. It gives nil for anything else, for what may be
// either, and for what is no JSON.
func readAnswer(raw []byte, f *draft) (d *decoder, known bool) {
	d = newDecoder(raw, f)
	if d.Kind() != KindObject {
		return nil, false
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
		return nil, false
	}
	known = d.readView()
	if enveloped {
		d.bare, d.result = false, false
		for name, ok := d.Member(); ok; name, ok = d.Member() {
			d.note(FoldName(name))
			d.Skip()
		}
	}
	if !d.End() || d.result && !d.bare || enveloped && d.bare {
		return nil, false
	}
	return d, known
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

// decodeView reads a bare view, which nobody has checked, and writes the draft.
// The errors are those of Decode.
func decodeView(body []byte, marked bool, f *draft) (*View, error) {
	d := newDecoder(body, f)
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
	d.lists.leave(d.view)
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

	view  *View
	lists *lists // of the view, while they grow
	draft *draft // nil: nothing is stored
	kind  string // "product", …; empty for the view itself
	id    string
	tail  string // behind a field's name: "[]" in a list
	pend  int    // oddities of the current element, whose id is not known yet

	elementCount int
	bare, result bool // the view has members of a view; has one named result

	names    fieldNames
	shapes   struct{ view, category, product, scheme, limit, group, ingredient, measure members }
	spare    Nutrition // empty
	numbers  numbers
	units    map[string]string
	measures map[Measure]*Measure
}

func newDecoder(body []byte, f *draft) *decoder {
	l, _ := grounds.Get().(*lists)
	d := &decoder{
		Cursor: NewCursor(textOf(body), maxViewDepth), view: &View{}, lists: l, draft: f,
		names: make(fieldNames), numbers: newNumbers(len(body)), units: make(map[string]string), measures: make(map[Measure]*Measure),
	}
	d.shapes.view.role, d.shapes.product.role, d.shapes.ingredient.role = roleView, roleStoppable, roleStoppable
	f.begin(body[len(body)-len(d.text):], d.names)
	return d
}

// textOf gives the body as a text without a copy: that of a large menu costs as
// much as finding its values.
func textOf(body []byte) string {
	return unsafe.String(unsafe.SliceData(body), len(body)) //nolint:gosec // nobody changes a body that is decoded
}

// odd notes a value that is not as the interface has it.
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
	v, l := d.view, d.lists
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
			d.elements("categories", "category", func() { l.categories = append(l.categories, d.category()) })
		case "products":
			d.elements("products", "product", func() { l.products = append(l.products, d.product()) })
		case "ingredientsschemes":
			d.elements("ingredientsSchemes", "scheme", func() { l.schemes = append(l.schemes, d.scheme()) })
		case "ingredientsgroups":
			d.elements("ingredientsGroups", "group", func() { l.groups = append(l.groups, d.group()) })
		case "ingredients":
			d.elements("ingredients", "ingredient", func() { l.ingredients = append(l.ingredients, d.ingredient()) })
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

// fields reads an object whose known members read consumes; the others are
// kept in extra. where is the path of the object, ending in a full stop.
func (d *decoder) fields(where string, before *members, read func(folded string) bool, extra *Extra) {
	object := d.openObject()
	for n := 0; ; n++ {
		name, ok := d.member(before, n)
		if !ok {
			break
		}
		at := d.here()
		if !read(name.folded) {
			d.odd(OddUnknownField, where+name.name, "")
			*extra = append(*extra, ExtraField{Name: name.name, Value: compact([]byte(d.Raw()))})
		} else if name.canonical != name.name && name.canonical != "" {
			d.odd(OddNameSpelling, where+name.canonical, name.name)
		}
		d.noteMember(name, at)
	}
	d.closeObject(object, before)
	if len(*extra) > 1 {
		*extra = sortExtra(*extra)
	}
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
	list := d.openList()
	for d.Element() {
		if !d.room() {
			d.Skip()
			continue
		}
		at := d.here()
		d.kind, d.id, d.pend = kind, "", len(d.view.Oddities)
		if d.Kind() == KindObject {
			read()
		} else {
			d.odd(OddTypeMismatch, field+"[]", d.Raw())
			d.own("")
		}
		d.noteElement(at)
	}
	d.closeList(list)
}
