package configs

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
)

// Error is one thing that is wrong with a configuration. Its JSON has the
// names file, line, column, variable, key and msg.
type Error struct {
	Place
	Key string `json:"key"` // "connections[0].base_url"; empty when it is about no single key
	Msg string `json:"msg"` // what is wrong and what to do

	// Ignorable reports whether AllowUnknownKeys would make it a warning.
	Ignorable bool `json:"-"`
}

// Error returns the problem on one line: where, key, message.
func (p *Error) Error() string {
	parts := []string{p.Place.String(), p.Key, p.Msg}
	return strings.Join(slices.DeleteFunc(parts, func(part string) bool { return part == "" }), ": ")
}

// Errors is every problem that Load found, in the order of the file.
type Errors []*Error

// Error returns the problems, one on each line.
func (p Errors) Error() string {
	lines := make([]string, 0, len(p))
	for _, problem := range p {
		lines = append(lines, problem.Error())
	}
	return strings.Join(lines, "\n")
}

// Unwrap returns the problems for errors.As.
func (p Errors) Unwrap() []error {
	errs := make([]error, 0, len(p))
	for _, problem := range p {
		errs = append(errs, problem)
	}
	return errs
}

// sorted puts the problems into the order of the file, those of the environment last.
func (p Errors) sorted() Errors {
	slices.SortStableFunc(p, func(a, b *Error) int {
		return cmp.Or(strings.Compare(a.Variable, b.Variable), cmp.Compare(a.Line, b.Line), cmp.Compare(a.Column, b.Column))
	})
	return p
}

// Place is where a value is given.
type Place struct {
	File     string `json:"file,omitempty"` // as Load was given it
	Line     int    `json:"line,omitempty"` // from 1; 0 when no place in the file is meant
	Column   int    `json:"column,omitempty"`
	Variable string `json:"variable,omitempty"` // of the environment, when the value is from there
}

// String returns "larder.yaml:3:5", "environment LARDER_HTTP_LISTEN", or the file alone.
func (p Place) String() string {
	switch {
	case p.Variable != "":
		return "environment " + p.Variable
	case p.Line > 0:
		return fmt.Sprintf("%s:%d:%d", p.File, p.Line, p.Column)
	default:
		return p.File
	}
}

// places has the place of each key, by its path.
type places map[string]Place

// find returns the place of the key, or of the nearest one around it that is
// given: where a missing key would have to be written.
func (p places) find(path string) Place {
	for {
		if at, ok := p[path]; ok || path == "" {
			return at
		}
		path = parentPath(path)
	}
}

// parentPath returns the path of the section or list that a key is in.
func parentPath(path string) string { return path[:max(strings.LastIndexAny(path, ".["), 0)] }
