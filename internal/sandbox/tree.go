package sandbox

import (
	"bytes"
	"encoding/json"
	"errors"
	"slices"
)

// tree is a JSON value that keeps the order of its members: what a menu is
// rewritten through when it must not go out exactly as it was put.
type tree struct {
	kind    json.Delim // '{', '[' or 0 for a scalar
	names   []string   // of an object
	items   []*tree    // of an object or array
	literal []byte     // of a scalar
}

func scalar(literal string) *tree { return &tree{literal: []byte(literal)} }

// readTree reads exactly one JSON value.
func readTree(raw []byte) (*tree, error) {
	raw = bytes.TrimPrefix(raw, []byte("\xef\xbb\xbf"))
	if !json.Valid(raw) { // or so deep that nextTree would exhaust the stack
		return nil, errors.New("sandbox: not JSON")
	}
	dec := json.NewDecoder(bytes.NewReader(raw))
	dec.UseNumber()
	return nextTree(dec)
}

func nextTree(dec *json.Decoder) (*tree, error) {
	token, err := dec.Token()
	if err != nil {
		return nil, err
	}
	open, nested := token.(json.Delim)
	if !nested {
		return &tree{literal: encode(token)}, nil
	}
	t := &tree{kind: open}
	for dec.More() {
		if open == '{' {
			name, err := dec.Token()
			if err != nil {
				return nil, err
			}
			text, _ := name.(string)
			t.names = append(t.names, text)
		}
		item, err := nextTree(dec)
		if err != nil {
			return nil, err
		}
		t.items = append(t.items, item)
	}
	if _, err := dec.Token(); err != nil {
		return nil, err
	}
	return t, nil
}

// append writes the value without spaces.
func (t *tree) append(dst []byte) []byte {
	if t.kind == 0 {
		return append(dst, t.literal...)
	}
	dst = append(dst, byte(t.kind)) //nolint:gosec // a bracket
	for i, item := range t.items {
		if i > 0 {
			dst = append(dst, ',')
		}
		if t.kind == '{' {
			dst = append(append(dst, encode(t.names[i])...), ':')
		}
		dst = item.append(dst)
	}
	if t.kind == '{' {
		return append(dst, '}')
	}
	return append(dst, ']')
}

// get is the member of that name, blind to case and underscores; nil if none.
func (t *tree) get(name string) *tree {
	want := fold(name)
	if i := slices.IndexFunc(t.names, func(n string) bool { return fold(n) == want }); i >= 0 {
		return t.items[i]
	}
	return nil
}

func (t *tree) set(name string, v *tree) {
	want := fold(name)
	if i := slices.IndexFunc(t.names, func(n string) bool { return fold(n) == want }); i >= 0 {
		t.items[i] = v
		return
	}
	t.names = append(t.names, name)
	t.items = append(t.items, v)
}

// text is a string's or number's text, empty for anything else.
func (t *tree) text() string {
	l := anyJSON{raw: t.literal}
	return l.text()
}

func (t *tree) is(literal string) bool { return t.kind == 0 && string(t.literal) == literal }

// restyle rewrites a menu as the settings say.
func (t *tree) restyle(s Settings) {
	for i := 0; i < len(t.items); i++ {
		item := t.items[i]
		if t.kind == '{' {
			name := t.names[i]
			t.names[i] = s.spell(name)
			if fold(name) == "price" && s.Prices == PricesString && item.kind == 0 && item.numeric() {
				item.literal = []byte(`"` + string(item.literal) + `"`)
			}
			if s.Nulls == NullsOmit && item.nothing() {
				t.names = slices.Delete(t.names, i, i+1)
				t.items = slices.Delete(t.items, i, i+1)
				i--
				continue
			}
			if s.Nulls == NullsEmpty && item.is("null") {
				t.items[i] = emptyFor(name)
				continue
			}
		}
		item.restyle(s)
	}
}

func (t *tree) numeric() bool {
	return len(t.literal) > 0 && (t.literal[0] == '-' || (t.literal[0] >= '0' && t.literal[0] <= '9'))
}

func (t *tree) nothing() bool {
	return t.is("null") || t.is(`""`) || (t.kind == '[' && len(t.items) == 0)
}

// emptyFor is how "nothing" of a field is written where null is not: an empty
// list or text. Numbers and measures have no empty form and stay null.
func emptyFor(name string) *tree {
	switch fold(name) {
	case "categories", "products", "ingredients", "ingredientsgroups", "ingredientsschemes", "imageurls", "iscontaininstoplist":
		return &tree{kind: '['}
	case "id", "externalid", "categoryid", "parentid", "schemeid", "name", "description":
		return scalar(`""`)
	default:
		return scalar("null")
	}
}
