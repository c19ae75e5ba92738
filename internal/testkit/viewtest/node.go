// Package viewtest makes menu views for tests: views that no ordering service
// should send and that larder must forward unchanged, and its own JSON parser to
// compare them. Only tests import it.
package viewtest

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"
)

// Kind is the kind of a Node.
type Kind uint8

// The kinds of nodes. A Token is a number, true, false or null.
const (
	Token Kind = iota
	Text
	List
	Object
)

// Node is one JSON value with everything that a reader could notice: the digits of
// its numbers, and every member of its objects, also those with the same name.
type Node struct {
	Kind    Kind
	Text    string // of a Token or Text
	Items   []Node
	Members []Member
}

// Member is one member of an object.
type Member struct {
	Name  string
	Value Node
}

// Parse parses one JSON value with encoding/json's tokens.
func Parse(raw []byte) (Node, error) {
	d := json.NewDecoder(bytes.NewReader(raw))
	d.UseNumber()
	node, err := parse(d)
	if err != nil {
		return Node{}, err
	}
	if _, err := d.Token(); err != io.EOF {
		return Node{}, fmt.Errorf("viewtest: more than one value: %w", err)
	}
	return node, nil
}

func parse(d *json.Decoder) (Node, error) {
	token, err := d.Token()
	if err != nil {
		return Node{}, err
	}
	switch token := token.(type) {
	case string:
		return Node{Kind: Text, Text: token}, nil
	case json.Number:
		return Node{Text: token.String()}, nil
	case bool:
		return Node{Text: strconv.FormatBool(token)}, nil
	case json.Delim:
		return parseInside(d, token)
	default:
		return Node{Text: "null"}, nil
	}
}

func parseInside(d *json.Decoder, open json.Delim) (Node, error) {
	node := Node{Kind: List}
	if open == '{' {
		node.Kind = Object
	}
	for d.More() {
		var name string
		if node.Kind == Object {
			token, err := d.Token()
			if err != nil {
				return Node{}, err
			}
			name, _ = token.(string)
		}
		value, err := parse(d)
		if err != nil {
			return Node{}, err
		}
		if node.Kind == Object {
			node.Members = append(node.Members, Member{name, value})
		} else {
			node.Items = append(node.Items, value)
		}
	}
	_, err := d.Token()
	return node, err
}

// Meaning returns a text that is equal for two values exactly if no reader of JSON
// can distinguish them. The order of members with different names does not matter.
func (n Node) Meaning() string {
	var b strings.Builder
	n.meaning(&b)
	return b.String()
}

func (n Node) meaning(b *strings.Builder) {
	switch n.Kind {
	case Token:
		b.WriteString(n.Text)
	case Text:
		b.WriteString(strconv.Quote(n.Text))
	case List:
		b.WriteByte('[')
		for _, item := range n.Items {
			item.meaning(b)
			b.WriteByte('\n')
		}
		b.WriteByte(']')
	case Object:
		members := slices.Clone(n.Members)
		slices.SortStableFunc(members, func(a, b Member) int { return strings.Compare(a.Name, b.Name) })
		b.WriteByte('{')
		for _, m := range members {
			b.WriteString(strconv.Quote(m.Name))
			b.WriteByte(':')
			m.Value.meaning(b)
			b.WriteByte('\n')
		}
		b.WriteByte('}')
	}
}

// Clone returns a deep copy of n.
func (n Node) Clone() Node {
	c := Node{Kind: n.Kind, Text: n.Text}
	for _, item := range n.Items {
		c.Items = append(c.Items, item.Clone())
	}
	for _, m := range n.Members {
		c.Members = append(c.Members, Member{m.Name, m.Value.Clone()})
	}
	return c
}
