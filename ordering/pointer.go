package ordering

import (
	"strconv"
	"strings"
)

// spot is where a value stands in the client's body.
type spot struct {
	// name is the member's name as the client spelled it; empty where the
	// member is missing.
	name string
	// at orders spots as the body has them. A missing member stands at the end
	// of the object that lacks it.
	at int32
}

// member appends a member's name to a JSON Pointer (RFC 6901).
func member(path, name string) string {
	if strings.ContainsAny(name, "~/") {
		name = strings.ReplaceAll(strings.ReplaceAll(name, "~", "~0"), "/", "~1")
	}
	return path + "/" + name
}

// element appends an array position to a JSON Pointer.
func element(path string, i int) string { return path + "/" + strconv.Itoa(i) }

// or gives the spot's name, or the interface's where the member is missing.
func (s spot) or(document string) string {
	if s.name == "" {
		return document
	}
	return s.name
}
