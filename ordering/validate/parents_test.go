package validate_test

import (
	"encoding/json"
	"fmt"
	"slices"
	"testing"

	"larder.local/internal/menu"
	"larder.local/internal/testkit/menutest"
	"larder.local/ordering/validate"
	"larder.local/ordering/violation"
)

// box is a menu with parts on three levels: a box of burgers, each with a bun and a patty, which is rare or well done.
const box = `{"products":[{"id":"box","externalId":"1","price":100,"schemeId":"s-box"}],
"ingredientsSchemes":[
 {"id":"s-box","ingredientsGroups":[{"id":"g-parts","minCount":1,"maxCount":3}]},
 {"id":"s-burger","ingredientsGroups":[{"id":"g-bun","minCount":1,"maxCount":1},{"id":"g-patty","minCount":0,"maxCount":2}]},
 {"id":"s-patty","ingredientsGroups":[{"id":"g-done","minCount":1,"maxCount":1}]}],
"ingredientsGroups":[
 {"id":"g-parts","name":"Parts","ingredients":["burger"]},{"id":"g-bun","name":"Bun","ingredients":["bun"]},
 {"id":"g-patty","name":"Patty","ingredients":["patty"]},{"id":"g-done","name":"Done","ingredients":["rare","well"]}],
"ingredients":[
 {"id":"burger","externalId":"11","name":"Burger","price":1,"schemeId":"s-burger"},{"id":"bun","externalId":"12","name":"Bun","price":1},
 {"id":"patty","externalId":"13","name":"Patty","price":1,"schemeId":"s-patty"},
 {"id":"rare","externalId":"14","name":"Rare","price":0},{"id":"well","externalId":"15","name":"Well done","price":0}]}`

// M13: a group violation is at the ingredients of the line that has the group, and names this line's item. Only in a flat
// order it is at the dish.
func TestThePartOfAGroupViolation_M13(t *testing.T) {
	t.Parallel()
	catalogue := menutest.Compile(t, box, menu.DefaultSettings())
	const (
		bun     = `{"ID":"bun"}`
		good    = `{"ID":"burger","ingredients":[` + bun + `]}`
		dish    = "/dishList/0/ingredients"
		first   = dish + "/0/ingredients"
		second  = dish + "/1/ingredients"
		deepest = second + "/1/ingredients"
	)
	burger := func(inside string) string { return `{"ID":"burger","ingredients":[` + inside + `]}` }
	for _, tc := range []struct {
		name, ingredients string
		want              []string // path, code, parent, and count of min to max
	}{
		{"a group of the dish has no parent", ``, []string{dish + " group_min  0 of 1 to 3"}},
		{"too many of the dish's group", good + "," + good + "," + good + "," + good, []string{dish + " group_max  4 of 1 to 3"}},
		{"nested, an empty list", burger(``), []string{first + " group_min burger 0 of 1 to 1"}},
		{"nested, too many", burger(bun + "," + bun), []string{first + " group_max burger 2 of 1 to 1"}},
		{"nested, only the other group", burger(`{"ID":"patty","ingredients":[{"ID":"well"}]}`), []string{first + " group_min burger 0 of 1 to 1"}},
		{"two equal parents, the second without a list", good + `,{"ID":"burger"}`, []string{second + " group_min burger 0 of 1 to 1"}},
		{"two equal parents, the second with an empty list", good + "," + burger(``), []string{second + " group_min burger 0 of 1 to 1"}},
		{"two equal parents, the first without a list", `{"ID":"burger"},` + good, []string{first + " group_min burger 0 of 1 to 1"}},
		{"two equal parents, none is complete", burger(``) + "," + burger(``), []string{
			first + " group_min burger 0 of 1 to 1", second + " group_min burger 0 of 1 to 1",
		}},
		{"a quantity of two, an empty list", `{"ID":"burger","quantity":2,"ingredients":[]}`, []string{first + " group_min burger 0 of 1 to 1"}},
		{"two equal parents, too many in the second", good + "," + burger(bun+","+bun), []string{second + " group_max burger 2 of 1 to 1"}},
		{"three levels, an empty list", good + "," + burger(bun+`,{"ID":"patty","ingredients":[]}`), []string{deepest + " group_min patty 0 of 1 to 1"}},
		{"three levels, no list", good + "," + burger(bun+`,{"ID":"patty"}`), []string{deepest + " group_min patty 0 of 1 to 1"}},
		{"three levels, too many", good + "," + burger(bun+`,{"ID":"patty","ingredients":[{"ID":"rare"},{"ID":"well"}]}`), []string{
			deepest + " group_max patty 2 of 1 to 1",
		}},
		{"three levels, two equal parents", burger(bun + `,{"ID":"patty","ingredients":[{"ID":"well"}]},{"ID":"patty","ingredients":[]}`), []string{
			first + "/2/ingredients group_min patty 0 of 1 to 1",
		}},
		{"no list anywhere", `{"ID":"burger"}`, []string{first + " group_min burger 0 of 1 to 1"}},
		{"no list anywhere, two equal parents", `{"ID":"burger"},{"ID":"burger"}`, []string{
			first + " group_min burger 0 of 1 to 1", second + " group_min burger 0 of 1 to 1",
		}},
		{"flat, two equal parents", `{"ID":"burger"},{"ID":"burger"},` + bun, []string{dish + " group_min burger 1 of 2 to 2"}},
		{"flat, too many", `{"ID":"burger"},` + bun + "," + bun, []string{dish + " group_max burger 2 of 1 to 1"}},
		{"flat, three levels", `{"ID":"burger"},` + bun + `,{"ID":"patty"}`, []string{dish + " group_min patty 0 of 1 to 1"}},
		{"flat, with empty lists", `{"ID":"burger","ingredients":[]},{"ID":"patty","ingredients":[]},{"ID":"well","ingredients":[]}`, []string{
			dish + " group_min burger 0 of 1 to 1",
		}},
		{"flat, with empty lists, complete", `{"ID":"burger","ingredients":[]},{"ID":"bun","ingredients":[]}`, nil},
		{"one part nested, the other flat", good + `,{"ID":"burger"},` + bun, nil},
		{"one part nested, the other flat with too many", good + `,{"ID":"burger"},` + bun + "," + bun, []string{second + " group_max burger 2 of 1 to 1"}},
		{"one part nested, two flat with one bun: the last is not complete", good + `,{"ID":"burger"},{"ID":"burger"},` + bun, []string{
			dish + "/2/ingredients group_min burger 1 of 2 to 2",
		}},
	} {
		t.Run(tc.name, func(t *testing.T) {
			t.Parallel()
			req := v1(t, menutest.Order(`[{"ID":"box","quantity":1,"ingredients":[`+tc.ingredients+`]}]`))
			req.Catalogue = catalogue
			var got []string
			for _, v := range check(t, validate.DefaultConfig(), req).Violations {
				var params struct {
					Min, Max, Count int
					Parent          struct{ ID, Name string }
				}
				text, err := json.Marshal(v.Params)
				if err != nil || json.Unmarshal(text, &params) != nil {
					t.Fatal(err, string(text))
				}
				if names := map[string]string{"burger": "Burger", "patty": "Patty"}; params.Parent.Name != names[params.Parent.ID] {
					t.Errorf("the parent is %+v", params.Parent)
				}
				got = append(got, fmt.Sprintf("%s %s %s %d of %d to %d", v.Path, v.Code, params.Parent.ID, params.Count, params.Min, params.Max))
			}
			if !slices.Equal(got, tc.want) {
				t.Errorf("%s:\n%q, want\n%q", tc.ingredients, got, tc.want)
			}
		})
	}
}

// The message names the part too, in both languages.
func TestTheMessageNamesThePart_M13(t *testing.T) {
	t.Parallel()
	for language, want := range map[string]string{
		violation.English: "Burger, Bun: choose 1 more (exactly 1; 0 chosen)", violation.Russian: "Burger, Bun: добавьте ещё 1 позицию (ровно 1; выбрано: 0)",
	} {
		req := v1(t, menutest.Order(`[{"ID":"box","quantity":1,"ingredients":[{"ID":"burger","ingredients":[]}]}]`))
		req.Catalogue, req.Language = menutest.Compile(t, box, menu.DefaultSettings()), language
		if got := check(t, validate.DefaultConfig(), req).Violations; len(got) != 1 || got[0].Msg != want {
			t.Errorf("in %s: %+v, want %q", language, got, want)
		}
	}
}
