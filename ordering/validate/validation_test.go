package validate

import (
	"testing"

	"larder/internal/menu"
)

// The buffers of a large order are not reused for the next order. Those of an ordinary
// order are cleared and reused.
func TestValidationBuffersAreCleared(t *testing.T) {
	t.Parallel()
	for _, tc := range []struct {
		name             string
		lines, body, may int
		want             bool
	}{
		{"at the limit", keptLines, keptBytes, keptBytes, true},
		{"too many lines", keptLines + 1, 0, 0, false},
		{"a body that is too large", 0, keptBytes + 1, 0, false},
		{"too many choices", 0, 0, keptBytes + 1, false},
	} {
		c := &validation{
			Request: Request{Input: Input{Body: []byte("{}")}, Catalogue: &menu.Catalogue{}}, rules: newRules(Config{}, nil),
			full: "a guest's",
		}
		c.own.lines, c.body, c.groups.eligible = make([]line, 0, tc.lines), make([]byte, 0, tc.body), make([]int32, 0, tc.may)
		c.own.values = c.own.buffer[:1]
		c.own.values[0].text = "a guest's"
		if got := c.finish(); got != tc.want {
			t.Errorf("%s: kept %t, want %t", tc.name, got, tc.want)
		}
		if tc.want && (c.Body != nil || c.Catalogue != nil || c.rules != nil || c.full != "" || c.own.buffer[0].text != "") {
			t.Errorf("%s: the buffers still have the order", tc.name)
		}
	}
}
