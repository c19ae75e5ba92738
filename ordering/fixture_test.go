package ordering_test

import (
	"encoding/json"
	"testing"

	"larder/ordering/violation"
)

// broken is one violation as the tables have it: path, code and params.
type broken struct {
	path   string
	code   violation.Code
	params string // JSON
}

func brokenIn(tb testing.TB, violations []violation.Violation) []broken {
	tb.Helper()
	out := make([]broken, 0, len(violations))
	for _, v := range violations {
		params, err := json.Marshal(v.Params)
		if err != nil {
			tb.Fatalf("params of %v: %v", v, err)
		}
		if v.Msg == "" {
			tb.Errorf("%s at %s has no sentence", v.Code, v.Path)
		}
		out = append(out, broken{v.Path, v.Code, string(params)})
	}
	return out
}
