// Package violation defines the reasons why an order is not valid: their codes, their messages in
// each language, and the list of the violations of one body.
//
// Its one invariant: every code has a message in every language, and a list is returned in the
// order of the body, whatever order its violations were found in.
//
// ordering/validate and ordering add violations, and httpapi returns them. docs/architecture.md
// lists the steps to add a code. The package reads no bodies and knows no HTTP statuses.
package violation

import (
	"cmp"
	"slices"
)

// Violation is one reason why an order is not valid.
type Violation struct {
	// Path is a JSON Pointer (RFC 6901) into the client's body, in the client's spelling; a missing
	// field has the interface's spelling.
	Path string `json:"path"`
	Code Code   `json:"code"` // stable and documented
	Msg  string `json:"msg"`  // a sentence for a person, in the requested language
	// Params are facts that depend on the code; numbers are json.Number with exact digits. Never nil.
	Params map[string]any `json:"params"`
}

// New returns a violation with its message.
func New(path string, code Code, params Params, language string) Violation {
	if params == nil {
		params = Params{}
	}
	return Violation{Path: path, Code: code, Msg: message(code, language, params, ""), Params: params}
}

// Params are the facts of one violation, by name.
type Params = map[string]any

// Max is the maximum number of violations in one response (policy H7).
const Max = 200

// MaxIDs is the maximum number of ids that one violation lists (policy O3).
const MaxIDs = 20

// positioned is a violation with its position in the body. Its Msg is created when it is listed.
type positioned struct {
	pos     int32
	subject string
	Violation
}

// List collects violations and returns them in the order of the body. The zero value is ready to use.
type List struct {
	Language string // language of the messages
	// Limit is the maximum number of violations to keep; 0 means no limit. A body is always decoded
	// to its end, and its first violations are enough.
	Limit int

	all []positioned
}

// Add adds a violation at the position pos. subject is a name for the message that is not a param; it may be empty.
func (l *List) Add(pos int32, path string, code Code, params Params, subject string) {
	if l.Limit > 0 && len(l.all) >= l.Limit {
		return
	}
	if params == nil {
		params = Params{}
	}
	l.all = append(l.all, positioned{pos: pos, subject: subject, Violation: Violation{Path: path, Code: code, Params: params}})
}

// Len returns the number of violations.
func (l *List) Len() int { return len(l.all) }

// Clone returns a copy of the list.
func (l *List) Clone() List {
	return List{Language: l.Language, Limit: l.Limit, all: slices.Clone(l.all)}
}

// Truncate removes all violations but the first n that were added.
func (l *List) Truncate(n int) { l.all = l.all[:n] }

// Sorted returns the first violations in the order of the body; more reports further ones (policy H7).
func (l *List) Sorted() (list []Violation, more bool) {
	if len(l.all) == 0 {
		return nil, false
	}
	slices.SortStableFunc(l.all, func(a, b positioned) int { return cmp.Compare(a.pos, b.pos) })
	list = make([]Violation, min(len(l.all), Max))
	for i := range list {
		one := &l.all[i]
		list[i] = one.Violation
		list[i].Msg = message(one.Code, l.Language, one.Params, one.subject)
	}
	return list, len(l.all) > Max
}
