package menu

import (
	"fmt"
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
	marked := strings.HasPrefix(answer, "\ufeff")
	if text := onlyResult(answer); text != "" {
		if view, members, err := decodeView(text, marked); err == nil {
			return view, members, nil
		}
	}
	text, err := findView(answer)
	if err != nil {
		return nil, nil, err
	}
	return decodeView(text, marked)
}

// onlyResult returns what is inside of {"result": … }, the usual answer, without reading it twice. If that is
// not one well-formed value, the answer has other members or is invalid, and findView decides.
func onlyResult(answer string) string {
	r := newReader(answer, 0)
	for name := range r.Members() {
		rest := strings.TrimRight(r.Source()[r.Offset():], " \t\r\n")
		if inner, ok := strings.CutSuffix(rest, "}"); ok && name == "result" && r.Kind() == jsontext.KindObject {
			return inner
		}
		break
	}
	return ""
}

// findView validates an answer and returns the text of the view: the value of "result", unless the
// object itself is a view.
func findView(answer string) (string, error) {
	r := newReader(answer, 0)
	kind, inner, result, bare := r.Kind(), jsontext.KindNone, "", false
	for name := range r.Members() {
		switch jsontext.FoldName(name) {
		case "result":
			start := r.Offset()
			inner = r.Kind()
			r.Skip()
			result = r.Source()[start:r.Offset()] // not Raw, which would hide what decodeView reports
		case "products", "categories":
			bare = true
		}
	}
	if err := r.Err(); err != nil {
		return "", err
	}
	if kind != jsontext.KindObject {
		return "", &ShapeError{got: "JSON " + kind.String()}
	}
	if result == "" || bare {
		return r.Source(), nil
	}
	if inner != jsontext.KindObject {
		return "", &ShapeError{got: "a result that is JSON " + inner.String()}
	}
	return result, nil
}

// viewMember is a member of a menu view as it is written, and the canonical form of its name for publish.
type viewMember struct {
	name, value string
	jsontext.CanonicalName
}

// decodeView decodes a bare view; marked is whether a byte order mark was before it. It returns the errors of Decode.
func decodeView(text string, marked bool) (*View, []viewMember, error) {
	expected := len(text) / 1_000 // an element often has 1 KB; without this, the lists are copied while they grow
	d := &decoder{
		Reader:   newReader(text, 0),
		view:     &View{Products: make([]Product, 0, expected), Ingredients: make([]Ingredient, 0, expected)},
		decimals: make(map[jsontext.Number]decimal.Decimal),
	}
	if marked {
		d.report(IssueByteOrderMark, "")
	}
	readObject(d, viewFields, d.view)
	if err := d.Err(); err != nil {
		return nil, nil, err
	}
	if !d.known {
		return nil, nil, &ShapeError{got: "an object with none of them"}
	}
	if err := d.checkLimits(); err != nil {
		return nil, nil, err
	}
	return d.view, d.members, nil
}

type decoder struct {
	jsontext.Reader
	path

	view   *View
	known  bool   // the view has one of its lists
	kind   string // "product", …; empty for the view itself
	pend   int    // issues of the current element, until its id is known
	priced bool   // the current element has a price

	elementCount int
	members      []viewMember                        // of the view
	decimals     map[jsontext.Number]decimal.Decimal // most prices and limits occur several times
}

// path is the position of the value that is read.
type path struct {
	where string // of the object, with a full stop at the end; empty for the view itself
	field string // its member, in the spelling of the interface
	tail  string // after the field: "[]" in a list
}

// report adds an issue of the value that is read.
func (d *decoder) report(code, value string) {
	if len(d.view.Issues) >= maxIssues {
		d.view.IssuesOmitted++
		return
	}
	if len(value) > maxIssueValue {
		value = strings.ToValidUTF8(value[:maxIssueValue], "") + "…"
	}
	d.view.Issues = append(d.view.Issues, Issue{Code: code, Field: d.where + d.field + d.tail, Kind: d.kind, Value: value})
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

// fieldTable contains the fields of an object, by name in the interface and by folded name (policy W3).
type fieldTable[T any] map[string]field[T]

// field is a field's name in the interface, and what reads its value.
type field[T any] struct {
	name string
	read readFunc[T]
}

type readFunc[T any] func(d *decoder, into *T)

func fieldsOf[T any](all ...map[string]readFunc[T]) fieldTable[T] {
	table := fieldTable[T]{}
	for _, fields := range all {
		for name, read := range fields {
			table[name] = field[T]{name, read}
			table[jsontext.FoldName(name)] = table[name]
		}
	}
	return table
}

// readObject decodes the next value, an object.
func readObject[T any](d *decoder, fields fieldTable[T], into *T) {
	for name := range d.Members() {
		raw, start := d.RawName(), d.Offset()
		f, known := fields[name]
		if !known {
			f, known = fields[jsontext.FoldName(name)]
		}
		if known {
			d.field = f.name
			if f.read(d, into); name != f.name {
				d.report(IssueNameSpelling, name)
			}
		} else {
			d.field = name
			d.report(IssueUnknownField, "")
			d.Skip()
		}
		control, tooDeep := d.Oddities()
		if control {
			d.report(IssueControlRaw, "")
		}
		if tooDeep {
			d.report(IssueNestedTooDeep, "")
		}
		if d.where == "" {
			d.members = append(d.members, viewMember{name: raw, value: d.Source()[start:d.Offset()]})
		}
	}
}

// longList is the length from which a list gets the space for all objects of the rest of the text at once. Otherwise a list
// of many small objects would be copied several times, each time with both copies in memory (policy W15a). Tables of
// distinct elements start with at most this size.
const longList = 20_000

// readElements decodes one of the view's lists of objects, or null for none (policy W6), and appends them to all.
// finish checks an object that was read, and returns its id.
func readElements[T any](d *decoder, all *[]T, kind string, fields fieldTable[T], finish func(*decoder, *T) string) {
	d.known = true
	inside := path{where: d.field + "[]."}
	d.list(func() {
		list, id := d.path, ""
		d.kind, d.pend, d.priced = kind, len(d.view.Issues), false
		if d.Kind() == jsontext.KindObject {
			if len(*all) == cap(*all) && len(*all) >= longList {
				rest := strings.Count(d.Source()[d.Offset():], "{")
				*all = slices.Grow(*all, min(rest, maxElements-d.elementCount)+1)
			}
			*all = append(*all, *new(T))
			one := &(*all)[len(*all)-1]
			d.path = inside
			readObject(d, fields, one)
			id = finish(d, one)
			d.path = list
		} else {
			d.report(IssueTypeMismatch, d.Raw())
		}
		d.setOwner(id)
	})
}

// list decodes an array, or null for none (policy W6), until the view has too many elements.
func (d *decoder) list(read func()) {
	if d.null() {
		return
	}
	if d.Kind() != jsontext.KindArray {
		d.report(IssueTypeMismatch, d.Raw())
		return
	}
	d.each(func() {
		if d.elementCount++; d.elementCount <= maxElements {
			read()
		}
	})
}

// each decodes the elements of an array.
func (d *decoder) each(read func()) {
	d.tail = "[]"
	for range d.Elements() {
		read()
	}
	d.tail = ""
}

// The limits of a menu view, besides its size (policy W15). Each is far above the needs of a menu
// of 64 MiB; without them a body of a few MiB could require gigabytes.
const (
	// maxElements limits the elements of all lists of a view together: its five lists, the groups
	// of schemes, and the ingredients of groups.
	maxElements = 1_000_000
	// maxOffers limits the work and the responses that schemes multiply: each group of each scheme
	// with its ingredients, and each dish with its groups.
	maxOffers = 5_000_000
	// maxIssues is the maximum number of issues that Decode keeps; further ones are only counted.
	maxIssues = 50_000
)

// LimitError reports that a menu view exceeds a limit (policy W15).
type LimitError struct {
	what  string // what there is too much of, for example "elements"
	limit int
}

func (e *LimitError) Error() string {
	return fmt.Sprintf("the menu view is too large: more than %d %s", e.limit, e.what)
}

func (d *decoder) checkLimits() error {
	if d.elementCount > maxElements {
		return &LimitError{what: "elements in its lists", limit: maxElements}
	}
	if d.view.offers() > maxOffers {
		return &LimitError{what: "ingredients offered by its schemes' groups", limit: maxOffers}
	}
	return nil
}

// offers counts what the schemes multiply, including duplicates.
func (v *View) offers() int {
	members := make(map[string]int, len(v.Groups))
	for i := range v.Groups {
		members[v.Groups[i].ID] += len(v.Groups[i].Ingredients)
	}
	total := 0
	groups := make(map[string]int, len(v.Schemes))
	for i := range v.Schemes {
		groups[v.Schemes[i].ID] += len(v.Schemes[i].Groups)
		for _, limit := range v.Schemes[i].Groups {
			total += 1 + members[limit.GroupID]
		}
	}
	for i := range v.Products {
		total += groups[v.Products[i].SchemeID]
	}
	return total
}
