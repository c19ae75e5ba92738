package menutest

import (
	"encoding/json"
	"testing"

	"larder.local/ordering/violation"
)

// Broken is one violation in tables of tests. Params are JSON.
type Broken = struct {
	Path   string
	Code   violation.Code
	Params string
}

// BrokenIn returns the violations in the format of tables. Each must have a
// message.
func BrokenIn(tb testing.TB, violations []violation.Violation) []Broken {
	tb.Helper()
	out := make([]Broken, 0, len(violations))
	for _, v := range violations {
		params, err := json.Marshal(v.Params)
		if err != nil {
			tb.Fatalf("params of %v: %v", v, err)
		}
		if v.Msg == "" {
			tb.Errorf("%s at %s has no sentence", v.Code, v.Path)
		}
		out = append(out, Broken{v.Path, v.Code, string(params)})
	}
	return out
}

// Pick returns a or b.
func Pick[T any](first bool, a, b T) T {
	if first {
		return a
	}
	return b
}
