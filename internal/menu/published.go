package menu

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"

	"larder.local/internal/jsontext"
)

// Published is a menu view as the ordering service published it, with all its fields, known to larder or not (policy
// W8). It is split into the part that all restaurants of a chain share and the stop values. It is immutable.
//
// Content is the view as compact JSON without the fields that stop a dish or ingredient (policy W7):
// isContainInStopList, isListStoped and disabled, in any spelling, in the elements of products and
// ingredients. The members of each object are sorted by their folded names (stable for equal ones), so that a
// different order of members is the same content. Types, digits of numbers, spellings, duplicates and invalid
// elements are preserved. In strings only the escapes change, and invalid UTF-8 becomes U+FFFD.
//
// Stops contains the removed values in JSON: each distinct value once, and for each element, in the sequence of
// Content, which value it has.
type Published struct {
	Content []byte
	Stops   []byte
}

// DecodePublished is Decode, and also returns the view as it was published.
func DecodePublished(raw []byte) (*View, Published, error) {
	view, members, err := decodeAnswer(raw)
	if err != nil {
		return nil, Published{}, err
	}
	published := publish(members, len(raw))
	if len(published.Content) > maxPublished {
		return nil, Published{}, &LimitError{what: "bytes without white space", limit: maxPublished}
	}
	return view, published, nil
}

// publish splits the members of a view into content and stop values. size is their approximate size in bytes.
func publish(members []viewMember, size int) Published {
	var canonical jsontext.Canonical
	for i := range members {
		members[i].CanonicalName = canonical.Name(members[i].name)
	}
	slices.SortStableFunc(members, func(a, b viewMember) int { return strings.Compare(a.Folded, b.Folded) })

	var stops stopTable
	content := append(make([]byte, 0, size), '{')
	for i, m := range members {
		content = append(append(jsontext.AppendComma(content, i), m.Literal...), ':')
		canonical.Reader = newReader(m.value, 1)
		if stoppable(m.Folded) && canonical.Kind() == jsontext.KindArray {
			content = appendList(content, &canonical, &stops)
		} else {
			content = canonical.AppendNext(content)
		}
	}
	return Published{Content: append(content, '}'), Stops: stops.encode()}
}

// appendList appends the next value, a list of dishes or ingredients, and collects their stop values.
func appendList(content []byte, canonical *jsontext.Canonical, stops *stopTable) []byte {
	content = append(content, '[')
	for i := range canonical.Elements() {
		content = jsontext.AppendComma(content, i)
		if canonical.Kind() != jsontext.KindObject {
			content = canonical.AppendNext(content)
			continue
		}
		var cut []byte
		content, cut = canonical.AppendParted(content, stopField)
		stops.add(cut)
	}
	return append(content, ']')
}

// maxPublished is the maximum size of a Content. Only much invalid UTF-8 makes a view grow.
const maxPublished = 96 << 20

// DecodeContent decodes the Content of a Published, without looking for an envelope. The compiled
// result equals that of the published view. It returns the errors of Decode.
func DecodeContent(content []byte) (*View, error) {
	view, _, err := decodeView(jsontext.String(content), false)
	return view, err
}

// errForeignStops means that stop values do not belong to the content, or are invalid.
var errForeignStops = errors.New("menu: the stop values belong to another content")

// elements calls visit for each element with a stop list, in the order of Content: with its folded
// list name, its object and the end of it, and its value in Stops. The error is errForeignStops.
func (p Published) elements(visit func(list, object, value string, end int)) error {
	stops, err := readStops(p.Stops)
	if err != nil {
		return err
	}
	seen := 0
	r := newReader(jsontext.String(p.Content), 0)
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
			if seen == len(stops.Of) {
				return errForeignStops
			}
			visit(list, object, stops.Values[stops.Of[seen]], r.Offset())
			seen++
		}
	}
	if seen < len(stops.Of) || r.Err() != nil {
		return errForeignStops
	}
	return nil
}

// AppendAnswer appends the answer {"result": …} with the view as published: Content with the values
// of Stops inserted after the other members of their objects. The error is errForeignStops.
func (p Published) AppendAnswer(dst []byte) ([]byte, error) {
	const head, tail = `{"result":`, `}`
	dst = append(slices.Grow(dst, len(head)+len(p.Content)+len(p.Stops)+len(tail)), head...)
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
	return append(append(dst, content[from:]...), tail...), nil
}

// MergeStopLists returns the content of p with the stop lists of now, matched by id. If an id has several definitions,
// the first one counts, as in Compile. Elements that now does not have keep their values of p. O(size of both).
//
// A rollback uses it to serve an older content with the current stop lists (policy S7a). The error is errForeignStops.
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

func idOf(object string) (id string) {
	r := newReader(object, 0)
	for name := range r.Members() {
		if jsontext.FoldName(name) == "id" {
			id, _ = r.ID()
		}
	}
	return id
}

// formatNumber must change if the format of Content or the result of compiling it changes, so that
// no instance misinterprets a content (policy S3).
const formatNumber = 5

// ContentHash returns the hash of a content: the hex SHA-256 of the format number, the settings
// that compile and lint use, and the bytes of Content.
func ContentHash(content []byte, s Settings) string {
	h := sha256.New()
	_, _ = fmt.Fprintf(h, "%d %t %t %t %d\n", // a hash returns no errors
		formatNumber, s.MaxZeroNone, s.StopListAnyValue, s.RefuseMissingExternalID, s.depth())
	h.Write(content)
	return hex.EncodeToString(h.Sum(nil))
}

// stoppable reports whether the elements of the list with this folded name have stop lists.
func stoppable(folded string) bool { return folded == "products" || folded == "ingredients" }

// stopField reports whether the folded name is a field that stops a dish or ingredient (policy W7).
func stopField(folded string) bool {
	return folded == "iscontaininstoplist" || folded == "isliststoped" || folded == "disabled"
}

// stopTable contains the stop values of a view: the distinct values, and for each element the position of its
// value. A value is a JSON object with the members that were removed from an element.
type stopTable struct {
	Values []string `json:"values"` // in the order of their first element
	Of     []int    `json:"of"`
	known  map[string]int
}

func (t *stopTable) add(value []byte) {
	at, ok := t.known[string(value)]
	if !ok {
		if t.known == nil {
			t.known = make(map[string]int)
		}
		at = len(t.Values)
		t.Values = append(t.Values, string(value))
		t.known[t.Values[at]] = at
	}
	t.Of = append(t.Of, at)
}

func (t *stopTable) encode() []byte {
	text, _ := json.Marshal(t) // strings and numbers: it cannot fail
	return text
}

// readStops decodes the output of encode. It rejects everything else.
func readStops(raw []byte) (*stopTable, error) {
	var t stopTable
	if json.Unmarshal(raw, &t) != nil {
		return nil, errForeignStops
	}
	for _, value := range t.Values {
		r := newReader(value, 0)
		if r.Kind() != jsontext.KindObject || r.Raw() != value || r.Err() != nil {
			return nil, errForeignStops
		}
	}
	for _, at := range t.Of {
		if at < 0 || at >= len(t.Values) {
			return nil, errForeignStops
		}
	}
	return &t, nil
}
