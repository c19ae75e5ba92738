package configs

import (
	"bytes"
	"errors"
	"regexp"
	"strings"

	"github.com/goccy/go-yaml"
	"github.com/goccy/go-yaml/ast"
	"github.com/goccy/go-yaml/parser"
	"github.com/goccy/go-yaml/token"
)

// node is a value in the file or in a variable.
type node struct {
	kind  kind
	at    Position
	text  string  // of a single value
	keys  []entry // of a section, in order
	items []*node // of a list

	broken bool // part of it could not be read; the error has been reported
}

// entry is one key of a section.
type entry struct {
	name  string
	at    Position
	value *node
}

type kind int

const (
	absent kind = iota // a key without a value keeps its default
	single
	section
	list
)

// key returns the value of a key of a section, or nil.
func (n *node) key(name string) *node {
	for _, e := range n.keys {
		if e.name == name {
			return e.value
		}
	}
	return nil
}

// splitURL returns a URL that YAML parses as a section, as in {a: [http://b]}, or "".
func (n *node) splitURL() string {
	var names []string
	for n.kind == section && len(n.keys) == 1 { // http: {//b: 80}
		names = append(names, n.keys[0].name)
		n = n.keys[0].value
	}
	text := strings.Join(append(names, n.text), ":")
	if strings.HasPrefix(text, "http://") || strings.HasPrefix(text, "https://") {
		return text
	}
	return ""
}

// String returns a description of the value for error messages.
func (n *node) String() string {
	switch n.kind {
	case section:
		return "a section"
	case list:
		return "a list"
	default:
		return "the single value " + n.text
	}
}

// readYAML returns the values of the file.
func (l *loader) readYAML(data []byte) *node {
	root := &node{}
	file, err := parser.ParseBytes(data, 0)
	if err != nil {
		at, msg := Position{File: l.file}, err.Error()
		if e, ok := errors.AsType[yaml.Error](err); ok {
			at, msg = l.at(e.GetToken()), yamlText(e.GetMessage())
		}
		l.unreadable = true
		if line, column := unclosedQuote(data); line > 0 && line <= max(at.Line, 1) {
			at.Line, at.Column, msg = line, column, "the quote is not closed on this line"
		}
		l.problemAt(at, "", "invalid YAML: %s", msg)
		return root
	}
	for i, doc := range file.Docs {
		switch {
		case doc.Body == nil:
		case i > 0:
			l.problemAt(l.at(doc.Body.GetToken()), "", "this is a second YAML document: write everything into one")
			return root
		default:
			root = l.convert(doc.Body)
		}
	}
	return root
}

var duplicateKey = regexp.MustCompile(`^mapping key "(.*)" already defined at \[(\d+):\d+\]$`)

// yamlAdvice has what to do after errors of the YAML parser.
var yamlAdvice = []struct { //nolint:gochecknoglobals // constant
	text   *regexp.Regexp
	advice string
}{
	{regexp.MustCompile("'\t' that cannot start any token|tab character"), "indent with spaces, not tabs"},
	{regexp.MustCompile("^mapping value is not allowed"), "check the indentation of this line; a value with a colon and a space needs quotes"},
	{regexp.MustCompile("map key-value is pre-defined"), "there is more text after the value: put the whole value in quotes"},
	{regexp.MustCompile("^value is not allowed"), "check the indentation of this line"},
	{regexp.MustCompile("non-map value"), "check the indentation of this line; a key needs a colon and a space"},
	{regexp.MustCompile("reserved character|directive value|header option|tag character"), "put the value in quotes"},
	{regexp.MustCompile("scalar value type|corresponding to"), "put the value in quotes"},
	{regexp.MustCompile("undefined (anchor|alias)"), "put the value in quotes if it starts with & or *"},
	{regexp.MustCompile("end token"), "a { or [ is not closed"},
	{regexp.MustCompile("must be specified"), "a { or [ is not closed, or a comma is missing"},
	{regexp.MustCompile("unknown escape character"), `in double quotes, write \\ for \, or use single quotes`},
	{regexp.MustCompile("could not find end character"), `the quote is not closed; in double quotes, write \\ for \`},
}

// yamlText returns an error of the YAML parser with what to do.
func yamlText(msg string) string {
	for _, known := range yamlAdvice {
		if known.text.MatchString(msg) {
			return known.advice
		}
	}
	return duplicateKey.ReplaceAllString(msg, "$1 is also on line $2: remove one")
}

// unclosedQuote returns the place of the first quoted value that does not end on its line, or 0. If a
// closing quote is missing, the parser reports a later line.
func unclosedQuote(data []byte) (line, column int) {
	for line, text := range bytes.Split(data, []byte("\n")) {
		starts := true // a value can start here
		for i := 0; i < len(text); i++ {
			c := text[i]
			switch {
			case c == '#' && (i == 0 || text[i-1] == ' '):
				i = len(text)
			case starts && (c == '"' || c == '\''):
				begin := i
				for i++; i < len(text); i++ {
					if c == '"' && text[i] == '\\' || c == '\'' && bytes.HasPrefix(text[i:], []byte("''")) {
						i++ // an escaped character
					} else if text[i] == c {
						break
					}
				}
				if i >= len(text) {
					return line + 1, begin + 1
				}
				starts = false
			default:
				starts = c == ' ' && (starts || i > 0 && (text[i-1] == ':' || text[i-1] == '-')) || bytes.IndexByte([]byte("[{,"), c) >= 0
			}
		}
	}
	return 0, 0
}

// convert returns a value of the file. It reports features of YAML that are not supported.
func (l *loader) convert(from ast.Node) *node {
	n := &node{at: l.at(from.GetToken())}
	switch from := from.(type) {
	case *ast.TagNode:
		n.broken = true
		l.problemAt(n.at, "", "tags (!name) are not supported: put the value in quotes if it starts with !")
	case *ast.AnchorNode, *ast.AliasNode:
		n.broken = true
		l.problemAt(n.at, "", "anchors and aliases (&name, *name) are not supported: write the value where it is needed")
	case ast.MapNode:
		n.kind = section
		for it := from.MapRange(); it.Next(); {
			key := it.Key().GetToken()
			if it.Key().Type() == ast.MergeKeyType {
				n.broken = true
				l.problemAt(l.at(key), "", "merge keys (<<) are not supported: write the keys where they are needed")
				continue
			}
			n.keys = append(n.keys, entry{key.Value, l.at(key), l.convert(it.Value())})
		}
		if flow, ok := from.(*ast.MappingNode); len(n.keys) > 0 && (!ok || !flow.IsFlowStyle) {
			n.at = n.keys[0].at
		}
	case *ast.SequenceNode:
		n.kind = list
		for _, value := range from.Values {
			n.items = append(n.items, l.convert(value))
		}
	case *ast.NullNode:
	case *ast.LiteralNode:
		n.kind, n.text = single, from.Value.Value
	default:
		n.kind, n.text = single, from.GetToken().Value
	}
	return n
}

func (l *loader) at(t *token.Token) Position {
	p := Position{File: l.file}
	if t != nil && t.Position != nil {
		p.Line, p.Column = t.Position.Line, t.Position.Column
	}
	return p
}
