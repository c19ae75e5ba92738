package validate_test

import (
	"fmt"
	"strings"
	"testing"

	"larder/internal/testkit/menutest"
)

// repeated returns n elements of a JSON array.
func repeated(n int, element func(i int) string) string {
	all := make([]string, n)
	for i := range all {
		all[i] = element(i)
	}
	return "[" + strings.Join(all, ",") + "]"
}

// Policy H7: a response lists the first 200 violations in the order of the body, and
// reports that there are more.
func TestFirstViolations(t *testing.T) {
	t.Parallel()
	unknown := func(int) string { return `{"ID":"nothing","quantity":1}` }
	fifty := func(int) string {
		return `{"ID":"pizza","quantity":1,"ingredients":` + repeated(50, func(int) string { return `{"ID":"u"}` }) + `}`
	}
	mistyped := func(int) string {
		return `{"ID":"soup","quantity":1,"ingredients":` + repeated(100, func(int) string { return `7` }) + `}`
	}
	for _, c := range []struct {
		name, body string
		listed     int
		more       bool
		lines      int
		first      string
		last       string
	}{
		{"exactly 200", menutest.Order(repeated(200, unknown)), 200, false, 200, "/dishList/0", "/dishList/199"},
		{"one more in a field", strings.Replace(menutest.Order(repeated(200, unknown)), `"cash"`, `"barter"`, 1), 200, true, 200, "/dishList/0", "/dishList/199"},
		{"an earlier field", `{"comment":7,` + menutest.Order(repeated(200, unknown))[1:], 200, true, 200, "/comment", "/dishList/198"},
		{"10,000 violations of the menu's rules", menutest.Order(repeated(200, fifty)), 200, true, 4, "/dishList/0/ingredients", "/dishList/3/ingredients/45"},
		{"20,000 values of the wrong type", menutest.Order(repeated(200, mistyped)), 200, true, 200, "/dishList/0/ingredients/0", "/dishList/1/ingredients/99"},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			v := validateBody(t, c.body)
			if len(v.Violations) != c.listed || v.More != c.more || len(v.Lines) != c.lines || v.Valid {
				t.Fatalf("%d violations, more %v, %d lines, want %d, %v, %d", len(v.Violations), v.More, len(v.Lines), c.listed, c.more, c.lines)
			}
			if first, last := v.Violations[0].Path, v.Violations[c.listed-1].Path; first != c.first || last != c.last {
				t.Errorf("from %s to %s, want from %s to %s", first, last, c.first, c.last)
			}
			if text := fmt.Sprintf(`"more":%v`, c.more); c.more != strings.Contains(string(v.JSON), text) {
				t.Errorf("the JSON does not contain %s", text)
			}
			brokenOf(t, v) // each has its message
		})
	}
}
