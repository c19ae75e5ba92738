package validate_test

import (
	"cmp"
	"fmt"
	"strconv"
	"strings"
	"testing"

	"larder.local/internal/menu"
	"larder.local/internal/testkit/menutest"
	"larder.local/ordering/validate"
	"larder.local/ordering/violation"
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

// Policy H7: a menu whose items share identifiers does not make an order expensive. A violation lists at most 20 ids.
func TestSharedIdentifiersCostLittle_H7(t *testing.T) {
	t.Parallel()
	const shared = 1000
	ingredient := func(i int) string { return fmt.Sprintf(`{"id":"i%d","externalId":"77","name":"I%d","price":1}`, i, i) }
	id := func(i int) string { return fmt.Sprintf(`"i%d"`, i) }
	view := `{"products":[{"id":"d","externalId":"1","name":"Dish","price":1,"schemeId":"s"}],` +
		`"ingredientsSchemes":[{"id":"s","ingredientsGroups":[{"id":"g"}]}],` +
		`"ingredientsGroups":[{"id":"g","name":"G","ingredients":` + repeated(shared, id) + `}],"ingredients":` + repeated(shared, ingredient) + `}`
	for name, tc := range map[string]struct {
		view   string
		dishes int
		code   violation.Code
		spent  bool
	}{
		"ambiguous":        {view, 1, violation.ExternalIDAmbiguous, false},
		"also an id":       {strings.ReplaceAll(view, `"i0"`, `"77"`), 1, "", false},
		"also an id, many": {strings.ReplaceAll(view, `"i0"`, `"77"`), 200, violation.LimitExceeded, true},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			dish := `{"ID":"d","quantity":1,"ingredients":` + repeated(100, func(int) string { return `{"ID":"77"}` }) + `}`
			req := v1(t, menutest.Order(repeated(tc.dishes, func(int) string { return dish })))
			req.Catalogue = menutest.Compile(t, tc.view, menu.DefaultSettings())
			left, err := validate.WorkLeft(req)
			if err != nil || (left < 0) != tc.spent {
				t.Errorf("%d steps are left, %v", left, err)
			}
			got := check(t, validate.DefaultConfig(), req)
			if len(got.Violations) > 0 != (tc.code != "") {
				t.Fatalf("violations %+v", got.Violations)
			}
			if tc.spent && (len(got.Violations) != 1 || !strings.Contains(got.Violations[0].Msg, violation.LimitOfWork)) {
				t.Errorf("violations %+v, want one about the work", got.Violations)
			}
			for _, found := range got.Violations {
				if ids, _ := found.Params["ids"].([]string); found.Code != tc.code || found.Code == violation.ExternalIDAmbiguous && len(ids) != 20 {
					t.Fatalf("%s with %d ids, want %s with 20", found.Code, len(ids), tc.code)
				}
			}
		})
	}
}

// Policy H7: a menu with a dish of many groups, or with many items of one identifier, does not make an order expensive. The
// limit counts every step, and groups are not reported after the last violation that is listed. The test is not parallel,
// because it counts allocations.
//
//nolint:paralleltest // it measures the whole process
func TestHostileMenusCostLittle_H7(t *testing.T) {
	product := func(i int) string {
		return fmt.Sprintf(`{"id":"%s","externalId":"d","name":"P%d","price":1}`, cmp.Or(strings.TrimLeft(strconv.Itoa(i), "0"), "d"), i)
	}
	group := func(members string) func(i int) string {
		return func(i int) string { return fmt.Sprintf(`{"id":"g%d","name":"G","ingredients":%s}`, i, members) }
	}
	view := func(groups, ingredients int, limit string) string {
		ids := repeated(ingredients, func(i int) string { return fmt.Sprintf(`"i%d"`, i) })
		return `{"products":[{"id":"d","externalId":"x","name":"Dish","price":2,"schemeId":"s"}],"ingredientsSchemes":[{"id":"s","ingredientsGroups":` +
			repeated(groups, func(i int) string { return fmt.Sprintf(`{"id":"g%d",%s}`, i, limit) }) + `}],"ingredientsGroups":` +
			repeated(groups, group(ids)) + `,"ingredients":` + repeated(ingredients, func(i int) string {
			return fmt.Sprintf(`{"id":"i%d","externalId":"e%d","name":"I","price":1}`, i, i/2)
		}) + `}`
	}
	hundred := `{"ID":"d","quantity":1,"ingredients":` + repeated(100, func(i int) string { return fmt.Sprintf(`{"ID":"i%d"}`, i) }) + `}`
	for name, tc := range map[string]struct {
		view, dish string
		spent      bool
	}{
		"names of 10,000 dishes":            {`{"products":` + repeated(10_000, product) + `}`, `{"ID":"d","quantity":1,"name":"none","price":0.5}`, true},
		"100 ingredients, each in 4,000":    {view(4000, 100, `"minCount":1,"maxCount":2`), hundred, true},
		"100,000 groups without a minimum":  {view(100_000, 1, `"minCount":0`), `{"ID":"d","quantity":1}`, true},
		"100,000 groups with a minimum":     {view(100_000, 1, `"minCount":1`), `{"ID":"d","quantity":1}`, false},
		"a shared id among 300,000 options": {view(10, 30_000, `"minCount":0`), `{"ID":"d","quantity":1,"ingredients":[{"ID":"e0"}]}`, true},
	} {
		t.Run(name, func(t *testing.T) {
			req := v1(t, menutest.Order(repeated(200, func(int) string { return tc.dish })))
			req.Catalogue = menutest.Compile(t, tc.view, menu.DefaultSettings())
			got := check(t, validate.DefaultConfig(), req)
			if spent := strings.Contains(fmt.Sprint(got.Violations), string(violation.LimitExceeded)); spent != tc.spent || len(got.Violations) == 0 {
				t.Errorf("the work is used up: %v, want %v; %d violations", spent, tc.spent, len(got.Violations))
			}
			validator := validate.New(validate.DefaultConfig(), menutest.Noon)
			if n := testing.AllocsPerRun(1, func() { _, _ = validator.Order(req) }); n > 50_000 {
				t.Errorf("%.0f allocations", n)
			}
		})
	}
}
