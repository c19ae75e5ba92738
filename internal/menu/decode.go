package menu

import (
	"slices"
	"strings"

	"github.com/shopspring/decimal"

	"larder.local/internal/jsontext"
)

// maxViewDepth is the maximum nesting depth of what is stored of a menu view. What is deeper is null (policy W17).
const maxViewDepth = 500

// newReader returns a Reader of a menu view or of a value in it, whose levels are below the levels above.
func newReader(text string, above int) jsontext.Reader {
	r := jsontext.NewReader(text, maxViewDepth-above)
	r.AnyDepth = true
	return r
}

// ShapeError reports that well-formed JSON is not a menu view. got describes the JSON.
type ShapeError struct{ got string }

func (e *ShapeError) Error() string {
	return "not a menu view: expected an object with categories, products, ingredientsSchemes, ingredientsGroups and ingredients, " +
		"got " + e.got
}

// Decode decodes a menu view, bare or in the envelope {"result": …}, with any spelling of names and
// form of values (policies W3 to W8, W11). An invalid value does not affect the others and is
// recorded in Issues. The view's texts are parts of raw, which must not change afterwards. It
// returns a *jsontext.SyntaxError if the body is not JSON, a *ShapeError if the JSON is not a menu
// view, and a *LimitError if the view exceeds a limit.
func Decode(raw []byte) (*View, error) {
	view, _, err := decodeAnswer(raw)
	return view, err
}

// decodeAnswer decodes the view in an answer, and returns its members too.
func decodeAnswer(raw []byte) (*View, []viewMember, error) {
	answer := jsontext.String(raw)
	if text, marked := onlyResult(answer); text != "" {
		if view, members, err := decodeView(text, marked); err == nil {
			return view, members, nil
		}
	}
	text, marked, err := findView(answer)
	if err != nil {
		return nil, nil, err
	}
	return decodeView(text, marked)
}

// onlyResult returns what is inside of {"result": … }, the usual answer, without reading it twice. If that is
// not one well-formed value, the answer has other members or is invalid, and findView decides.
func onlyResult(answer string) (text string, marked bool) {
	r := newReader(answer, 0)
	for name := range r.Members() {
		rest := strings.TrimRight(r.Source()[r.Offset():], " \t\r\n")
		if inner, ok := strings.CutSuffix(rest, "}"); ok && name == "result" && r.Kind() == jsontext.KindObject {
			return inner, r.BOM()
		}
		break
	}
	return "", false
}

// findView validates an answer and returns the text of the view: the value of "result", unless the
// object itself is a view. marked reports whether the answer started with a byte order mark.
func findView(answer string) (view string, marked bool, err error) {
	r := newReader(answer, 0)
	view = r.Source()
	kind, result, bare := r.Kind(), "", false
	for name := range r.Members() {
		switch jsontext.FoldName(name) {
		case "result":
			start := r.Offset()
			r.Skip()
			result = r.Source()[start:r.Offset()] // not Raw, which would hide what decodeView reports
		case "products", "categories":
			bare = true
		}
	}
	if err := r.Err(); err != nil {
		return "", false, err
	}
	if kind != jsontext.KindObject {
		return "", false, &ShapeError{got: "JSON " + kind.String()}
	}
	if result == "" || bare {
		return view, r.BOM(), nil
	}
	inner := newReader(result, 0)
	if kind := inner.Kind(); kind != jsontext.KindObject {
		return "", false, &ShapeError{got: "a result that is JSON " + kind.String()}
	}
	return result, r.BOM(), nil
}

// viewMember is a member of a menu view as it is written.
type viewMember struct{ name, value string }

// decodeView decodes a bare view. It returns the errors of Decode.
func decodeView(text string, marked bool) (*View, []viewMember, error) {
	expected := len(text) / 1_000 // an element often has 1 KB; without this, the lists are copied while they grow
	d := &decoder{
		Reader:   newReader(text, 0),
		view:     &View{Products: make([]Product, 0, expected), Ingredients: make([]Ingredient, 0, expected)},
		names:    make(map[string]fieldName),
		decimals: make(map[jsontext.Number]decimal.Decimal),
	}
	if marked {
		d.report(IssueByteOrderMark, "", "")
	}
	known := d.readView()
	if err := d.Err(); err != nil {
		return nil, nil, err
	}
	if !known {
		return nil, nil, &ShapeError{got: "an object with none of them"}
	}
	if err := d.checkLimits(); err != nil {
		return nil, nil, err
	}
	return d.view, d.members, nil
}

type decoder struct {
	jsontext.Reader

	view *View
	kind string // "product", …; empty for the view itself
	id   string
	tail string // after a field's name: "[]" in a list
	pend int    // issues of the current element, until its id is known

	elementCount int
	members      []viewMember // of the view
	names        map[string]fieldName
	decimals     map[jsontext.Number]decimal.Decimal // most prices and limits occur several times
}

// fieldName is a field's name, folded by policy W3 and in the interface's spelling.
type fieldName struct{ folded, canonical string }

// maxNames is the maximum number of cached spellings of names.
const maxNames = 1_000

func (d *decoder) fieldName(name string) fieldName {
	if known, ok := d.names[name]; ok {
		return known
	}
	folded := jsontext.FoldName(name)
	field := fieldName{folded: folded, canonical: interfaceName(folded)}
	if len(d.names) < maxNames {
		d.names[name] = field
	}
	return field
}

func (d *decoder) report(code, field, value string) {
	field += d.tail
	if len(d.view.Issues) >= maxIssues {
		d.view.IssuesOmitted++
		return
	}
	if len(value) > maxIssueValue {
		value = strings.ToValidUTF8(value[:maxIssueValue], "") + "…"
	}
	d.view.Issues = append(d.view.Issues, Issue{Code: code, Field: field, Kind: d.kind, ID: d.id, Value: value})
}

const maxIssueValue = 60

// setOwner sets the owner's id in the issues of the current element.
func (d *decoder) setOwner(id string) {
	for i := d.pend; i < len(d.view.Issues); i++ {
		d.view.Issues[i].ID = id
	}
	d.pend = len(d.view.Issues)
	d.kind = ""
}

func (d *decoder) readView() (known bool) {
	v := d.view
	if d.Kind() != jsontext.KindObject {
		d.Skip()
		return false
	}
	d.fields("", func(folded string) bool {
		switch folded {
		case "name":
			v.Name = d.readText("name")
			return true
		case "ispossibledelete":
			v.IsPossibleDelete = d.flag("isPossibleDelete")
			return true
		case "havechanges":
			v.HaveChanges = d.flag("haveChanges")
			return true
		case "categories":
			v.Categories = elements(d, v.Categories, "categories", "category", d.category)
		case "products":
			v.Products = elements(d, v.Products, "products", "product", d.product)
		case "ingredientsschemes":
			v.Schemes = elements(d, v.Schemes, "ingredientsSchemes", "scheme", d.scheme)
		case "ingredientsgroups":
			v.Groups = elements(d, v.Groups, "ingredientsGroups", "group", d.group)
		case "ingredients":
			v.Ingredients = elements(d, v.Ingredients, "ingredients", "ingredient", d.ingredient)
		default:
			return false
		}
		known = true
		return true
	})
	return known
}

// fields decodes an object; read consumes its known members. where is the path of the object with a trailing full stop.
func (d *decoder) fields(where string, read func(folded string) bool) {
	for name := range d.Members() {
		field, raw, start := d.fieldName(name), d.RawName(), d.Offset()
		spelt := field.canonical
		if !read(field.folded) {
			spelt = name
			d.report(IssueUnknownField, where+spelt, "")
			d.Skip()
		} else if spelt != name {
			d.report(IssueNameSpelling, where+spelt, name)
		}
		control, tooDeep := d.Oddities()
		if control {
			d.report(IssueControlRaw, where+spelt, "")
		}
		if tooDeep {
			d.report(IssueNestedTooDeep, where+spelt, "")
		}
		if where == "" {
			d.members = append(d.members, viewMember{name: raw, value: d.Source()[start:d.Offset()]})
		}
	}
}

// longList is the length from which a list gets the space for all objects of the rest of the text at once. Otherwise a list
// of many small objects would be copied several times, each time with both copies in memory (policy W15a). Tables of
// distinct elements start with at most this size.
const longList = 20_000

// elements decodes an array of objects, or null for none (policy W6), and appends them to all.
func elements[T any](d *decoder, all []T, field, kind string, read func() T) []T {
	d.list(field, func() {
		d.kind, d.id, d.pend = kind, "", len(d.view.Issues)
		if d.Kind() == jsontext.KindObject {
			if len(all) == cap(all) && len(all) >= longList {
				rest := strings.Count(d.Source()[d.Offset():], "{")
				all = slices.Grow(all, min(rest, maxElements-d.elementCount)+1)
			}
			all = append(all, read())
			return
		}
		d.report(IssueTypeMismatch, field+"[]", d.Raw())
		d.setOwner("")
	})
	return all
}

// list decodes an array, or null for none (policy W6), until the view has too many elements.
func (d *decoder) list(field string, read func()) {
	if d.null(field) {
		return
	}
	if d.Kind() != jsontext.KindArray {
		d.report(IssueTypeMismatch, field, d.Raw())
		return
	}
	for range d.Elements() {
		if d.elementCount++; d.elementCount <= maxElements {
			read()
		}
	}
}
