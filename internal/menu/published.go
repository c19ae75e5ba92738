package menu

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"slices"
	"strconv"
	"strings"

	"larder/internal/jsontext"
)

// Published is a menu view as the ordering service published it, every field
// of it, known to larder or not (policy W8), parted in what all restaurants of
// a chain share and what the stop lists say. It never changes.
//
// Content is the view as compact JSON without the fields that stop a dish or
// ingredient (policy W7): in the elements of products and ingredients,
// isContainInStopList, isListStoped and disabled in any spelling. The members
// of each object are sorted by their folded names, those whose names fold alike
// as they came, so that a service which writes them in another order each time
// publishes the same. Types, digits of numbers, spellings, duplicates and
// elements that are none stay as they came; of strings only the way of escaping
// changes, and bytes that are no UTF-8 become U+FFFD.
//
// Stops are the values that were cut out, as compact JSON, each distinct one
// once, in the order of the elements in Content.
type Published struct {
	Content []byte
	Stops   []byte
}

// DecodePublished is Decode that also returns the view as it was published. The
// errors are those of Decode.
func DecodePublished(raw []byte) (*View, Published, error) {
	view, members, err := decodeAnswer(raw)
	if err != nil {
		return nil, Published{}, err
	}
	published := publish(members, len(raw))
	if len(published.Content) > maxPublished {
		return nil, Published{}, &LimitError{What: "bytes without white space", Limit: maxPublished}
	}
	return view, published, nil
}

// publish separates the members of a view into content and stop values. size is
// about how many bytes they have.
func publish(members []viewMember, size int) Published {
	var canonical jsontext.Canonical
	names := make([]jsontext.CanonicalName, len(members))
	order := make([]int, len(members))
	for i := range members {
		names[i], order[i] = canonical.Name(members[i].name), i
	}
	slices.SortStableFunc(order, func(i, k int) int { return strings.Compare(names[i].Folded, names[k].Folded) })

	var stops stopTable
	content := append(make([]byte, 0, size), '{')
	for n, i := range order {
		content = append(jsontext.AppendComma(content, n), names[i].Literal...)
		canonical.Reader = jsontext.NewReader(members[i].value, maxViewDepth)
		if stoppable(names[i].Folded) && canonical.Kind() == jsontext.KindArray {
			content = appendList(content, &canonical, &stops)
		} else {
			content = canonical.AppendNext(content)
		}
	}
	return Published{Content: append(content, '}'), Stops: stops.encode()}
}

// appendList appends the next value, a list of dishes or ingredients, and notes
// their stop values.
func appendList(content []byte, canonical *jsontext.Canonical, stops *stopTable) []byte {
	content = append(content, '[')
	var cut []byte
	for i := range canonical.Elements() {
		content = jsontext.AppendComma(content, i)
		if canonical.Kind() != jsontext.KindObject {
			content = canonical.AppendNext(content)
			continue
		}
		content, cut = canonical.AppendParted(content, cut[:0], stopField)
		stops.add(cut)
	}
	return append(content, ']')
}

// maxPublished bounds the bytes of a Content. Only a view full of bytes that
// are no UTF-8 grows on the way.
const maxPublished = 96 << 20

// DecodeContent reads the Content of a Published, which Decode might take for
// an envelope. Compiled, it is the content of the view that was published. The
// errors are those of Decode.
func DecodeContent(content []byte) (*View, error) {
	view, _, err := decodeView(jsontext.String(content), false)
	return view, err
}

// ErrForeignStops says that stop values are not those of the content, or none.
var ErrForeignStops = errors.New("menu: the stop values are of another content")

// AppendView appends the view as published: Content with the values of Stops in
// their places, each behind the other members of its object. The error is
// ErrForeignStops.
func (p Published) AppendView(dst []byte) ([]byte, error) {
	content, from := jsontext.String(p.Content), 0
	err := p.elements(func(_, object, value string, end int) {
		if len(value) <= len("{}") {
			return
		}
		end -= len("}")
		dst = append(dst, content[from:end]...)
		if len(object) > len("{}") {
			dst = append(dst, ',')
		}
		dst = append(dst, value[1:len(value)-1]...)
		from = end
	})
	if err != nil {
		return nil, err
	}
	return append(dst, content[from:]...), nil
}

// elements visits what has a stop list, in the order of Content: its list,
// folded, its object, which ends at end, and its value in Stops. The error is
// ErrForeignStops.
func (p Published) elements(visit func(list, object, value string, end int)) error {
	stops, err := readStops(p.Stops)
	if err != nil {
		return err
	}
	r := jsontext.NewReader(jsontext.String(p.Content), maxViewDepth)
	for name := range r.Members() {
		list := jsontext.FoldName(name)
		if !stoppable(list) {
			continue
		}
		for range r.Elements() {
			if r.Kind() != jsontext.KindObject {
				continue
			}
			object := r.Raw()
			value, ok := stops.next()
			if !ok {
				return ErrForeignStops
			}
			visit(list, object, value, r.Offset())
		}
	}
	if !stops.done() || r.Err() != nil {
		return ErrForeignStops
	}
	return nil
}

// AppendAnswer appends the answer {"result": …} with the view as published; see
// AppendView.
func (p Published) AppendAnswer(dst []byte) ([]byte, error) {
	const head, tail = `{"result":`, `}`
	dst = append(slices.Grow(dst, len(head)+len(p.Content)+len(p.Stops)+len(tail)), head...)
	dst, err := p.AppendView(dst)
	if err != nil {
		return nil, err
	}
	return append(dst, tail...), nil
}

// MergeStopLists returns the content of p with the stop lists that now has for the
// same dishes and ingredients, by their ids; of several definitions of an id
// the first one counts, as in Compile. What now does not have keeps what p says
// of it. O(size of both).
//
// It is how an older content is served with the stop lists of today (policy
// S7a). The error is ErrForeignStops.
func (p Published) MergeStopLists(now Published) (Published, error) {
	type owner struct{ list, id string }
	known := make(map[owner]string)
	err := now.elements(func(list, object, value string, _ int) {
		of := owner{list, idOf(object)}
		if _, again := known[of]; !again && of.id != "" {
			known[of] = value
		}
	})
	if err != nil {
		return Published{}, err
	}
	var table stopTable
	err = p.elements(func(list, object, value string, _ int) {
		if current, ok := known[owner{list, idOf(object)}]; ok {
			value = current
		}
		table.add([]byte(value))
	})
	if err != nil {
		return Published{}, err
	}
	return Published{Content: p.Content, Stops: table.encode()}, nil
}

// idOf returns the id of a dish or ingredient, empty where it has none.
func idOf(object string) (id string) {
	r := jsontext.NewReader(object, maxViewDepth)
	for name := range r.Members() {
		if jsontext.FoldName(name) == "id" {
			id, _ = r.ID()
		}
	}
	return id
}

// formatNumber changes when the form of a Published's Content or what is
// compiled from it changes, so that no replica reads a content it would
// understand otherwise (policy S3).
const formatNumber = 4

// ContentHash names a content: the hex SHA-256 over the format number, the
// settings that compile and lint read, and the bytes of a Published's Content.
func ContentHash(content []byte, s Settings) string {
	h := sha256.New()
	head := strconv.AppendInt(nil, formatNumber, 10)
	for _, on := range []bool{s.MaxZeroNone, s.StopListAnyValue, s.RefuseMissingExternalID} {
		head = strconv.AppendBool(append(head, ' '), on)
	}
	head = strconv.AppendInt(append(head, ' '), int64(s.depth()), 10)
	h.Write(append(head, '\n'))
	h.Write(content)
	return hex.EncodeToString(h.Sum(nil))
}

// stoppable reports whether a folded name is that of a list of the view whose
// elements have stop lists.
func stoppable(folded string) bool { return folded == "products" || folded == "ingredients" }

// stopField reports whether a folded name is that of a field that stops a dish
// or ingredient (policy W7).
func stopField(folded string) bool {
	switch folded {
	case "iscontaininstoplist", "isliststoped", "disabled":
		return true
	default:
		return false
	}
}

// stopTable is the values cut out of a view: the distinct ones, each a JSON
// object of the members cut out of one element, and by element which.
type stopTable struct {
	values []string
	of     []int32
	known  map[string]int32
}

// add notes the next element's value.
func (t *stopTable) add(value []byte) {
	if n := len(t.of); n > 0 && t.values[t.of[n-1]] == string(value) {
		t.of = append(t.of, t.of[n-1])
		return
	}
	at, ok := t.known[string(value)]
	if !ok {
		if t.known == nil {
			t.known = make(map[string]int32)
		}
		at = int32(len(t.values)) //nolint:gosec // elements of a bounded body
		t.values = append(t.values, string(value))
		t.known[t.values[at]] = at
	}
	t.of = append(t.of, at)
}

// encode returns {"values":[{…},…],"runs":[value, elements, …]}: values in the
// order of their first element, each run so many elements with one value.
func (t *stopTable) encode() []byte {
	size := 64
	for _, value := range t.values {
		size += len(value) + 1
	}
	dst := append(make([]byte, 0, size), `{"values":[`...)
	number := make([]int, len(t.values)) // from 1
	numbers := 0
	for _, at := range t.of {
		if number[at] == 0 {
			numbers++
			number[at] = numbers
			dst = append(jsontext.AppendComma(dst, numbers-1), t.values[at]...)
		}
	}
	dst = append(dst, `],"runs":[`...)
	for i := 0; i < len(t.of); {
		end := i + 1
		for end < len(t.of) && t.of[end] == t.of[i] {
			end++
		}
		dst = strconv.AppendInt(jsontext.AppendComma(dst, i), int64(number[t.of[i]]-1), 10)
		dst = strconv.AppendInt(append(dst, ','), int64(end-i), 10)
		i = end
	}
	return append(dst, ']', '}')
}

// stopReader reads the values of the elements one after the other.
type stopReader struct {
	values []string
	runs   []int // value and elements in turn
	left   int   // elements of the first run that are still to come
}

// readStops reads what encode wrote, and refuses everything else.
func readStops(raw []byte) (*stopReader, error) {
	s, sane := &stopReader{}, true
	r := jsontext.NewReader(jsontext.String(raw), maxViewDepth)
	for name := range r.Members() {
		switch name {
		case "values":
			for range r.Elements() {
				sane = sane && r.Kind() == jsontext.KindObject
				s.values = append(s.values, r.Raw())
			}
		case "runs":
			for range r.Elements() {
				n, err := strconv.Atoi(r.Raw())
				sane = sane && err == nil
				s.runs = append(s.runs, n)
			}
		}
	}
	if r.Err() != nil {
		return nil, ErrForeignStops
	}
	if !sane || len(s.runs)%2 != 0 {
		return nil, ErrForeignStops
	}
	for i := 0; i < len(s.runs); i += 2 {
		if s.runs[i] < 0 || s.runs[i] >= len(s.values) || s.runs[i+1] < 1 {
			return nil, ErrForeignStops
		}
	}
	if len(s.runs) > 0 {
		s.left = s.runs[1]
	}
	return s, nil
}

func (s *stopReader) next() (value string, ok bool) {
	if len(s.runs) == 0 {
		return "", false
	}
	value = s.values[s.runs[0]]
	if s.left--; s.left == 0 {
		if s.runs = s.runs[2:]; len(s.runs) > 0 {
			s.left = s.runs[1]
		}
	}
	return value, true
}

// done reports whether every element has been given.
func (s *stopReader) done() bool { return len(s.runs) == 0 }
