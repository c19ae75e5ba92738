package jsontext

import (
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"unicode/utf8"
)

// SyntaxError is the position and the cause of a syntax error.
type SyntaxError struct {
	Line   int // from 1
	Column int // in characters, from 1
	Msg    string
}

// Error returns the position and the cause.
func (e *SyntaxError) Error() string {
	return fmt.Sprintf("malformed JSON at line %d, column %d: %s", e.Line, e.Column, e.Msg)
}

// Check returns text without a byte order mark (policy W11) if it is one well-formed value with at
// most maxDepth levels; 0 means the limit of encoding/json. Otherwise it returns a *SyntaxError.
func Check(text string, maxDepth int) (string, error) {
	r := NewReader(text, maxDepth)
	r.Skip()
	if err := r.Err(); err != nil {
		return "", err
	}
	return r.text, nil
}

// syntaxError describes a syntax error with the message of encoding/json.
func (r *Reader) syntaxError() *SyntaxError {
	var value json.RawMessage
	err := json.Unmarshal([]byte(r.text), &value)
	// encoding/json may have stopped where a Reader continues.
	unclear := err != nil && (strings.HasSuffix(err.Error(), "exceeded max depth") || strings.HasSuffix(err.Error(), "in string literal"))
	switch {
	case r.tooDeep > 0 && (err == nil || unclear):
		return r.errorAt(r.tooDeep, fmt.Sprintf("nested deeper than %d levels", r.maxDepth))
	case unclear:
		return r.errorAt(r.failedAt, "invalid JSON")
	case err == nil:
		return r.errorAt(r.at, "the value was not read to its end")
	}
	syntax, ok := errors.AsType[*json.SyntaxError](err)
	if !ok || syntax.Error() == "unexpected end of JSON input" {
		return r.errorAt(len(r.text), "unexpected end of the text")
	}
	return r.errorAt(max(int(syntax.Offset)-1, 0), syntax.Error())
}

func (r *Reader) errorAt(at int, msg string) *SyntaxError {
	before := r.text[:min(at, len(r.text))]
	line := before[strings.LastIndexByte(before, '\n')+1:]
	return &SyntaxError{Line: 1 + strings.Count(before, "\n"), Column: 1 + utf8.RuneCountInString(line), Msg: msg}
}
