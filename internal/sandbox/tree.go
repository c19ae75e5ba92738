package sandbox

import (
	"bytes"
	"encoding/json"
	"errors"
	"slices"
)

// tree is a JSON value that preserves the order of members. It is used to rewrite menus.
type tree struct {
	kind    json.Delim // '{', '[' or 0 for a scalar
	names   []string   // of an object
	items   []*tree    // of an object or array
	literal []byte     // of a scalar
}

func scalar(literal string) *tree { return &tree{literal: []byte(literal)} }

// readTree parses exactly one JSON value.
func readTree(raw []byte) (*tree, error) {
	raw = bytes.TrimPrefix(raw, []byte("\xef\xbb\xbf"))
	if !json.Valid(raw) { // also too deep for the recursion of nextTree
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

// append appends the value in compact form.
func (t *tree) append(dst []byte) []byte {
	if t.kind == 0 {
		return append(dst, t.literal...)
	}
	dst = append(dst, byte(t.kind))
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

// get returns the member with that name, ignoring case and underscores, or nil.
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

// text returns the text of a string or number, or an empty string.
func (t *tree) text() string {
	l := anyJSON{raw: t.literal}
	return l.text()
}

func (t *tree) is(literal string) bool { return t.kind == 0 && string(t.literal) == literal }

// restyle applies the settings to a menu.
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

// emptyFor returns the empty value of a list or text field. Numbers and measures
// have no empty value and stay null.
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
