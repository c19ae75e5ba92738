package jsontext

import (
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"unicode/utf8"
)

// SyntaxError is where a text stops being JSON, and why.
type SyntaxError struct {
	Line   int // from 1
	Column int // in characters, from 1
	Offset int // in bytes, from 0
	Msg    string
}

// Error returns the position and the cause.
func (e *SyntaxError) Error() string {
	return fmt.Sprintf("malformed JSON at line %d, column %d: %s", e.Line, e.Column, e.Msg)
}

// Check returns text without a byte order mark (policy W11) if it is one
// well-formed value that nests at most maxDepth levels (0: as deep as
// encoding/json allows), and a *SyntaxError otherwise.
func Check(text string, maxDepth int) (string, error) {
	r := NewReader(text, maxDepth)
	r.Skip()
	if err := r.Err(); err != nil {
		return "", err
	}
	return r.text, nil
}

func trimBOM(text string) string { return strings.TrimPrefix(text, "\xef\xbb\xbf") }

// syntaxErrorIn describes what is wrong with text in the words of
// encoding/json; nil if nothing is.
func syntaxErrorIn(text string, bom, maxDepth int) error {
	body := []byte(text)
	if at := tooDeep(text, maxDepth); at >= 0 && json.Valid(body) {
		return newSyntaxError(text, bom, at, fmt.Sprintf("nested deeper than %d levels", maxDepth))
	}
	var value json.RawMessage
	err := json.Unmarshal(body, &value)
	if err == nil {
		return nil
	}
	const atEnd = "unexpected end of the text"
	syntax, ok := errors.AsType[*json.SyntaxError](err)
	if !ok || syntax.Error() == "unexpected end of JSON input" {
		return newSyntaxError(text, bom, len(text), atEnd)
	}
	return newSyntaxError(text, bom, max(int(syntax.Offset)-1, 0), syntax.Error())
}

func newSyntaxError(text string, bom, at int, msg string) *SyntaxError {
	before := text[:min(at, len(text))]
	line := before[strings.LastIndexByte(before, '\n')+1:]
	return &SyntaxError{
		Line: 1 + strings.Count(before, "\n"), Column: 1 + utf8.RuneCountInString(line), Offset: bom + len(before), Msg: msg,
	}
}

// tooDeep returns the offset of the first bracket beyond limit levels, or -1.
func tooDeep(text string, limit int) int {
	depth := 0
	for i := 0; i < len(text); i++ {
		switch text[i] {
		case '"':
			end, _ := stringEnd(text, i)
			if end < 0 {
				return -1
			}
			i = end - 1
		case '{', '[':
			if depth++; depth > limit {
				return i
			}
		case '}', ']':
			depth--
		}
	}
	return -1
}
