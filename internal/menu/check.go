package menu

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"unicode/utf8"
)

// SyntaxError says where a body stops being JSON.
type SyntaxError struct {
	Line   int // from 1
	Column int // in characters, from 1
	Offset int // in bytes, from 0
	Msg    string
}

// Error gives the position and the cause.
func (e *SyntaxError) Error() string {
	return fmt.Sprintf("malformed JSON at line %d, column %d: %s", e.Line, e.Column, e.Msg)
}

// Check verifies that raw is one well-formed JSON value that nests at most
// maxDepth levels (0: no limit but that of encoding/json), and returns it
// without a byte order mark (policy W11). The error is a *SyntaxError.
func Check(raw []byte, maxDepth int) ([]byte, error) {
	body := bytes.TrimPrefix(raw, []byte("\xef\xbb\xbf"))
	bom := len(raw) - len(body)
	limit := maxDepth
	if limit <= 0 {
		limit = jsonDepth
	}
	if wellFormed(body, limit) {
		return body, nil
	}
	if !json.Valid(body) {
		var value json.RawMessage
		err := json.Unmarshal(body, &value)
		msg, at := "unexpected end of the text", len(body)
		if syntax, ok := errors.AsType[*json.SyntaxError](err); ok {
			msg, at = syntax.Error(), int(syntax.Offset)-1
			if msg == "unexpected end of JSON input" {
				msg, at = "unexpected end of the text", len(body)
			}
		}
		return nil, syntaxError(body, bom, max(at, 0), msg)
	}
	if maxDepth > 0 {
		if at := tooDeep(body, maxDepth); at >= 0 {
			return nil, syntaxError(body, bom, at, fmt.Sprintf("nested deeper than %d levels", maxDepth))
		}
	}
	return body, nil
}

func syntaxError(body []byte, bom, at int, msg string) *SyntaxError {
	at = min(at, len(body))
	before := body[:at]
	line := 1 + bytes.Count(before, []byte{'\n'})
	start := bytes.LastIndexByte(before, '\n') + 1
	return &SyntaxError{
		Line: line, Column: 1 + utf8.RuneCount(before[start:]), Offset: bom + at, Msg: msg,
	}
}

// tooDeep gives the offset of the first bracket beyond limit levels, or -1.
func tooDeep(body []byte, limit int) int {
	depth := 0
	for i := 0; i < len(body); i++ {
		switch body[i] {
		case '"':
			i = stringEnd(body, i) - 1
		case '{', '[':
			depth++
			if depth > limit {
				return i
			}
		case '}', ']':
			depth--
		}
	}
	return -1
}
