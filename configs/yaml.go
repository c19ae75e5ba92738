package configs

import (
	"bytes"
	"errors"
	"io"
	"regexp"
	"strings"
	"unicode/utf8"

	"go.yaml.in/yaml/v4"
)

// The tags of a value null and of a key <<.
const nullTag, mergeTag = "!!null", "!!merge"

const noAliases = "anchors and aliases (&name, *name) are not supported: write the value where it is needed, " +
	"in quotes if it starts with & or *"

const beginsComment = `# begins a comment: put the value in quotes, such as "#14532d"`

// readYAML returns the value of the file.
func (l *loader) readYAML(data []byte) value {
	var first, second yaml.Node
	stream, err := yaml.NewLoader(bytes.NewReader(data))
	if err == nil {
		err = stream.Load(&first)
	}
	if err == nil {
		err = stream.Load(&second)
	}
	switch {
	case err == nil:
		l.problemAt(l.at(value{Node: second.Content[0]}), "", "this is a second YAML document: write everything into one")
	case !errors.Is(err, io.EOF):
		l.unreadable = true
		at, msg := syntaxError(data, err)
		l.problemAt(Position{File: l.file, Line: at.Line, Column: at.Column}, "", "invalid YAML: %s", msg)
		return value{}
	}
	if first.Kind == 0 {
		return value{}
	}
	return value{Node: first.Content[0]}
}

// syntaxError returns the place of a syntax error, and what to do. The message never contains text of the file.
func syntaxError(data []byte, err error) (at yaml.Mark, msg string) {
	e, ok := errors.AsType[*yaml.LoadError](err)
	if !ok {
		return at, err.Error()
	}
	at, open := e.Mark, isOpenQuote(e)
	if e.ContextMark.Line > 0 && (e.Stage == yaml.ScannerStage || at.Index >= utf8.RuneCount(data)) {
		at = e.ContextMark // the beginning of the token, or of what does not end
	}
	for range 2 { // a value without its closing quote ends at the next quote: look for it in the lines before
		above, line := splitAt(data, at.Line)
		if !bytes.ContainsAny(line, `"'`) {
			break
		}
		before, ok := errors.AsType[*yaml.LoadError](yaml.Load(above, new(yaml.Node)))
		if !ok || !isOpenQuote(before) {
			break
		}
		at, open = before.ContextMark, true
	}
	_, line := splitAt(data, e.Mark.Line)
	above, _ := splitAt(data, e.Mark.Line+1)
	comment := bracketInComment.FindSubmatchIndex(above)
	switch {
	case comment != nil && !open:
		before := above[:comment[2]]
		start := bytes.LastIndexByte(before, '\n') + 1
		return yaml.Mark{Line: bytes.Count(before, []byte("\n")) + 1, Column: utf8.RuneCount(before[start:]) + 1}, beginsComment
	case open:
		return at, "the quote is not closed on this line"
	case bytes.HasPrefix(bytes.TrimLeft(line, " -"), []byte("\t")):
		return e.Mark, "indent with spaces, not tabs"
	case strings.HasPrefix(e.Message, "unknown anchor"):
		return at, noAliases
	default:
		return at, e.Message + ": check the indentation, here and one line above, and the quotes " +
			"(a value with special characters needs single quotes)"
	}
}

// bracketInComment finds a value, such as a colour in {color: #14532d}, that is a comment and takes the bracket with it.
var bracketInComment = regexp.MustCompile(`(?m)^[^#\n]*[{,\[][ \t]*[\w.-]+:[ \t]+(#[^\n]*[}\]])`)

// isOpenQuote reports whether the error is a quoted value that never ends.
func isOpenQuote(e *yaml.LoadError) bool {
	return e.ContextMsg == "while scanning a quoted scalar" && e.Message == "found unexpected end of stream"
}

// splitAt returns a line, which is a number from 1, and what is above it.
func splitAt(data []byte, number int) (above, line []byte) {
	start := 0
	for ; number > 1; number-- {
		start += bytes.IndexByte(data[start:], '\n') + 1
	}
	line, _, _ = bytes.Cut(data[start:], []byte("\n"))
	return data[:start], line
}

// isUnsupported reports features of YAML that are not supported.
func (l *loader) isUnsupported(path string, n value) bool {
	switch {
	case n.Node == nil:
		return false
	case n.Anchor != "", n.Kind == yaml.AliasNode:
		l.problemAt(l.at(n), path, noAliases)
	case n.Style&yaml.TaggedStyle != 0, n.Tag == "!":
		l.problemAt(l.at(n), path, "tags (!name) are not supported: put the value in quotes if it starts with !")
	default:
		return false
	}
	return true
}
