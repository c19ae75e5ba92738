// Package violation defines the reasons why an order is not valid: their codes, and their messages in each language.
//
// Its one invariant: every code has a message in every language.
//
// ordering/validate, ordering and httpapi/orders create violations, and httpapi returns them. docs/architecture.md
// lists the steps to add a code. The package reads no bodies and knows no HTTP statuses.
package violation

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
	return NewAbout("", path, code, params, language)
}

// NewAbout is New with a subject: a name for the message that is not a param. It may be empty.
func NewAbout(subject, path string, code Code, params Params, language string) Violation {
	if params == nil {
		params = Params{}
	}
	return Violation{Path: path, Code: code, Msg: message(code, language, params, subject), Params: params}
}

// Params are the facts of one violation, by name.
type Params = map[string]any

// Max is the maximum number of violations in one response (policy H7).
const Max = 200

// MaxIDs is the maximum number of ids that one violation lists (policy O3).
const MaxIDs = 20
