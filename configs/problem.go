package configs

import (
	"cmp"
	"fmt"
	"strings"
)

// Error is one thing that is wrong with a configuration.
type Error struct {
	Where string // "larder.yaml:3:5", or "environment LARDER_HTTP_LISTEN"
	Key   string // "connections[0].base_url"; empty when it is about no single key
	Msg   string // what is wrong and what to do

	at origin
}

// Error is the problem on one line: where, key, message.
func (p *Error) Error() string {
	parts := make([]string, 0, 3)
	for _, part := range []string{p.Where, p.Key, p.Msg} {
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
func (o origin) compare(other origin) int {
	return cmp.Or(strings.Compare(o.variable, other.variable), cmp.Compare(o.line, other.line), cmp.Compare(o.column, other.column))
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
		path = path[:max(strings.LastIndexAny(path, ".["), 0)]
	}
}
