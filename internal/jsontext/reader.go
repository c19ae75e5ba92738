// Package jsontext reads and writes JSON without losing what encoding/json loses: the digits of numbers, the
// spelling of names, the order of members, and the position of an error.
//
// A Reader reads a text value by value and checks it. A Writer and the Append functions write. Canonical writes the one
// form that equal texts have in common. A Number is an exact decimal; it never becomes a float.
//
// internal/menu, internal/upstream, ordering and httpapi use it. The package imports
// nothing of the project, and never decodes into Go values by reflection.
package jsontext

import (
	"iter"
	"strings"
)

// Kind is the kind of a JSON value.
type Kind uint8

// The kinds of JSON values. KindNone is the end of the text.
const (
	KindNone Kind = iota
	KindNull
	KindBool
	KindNumber
	KindString
	KindArray
	KindObject
)

// String returns the JSON name of the kind: "object", "string", ….
func (k Kind) String() string {
	return [...]string{"nothing", "null", "boolean", "number", "string", "array", "object"}[k]
}

// Reader reads a JSON text value by value, in one pass, and validates it at the same time. A method that
// finds a value of another kind consumes it and reports that. After the first syntax error there are no more
// values. The values are valid only if Err returns nil at the end.
//
//	for name := range r.Members() { … read one value, or none to skip it … }
//
// Members with the same name are all returned; callers use the last one, as encoding/json
// does. The strings of a Reader are parts of the text if they contain no escapes. A control character in a string
// needs no escape (policy W17).
type Reader struct {
	// AnyDepth allows Skip and Raw to pass values that are nested deeper than the limit. A canonical form has null
	// for what is deeper.
	AnyDepth bool

	text      string
	at        int // offset of the next value, or the end of the last one
	nameStart int // of the last member, including quotes
	nameEnd   int
	maxDepth  int
	depthLeft int // how many more brackets may open
	tooDeep   int // offset of the bracket beyond maxDepth, or 0
	opened    bool
	failed    bool
	failedAt  int
	control   bool // a string has a control character without an escape
	passed    bool // a value was nested deeper than maxDepth
}

// NewReader returns a Reader of text, which may begin with a byte order mark (policy W11) and may
// be nested maxDepth levels deep; 0 means the limit of encoding/json.
func NewReader(text string, maxDepth int) Reader {
	body := strings.TrimPrefix(text, "\xef\xbb\xbf")
	if maxDepth <= 0 {
		maxDepth = jsonDepth
	}
	return Reader{
		text:      body,
		at:        pastSpace(body, 0),
		maxDepth:  maxDepth,
		depthLeft: maxDepth,
	}
}

// Err returns nil if the text was completely read and is one well-formed value, otherwise a
// *SyntaxError.
func (r *Reader) Err() error {
	if !r.failed && r.depthLeft == r.maxDepth && pastSpace(r.text, r.at) == len(r.text) {
		return nil
	}
	return r.syntaxError()
}

// Offset returns the start of the next value, or the end of the last one, in the text without its byte order mark.
func (r *Reader) Offset() int { return r.at }

// Source returns the text without its byte order mark.
func (r *Reader) Source() string { return r.text }

// RawName returns the name of the last member as it is written, with its quotes; control characters are escaped.
func (r *Reader) RawName() string { return r.literal(r.nameStart, r.nameEnd) }

// literal returns a part of the text that was read. The control characters of its strings are escaped.
func (r *Reader) literal(start, end int) string {
	if r.control {
		return escapeControls(r.text[start:end])
	}
	return r.text[start:end]
}

// Oddities reports whether what was read since its last call has a control character without an escape in a string, or
// is nested deeper than the limit.
func (r *Reader) Oddities() (control, tooDeep bool) {
	control, tooDeep = r.control, r.passed
	r.control, r.passed = false, false
	return control, tooDeep
}

// fail records an error, after which there are no more values. It returns false.
func (r *Reader) fail() bool {
	if !r.failed {
		r.failed, r.failedAt = true, r.at
	}
	r.at = len(r.text)
	return false
}

// Kind returns the kind of the next value without consuming it. Invalid JSON may appear as a number.
func (r *Reader) Kind() Kind {
	if r.at >= len(r.text) {
		return KindNone
	}
	switch r.text[r.at] {
	case '{':
		return KindObject
	case '[':
		return KindArray
	case '"':
		return KindString
	case 't', 'f':
		return KindBool
	case 'n':
		return KindNull
	default:
		return KindNumber
	}
}

// Members opens the next object and yields the names of its members. The loop body reads the value
// with one call; otherwise the value is skipped. A value of another kind is skipped and has no
// members. After a loop that ends early, the Reader cannot be used.
func (r *Reader) Members() iter.Seq[string] { return r.contents('{') }

// Elements is Members for an array; it yields indices.
func (r *Reader) Elements() iter.Seq[int] {
	return func(yield func(i int) bool) {
		i := 0
		for range r.contents('[') {
			if !yield(i) {
				return
			}
			i++
		}
	}
}

// contents opens the next value, an object or an array, and yields the names of the members, or "" for each element.
func (r *Reader) contents(bracket byte) iter.Seq[string] {
	return func(yield func(name string) bool) {
		if !r.open(bracket) {
			return
		}
		for name, ok := r.item(closing(bracket)); ok; name, ok = r.item(closing(bracket)) {
			before := r.at
			if !yield(name) {
				r.fail()
				return
			}
			if r.at == before {
				r.Skip()
			}
		}
	}
}

// closing returns the closing bracket of an opening one: ASCII has '}' at '{' + 2, and ']' at '[' + 2.
func closing(bracket byte) byte { return bracket + 2 }

// item moves to the next member, of which it returns the name, or to the next element. ok is false at the closing
// bracket.
func (r *Reader) item(closing byte) (name string, ok bool) {
	if closing == '}' {
		return r.member()
	}
	return "", r.next(closing)
}

// open consumes an opening bracket, or a whole value that starts with another character.
func (r *Reader) open(bracket byte) bool {
	if r.at >= len(r.text) || r.text[r.at] != bracket {
		r.Skip()
		return false
	}
	if r.depthLeft == 0 && !r.AnyDepth {
		r.tooDeep = r.at
		return r.fail()
	}
	r.passed = r.passed || r.depthLeft == 0
	r.depthLeft--
	r.at++
	r.opened = true
	return true
}

// member consumes the next member's name and colon, or the end of the object.
func (r *Reader) member() (name string, ok bool) {
	if !r.next('}') {
		return "", false
	}
	start := r.at
	if r.text[start] != '"' {
		return "", r.fail()
	}
	end, plain, control := stringEnd(r.text, start)
	if end < 0 {
		return "", r.fail()
	}
	r.control = r.control || control
	i := pastSpace(r.text, end)
	if i >= len(r.text) || r.text[i] != ':' {
		return "", r.fail()
	}
	r.nameStart, r.nameEnd, r.at = start, end, pastSpace(r.text, i+1)
	return unquote(r.text[start:end], plain), true
}

// next moves to the next member or element. It returns false on an error, and at the closing
// bracket, which it consumes.
func (r *Reader) next(closing byte) bool {
	i := pastSpace(r.text, r.at)
	if i >= len(r.text) {
		return r.fail()
	}
	switch b := r.text[i]; {
	case b == closing:
		r.opened = false
		r.depthLeft++
		r.at = i + 1
		return false
	case r.opened:
		r.opened = false
		r.at = i
		return true
	case b != ',':
		return r.fail()
	}
	if r.at = pastSpace(r.text, i+1); r.at >= len(r.text) {
		return r.fail()
	}
	return true
}

// Skip consumes the next value. It takes no stack for each level, because a value may have millions.
func (r *Reader) Skip() {
	if kind := r.Kind(); kind != KindObject && kind != KindArray { // most values
		r.scalar()
		return
	}
	var few [64]byte
	open := few[:0] // the closing brackets of what is open
	for {
		if kind := r.Kind(); kind != KindObject && kind != KindArray {
			r.scalar()
		} else if bracket := r.text[r.at]; r.open(bracket) {
			open = append(open, closing(bracket))
		}
		for more := false; !more; {
			if r.failed || len(open) == 0 {
				return
			}
			if _, more = r.item(open[len(open)-1]); !more {
				open = open[:len(open)-1]
			}
		}
	}
}

// scalar consumes a string, number, boolean or null. It reports whether it was a plain string.
func (r *Reader) scalar() (plain bool) {
	end, plain, control := scalarEnd(r.text, r.at)
	if end < 0 {
		return r.fail()
	}
	r.control = r.control || control
	r.at = end
	return plain
}

// Raw consumes the next value and returns it as it is written; control characters in its strings are escaped.
func (r *Reader) Raw() string {
	start := r.at
	if r.Skip(); r.failed {
		return ""
	}
	return r.literal(start, r.at)
}

// Text consumes the next value; ok is false if it is not a string. Invalid UTF-8 becomes U+FFFD.
func (r *Reader) Text() (text string, ok bool) {
	if r.Kind() != KindString {
		r.Skip()
		return "", false
	}
	start := r.at
	plain := r.scalar()
	if r.failed {
		return "", true
	}
	return unquote(r.text[start:r.at], plain), true
}

// ID consumes an identifier: a string, a number with its digits unchanged, or null for none (policy
// W4); ok is false for other kinds.
func (r *Reader) ID() (id string, ok bool) {
	switch kind := r.Kind(); kind {
	case KindString:
		return r.Text()
	case KindNumber:
		return r.Raw(), true
	default:
		r.Skip()
		return "", kind == KindNull || kind == KindNone
	}
}

// Number consumes a number or a string that contains one (policy W5).
func (r *Reader) Number() (Number, NumberState) {
	switch r.Kind() {
	case KindNumber:
		return ParseNumber(r.Raw())
	case KindString:
		text, _ := r.Text()
		return ParseNumber(text)
	case KindNull, KindNone:
		r.Skip()
		return Number{}, NumberNull
	default:
		r.Skip()
		return Number{}, NumberInvalid
	}
}

// Bool consumes true or false; ok is false for any other kind.
func (r *Reader) Bool() (value, ok bool) {
	if r.Kind() != KindBool {
		r.Skip()
		return false, false
	}
	return r.Raw() == "true", true
}
