package configs

import (
	"cmp"
	"fmt"
	"strings"
)

// Error is one thing that is wrong with a configuration. Its JSON has the
// names file, line, column, variable, key and msg.
type Error struct {
	File     string `json:"file,omitempty"` // as Load was given it
	Line     int    `json:"line,omitempty"` // from 1; 0 when no place in the file is meant
	Column   int    `json:"column,omitempty"`
	Variable string `json:"variable,omitempty"` // of the environment, when it gave the value
	Key      string `json:"key"`                // "connections[0].base_url"; empty when it is about no single key
	Msg      string `json:"msg"`                // what is wrong and what to do

	// Ignorable reports whether AllowUnknownKeys would make it a warning.
	Ignorable bool `json:"-"`
}

// Where is "larder.yaml:3:5", "environment LARDER_HTTP_LISTEN", or the file alone.
func (p *Error) Where() string {
	return origin{file: p.File, line: p.Line, column: p.Column, variable: p.Variable}.String()
}

// Error is the problem on one line: where, key, message.
func (p *Error) Error() string {
	parts := make([]string, 0, 3)
	for _, part := range []string{p.Where(), p.Key, p.Msg} {
		if part != "" {
			parts = append(parts, part)
		}
	}
	return strings.Join(parts, ": ")
}

// Errors is every problem that Load found, in the order of the file.
type Errors []*Error

// Error lists the problems, one on each line.
func (p Errors) Error() string {
	lines := make([]string, 0, len(p))
	for _, problem := range p {
		lines = append(lines, problem.Error())
	}
	return strings.Join(lines, "\n")
}

// Unwrap gives the problems to errors.As.
func (p Errors) Unwrap() []error {
	errs := make([]error, 0, len(p))
	for _, problem := range p {
		errs = append(errs, problem)
	}
	return errs
}

// origin is where a value came from.
type origin struct {
	file         string
	line, column int
	variable     string // set when the environment gave the value
}

func (o origin) String() string {
	switch {
	case o.variable != "":
		return "environment " + o.variable
	case o.line > 0:
		return fmt.Sprintf("%s:%d:%d", o.file, o.line, o.column)
	default:
		return o.file
	}
}

// compare puts places of the file into its order, before those of the environment.
func (p *Error) compare(other *Error) int {
	return cmp.Or(strings.Compare(p.Variable, other.Variable), cmp.Compare(p.Line, other.Line), cmp.Compare(p.Column, other.Column))
}

// origins remembers where each key stands, by its path.
type origins map[string]origin

// find gives the place of the key, or of the nearest key above it that stands
// in the file: where a missing key would have to be written.
func (o origins) find(path string) origin {
	for {
		if at, ok := o[path]; ok {
			return at
		}
		if path == "" {
			return origin{}
		}
		path = above(path)
	}
}

// above is the path of the section or list that a key stands in.
func above(path string) string { return path[:max(strings.LastIndexAny(path, ".["), 0)] }
