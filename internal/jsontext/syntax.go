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

// jsonDepth is the maximum nesting depth of encoding/json.
const jsonDepth = 10_000

func pastSpace(text string, i int) int {
	for i < len(text) && (text[i] == ' ' || text[i] == '\n' || text[i] == '\t' || text[i] == '\r') {
		i++
	}
	return i
}

// scalarEnd returns the offset after the string, number, boolean or null at i; -1 if it is not well-formed. It accepts
// the same texts as encoding/json, and control characters in strings, which it reports. The functions below are similar.
func scalarEnd(text string, i int) (end int, plain, control bool) {
	if i >= len(text) {
		return -1, false, false
	}
	switch text[i] {
	case '"':
		return stringEnd(text, i)
	case 't', 'f', 'n':
		for _, word := range [...]string{"true", "false", "null"} {
			if strings.HasPrefix(text[i:], word) {
				return i + len(word), false, false
			}
		}
	}
	return numberEnd(text, i), false, false
}

// stringEnd also reports whether the string is plain, ASCII without escapes, and whether it has control characters.
func stringEnd(text string, i int) (end int, plain, control bool) {
	i++
	for i < len(text) && isPlain[text[i]] { // a table, because most of a menu is inside strings
		i++
	}
	plain = i < len(text) && text[i] == '"'
	for ; i < len(text); i++ {
		switch c := text[i]; {
		case isPlain[c]:
		case c == '"':
			return i + 1, plain, control
		case c < ' ':
			control = true
		case c == '\\':
			if i = escapeEnd(text, i+1) - 1; i < 0 {
				return -1, false, false
			}
		}
	}
	return -1, false, false
}

// escapeControls escapes the control characters in the strings of a text.
func escapeControls(text string) string {
	var b []byte
	inside, from := false, 0
	for i := 0; i < len(text); i++ {
		switch c := text[i]; {
		case c == '"':
			inside = !inside
		case c == '\\' && inside:
			i++
		case c < ' ' && inside:
			quoted := AppendString(nil, text[i:i+1])
			b = append(append(b, text[from:i]...), quoted[1:len(quoted)-1]...)
			from = i + 1
		}
	}
	if from == 0 { // none
		return text
	}
	return string(append(b, text[from:]...))
}

// isPlain marks the ASCII characters that need no escape in a string.
var isPlain = func() (plain [256]bool) { //nolint:gochecknoglobals // a constant table
	for c := ' '; c < utf8.RuneSelf; c++ {
		plain[c] = c != '"' && c != '\\'
	}
	return plain
}()

// escapeEnd returns the offset after an escape whose backslash is before i; 0 if it is invalid.
func escapeEnd(text string, i int) int {
	switch {
	case i >= len(text):
		return 0
	case strings.IndexByte(`"\/bfnrt`, text[i]) >= 0:
		return i + 1
	case text[i] == 'u' && i+5 <= len(text) && strings.Trim(text[i+1:i+5], "0123456789abcdefABCDEF") == "":
		return i + 5
	}
	return 0
}

func numberEnd(text string, i int) int {
	if text[i] == '-' {
		i++
	}
	whole := i
	if i = digitsEnd(text, i); i < 0 || (text[whole] == '0' && i > whole+1) {
		return -1
	}
	if i < len(text) && text[i] == '.' {
		if i = digitsEnd(text, i+1); i < 0 {
			return -1
		}
	}
	if i < len(text) && (text[i] == 'e' || text[i] == 'E') {
		i++
		if i < len(text) && (text[i] == '+' || text[i] == '-') {
			i++
		}
		i = digitsEnd(text, i)
	}
	return i
}

func digitsEnd(text string, i int) int {
	start := i
	for i < len(text) && text[i] >= '0' && text[i] <= '9' {
		i++
	}
	if i == start {
		return -1
	}
	return i
}
