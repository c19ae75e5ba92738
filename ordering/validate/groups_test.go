package validate_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"larder.local/internal/menu"
	"larder.local/internal/testkit/menutest"
	"larder.local/ordering/validate"
	"larder.local/ordering/violation"
)

func TestGroups(t *testing.T) {
	t.Parallel()
	list := "/dishList/0/ingredients"
	runDishes(t, []dishCase{
		{"within the limits", `[{"ID":"pizza","quantity":1,"ingredients":[{"ID":"i-large","quantity":1},{"ID":"23","quantity":2},{"ID":"i-mild"}]}]`, nil},
		{"below min names the group, and nothing is added (M11)", `[{"ID":"pizza","quantity":1}]`, []menutest.Broken{
			{list, violation.GroupMin, `{"count":0,"group":"g-size","max":1,"min":1,"name":"Size"}`},
		}},
		{"above max names the group", `[{"ID":"pizza","quantity":1,"ingredients":[{"ID":"i-large"},{"ID":"i-hot","quantity":4}]}]`, []menutest.Broken{
			{list, violation.GroupMax, `{"count":4,"group":"g-sauce","max":3,"min":0,"name":"Sauce"}`},
		}},
		{"repeated lines are summed (M7)", `[{"ID":"pizza","quantity":1,"ingredients":[{"ID":"i-large"},{"ID":"i-large"}]}]`, []menutest.Broken{
			{list, violation.GroupMax, `{"count":2,"group":"g-size","max":1,"min":1,"name":"Size"}`},
		}},
		{"counted for one unit of the dish (M1)", `[{"ID":"pizza","quantity":5,"ingredients":[{"ID":"i-large"}]}]`, nil},
		{"the same group, other limits in another scheme (M3)", `[{"ID":"burger","quantity":1,"ingredients":[{"ID":"i-hot","quantity":3}]}]`, []menutest.Broken{
			{list, violation.GroupMax, `{"count":3,"group":"g-sauce","max":2,"min":1,"name":"Sauce"}`},
		}},
		{"maxCount 0 is no limit (M2)", `[{"ID":"combo","quantity":1,"ingredients":[{"ID":"i-rice"},{"ID":"i-cola","quantity":900}]}]`, nil},
		{"not in the menu (M6)", `[{"ID":"pizza","quantity":1,"ingredients":[{"ID":"i-small"},{"ID":"nope"}]}]`, []menutest.Broken{
			{"/dishList/0/ingredients/1", violation.IngredientNotInMenu, `{"id":"nope"}`},
		}},
		{"in no group of the scheme (M6)", `[{"ID":"burger","quantity":1,"ingredients":[{"ID":"i-hot"},{"ID":"22"}]}]`, []menutest.Broken{
			{"/dishList/0/ingredients/1", violation.IngredientNotAllowed, `{"dish":"burger","id":"i-large"}`},
		}},
		{"the dish's id in the menu, although it was ordered by externalId", `[{"ID":"1006","quantity":1,"ingredients":[{"ID":"i-hot"},{"ID":"22"}]}]`, []menutest.Broken{
			{"/dishList/0/ingredients/1", violation.IngredientNotAllowed, `{"dish":"burger","id":"i-large"}`},
		}},
		{"a dish without scheme (M6)", `[{"ID":"soup","quantity":1,"ingredients":[{"ID":"i-hot"},{"ID":"i-mild"}]}]`, []menutest.Broken{
			{list, violation.DishTakesNoIngredients, `{}`},
		}},
		{"shared externalId of ingredients, of which the dish has one (O3)", `[{"ID":"twin","quantity":1,"ingredients":[{"ID":"i-a"},{"ID":"i-b"},{"ID":"32"}]}]`, nil},
		{"shared externalId of ingredients (O3)", `[{"ID":"pizza","quantity":1,"ingredients":[{"ID":"i-small"},{"ID":"32"}]}]`, []menutest.Broken{
			{"/dishList/0/ingredients/1", violation.ExternalIDAmbiguous, `{"externalId":"32","ids":["i-b","i-x"]}`},
		}},
		{"a stopped ingredient", `[{"ID":"free","quantity":1,"ingredients":[{"ID":"i-gone"}]}]`, []menutest.Broken{
			{"/dishList/0/ingredients/0", violation.IngredientUnavailable, `{"id":"i-gone","reason":"stopped"}`},
		}},
		{"no id", `[{"ID":"pizza","quantity":1,"ingredients":[{"ID":"i-small"},{}]}]`, []menutest.Broken{
			{"/dishList/0/ingredients/1/ID", violation.FieldRequired, `{"field":"dishList[].ingredients[].ID"}`},
		}},
		{"zero counts as none (M7)", `[{"ID":"pizza","quantity":1,"ingredients":[{"ID":"i-small","quantity":0}]}]`, []menutest.Broken{
			{list, violation.GroupMin, `{"count":0,"group":"g-size","max":1,"min":1,"name":"Size"}`},
			{"/dishList/0/ingredients/0/quantity", violation.QuantityNotPositive, `{"quantity":0}`},
		}},
		{"the groups are not checked if a quantity is invalid (M7)", `[{"ID":"pizza","quantity":1,"ingredients":[{"ID":"i-small","quantity":0.5}]},{"ID":"burger","quantity":1,"ingredients":[{"ID":"i-hot","quantity":"1,0"},{"ID":"i-mild","quantity":{}}]}]`, []menutest.Broken{
			{"/dishList/0/ingredients/0/quantity", violation.QuantityNotWhole, `{"quantity":0.5}`},
			{"/dishList/1/ingredients/0/quantity", violation.DecimalComma, `{}`},
			{"/dishList/1/ingredients/1/quantity", violation.TypeMismatch, `{"got":"object","want":"number"}`},
		}},
		{"an ingredient above the limit (W15)", `[{"ID":"combo","quantity":1,"ingredients":[{"ID":"i-rice"},{"ID":"i-cola","quantity":1000001}]}]`, []menutest.Broken{
			{"/dishList/0/ingredients/1/quantity", violation.LimitExceeded, `{"limit":1000000}`},
		}},
		{"an ingredient at the limit (W15)", `[{"ID":"combo","quantity":1,"ingredients":[{"ID":"i-rice"},{"ID":"i-cola","quantity":1000000}]}]`, nil},
		{"ingredients of the wrong type", `[{"ID":"pizza","quantity":1,"ingredients":"none"},{"ID":"pizza","quantity":1,"ingredients":[1]}]`, []menutest.Broken{
			{"/dishList/0/ingredients", violation.TypeMismatch, `{"got":"string","want":"array"}`},
			{"/dishList/1/ingredients/0", violation.TypeMismatch, `{"got":"number","want":"object"}`},
		}},
		{"the ingredients of an unknown dish are only looked up in the menu", `[{"ID":"nope","quantity":1,"ingredients":[{"ID":"i-hot","quantity":9},{"ID":"zip"}]}]`, []menutest.Broken{
			{"/dishList/0", violation.DishNotInMenu, `{"id":"nope"}`},
			{"/dishList/0/ingredients/1", violation.IngredientNotInMenu, `{"id":"zip"}`},
		}},
	})
}

func TestIngredientsOfSeveralGroups(t *testing.T) {
	t.Parallel()
	list := "/dishList/0/ingredients"
	dish := func(ingredients string) string {
		return `[{"ID":"twin","quantity":1,"ingredients":[` + ingredients + `]}]`
	}
	runDishes(t, []dishCase{
		{"one of each", dish(`{"ID":"i-b"},{"ID":"i-c"}`), nil},
		{"not the greedy assignment (M4)", dish(`{"ID":"i-a"},{"ID":"i-b","quantity":2}`), nil},
		{"split between both", dish(`{"ID":"i-b","quantity":3}`), nil},
		{"too few: the later group is below its minimum", dish(`{"ID":"i-b"}`), []menutest.Broken{
			{list, violation.GroupMin, `{"count":0,"group":"g-two","max":2,"min":1,"name":"Two"}`},
		}},
		{"too many: the later group is above its maximum", dish(`{"ID":"i-b","quantity":5}`), []menutest.Broken{
			{list, violation.GroupMax, `{"count":4,"group":"g-two","max":2,"min":1,"name":"Two"}`},
		}},
		{"pinned (M4)", dish(`{"ID":"i-b","groupId":"g-one"},{"ID":"i-b","groupId":"g-two","quantity":2}`), nil},
		{"pinned against the limits", dish(`{"ID":"i-b","groupId":"g-two"},{"ID":"i-c"},{"ID":"i-c"},{"ID":"i-a"}`), []menutest.Broken{
			{list, violation.GroupMax, `{"count":3,"group":"g-two","max":2,"min":1,"name":"Two"}`},
		}},
		{"pinned to a group that the ingredient is not in", dish(`{"ID":"i-a","GroupID":"g-two"},{"ID":"i-c"}`), []menutest.Broken{
			{list + "/0/GroupID", violation.GroupPinInvalid, `{"groupId":"g-two"}`},
		}},
		{"pinned to no group of the scheme", dish(`{"ID":"i-a","groupId":"g-size"},{"ID":"i-c","groupId":"zip"}`), []menutest.Broken{
			{list + "/0/groupId", violation.GroupPinInvalid, `{"groupId":"g-size"}`},
			{list + "/1/groupId", violation.GroupPinInvalid, `{"groupId":"zip"}`},
		}},
	})
}

func TestNesting(t *testing.T) {
	t.Parallel()
	list := "/dishList/0/ingredients"
	dish := func(ingredients string) string {
		return `[{"ID":"combo","quantity":1,"ingredients":[{"ID":"i-cola"},` + ingredients + `]}]`
	}
	runDishes(t, []dishCase{
		{"nested (M5)", dish(`{"ID":"i-burger","ingredients":[{"ID":"i-hot"}]}`), nil},
		{"flat (M5)", dish(`{"ID":"i-burger"},{"ID":"i-hot"}`), nil},
		{"an empty nested list counts as none (W12)", dish(`{"ID":"i-burger","ingredients":[]},{"ID":"i-hot","ingredients":null}`), nil},
		{"nested quantities are for one unit of the parent", dish(`{"ID":"i-burger","quantity":2,"ingredients":[{"ID":"i-hot","quantity":3}]}`), []menutest.Broken{
			{list + "/1/ingredients", violation.GroupMax, `{"count":3,"group":"g-sauce","max":2,"min":1,"name":"Sauce","parent":{"id":"i-burger","name":"Small burger"}}`},
		}},
		{"flat limits are multiplied by the quantity", dish(`{"ID":"i-burger","quantity":2},{"ID":"i-hot","quantity":4}`), nil},
		{"flat, below the multiplied minimum", dish(`{"ID":"i-burger","quantity":2},{"ID":"i-hot"}`), []menutest.Broken{
			{list, violation.GroupMin, `{"count":1,"group":"g-sauce","max":4,"min":2,"name":"Sauce","parent":{"id":"i-burger","name":"Small burger"}}`},
		}},
		{"a nested group counts only if its ingredient is chosen", dish(`{"ID":"i-rice"},{"ID":"i-hot"}`), []menutest.Broken{
			{list + "/2", violation.IngredientNotAllowed, `{"dish":"combo","id":"i-hot"}`},
		}},
		{"two lines of one ingredient, each with its own ingredients", dish(`{"ID":"i-burger","ingredients":[{"ID":"i-hot"}]},{"ID":"i-burger","ingredients":[{"ID":"i-mild"}]}`), nil},
		{"one line nested, one flat", dish(`{"ID":"i-burger","ingredients":[{"ID":"i-hot"}]},{"ID":"i-burger"},{"ID":"i-mild","quantity":2}`), nil},
		{"one of two lines without its own ingredients", dish(`{"ID":"i-burger","ingredients":[{"ID":"i-hot"}]},{"ID":"i-burger"}`), []menutest.Broken{
			{list + "/2/ingredients", violation.GroupMin, `{"count":0,"group":"g-sauce","max":2,"min":1,"name":"Sauce","parent":{"id":"i-burger","name":"Small burger"}}`},
		}},
		{"an ingredient without modifiers", dish(`{"ID":"i-rice","ingredients":[{"ID":"i-hot"}]}`), []menutest.Broken{
			{list + "/1/ingredients", violation.DishTakesNoIngredients, `{}`},
		}},
		{"the ingredient's quantity is invalid", dish(`{"ID":"i-burger","quantity":1.5},{"ID":"i-hot","quantity":9}`), []menutest.Broken{
			{list + "/1/quantity", violation.QuantityNotWhole, `{"quantity":1.5}`},
		}},
		{"multiplied above the limit", dish(`{"ID":"i-burger","quantity":2000,"ingredients":[{"ID":"i-hot","quantity":2},{"ID":"nope","quantity":1000}]}`), []menutest.Broken{
			{list, violation.GroupMax, `{"count":2000,"group":"g-main","max":2,"min":1,"name":"Main"}`},
			{list + "/1/ingredients/1", violation.IngredientNotInMenu, `{"id":"nope"}`},
			{list + "/1/ingredients/1/quantity", violation.LimitExceeded, `{"limit":1000000}`},
		}},
		{"multiplied to the limit, and above it without its own quantity", dish(`{"ID":"i-burger","quantity":1000000,"ingredients":[{"ID":"i-hot"}]}`), []menutest.Broken{
			{list, violation.GroupMax, `{"count":1000000,"group":"g-main","max":2,"min":1,"name":"Main"}`},
		}},
		{"a cycle of schemes ends where it repeats", `[{"ID":"ring","quantity":1,"ingredients":[{"ID":"i-ring"}]}]`, nil},
		{"no ingredients below the end of a cycle", `[{"ID":"ring","quantity":1,"ingredients":[{"ID":"i-ring","ingredients":[{"ID":"i-ring"}]}]}]`, []menutest.Broken{
			{list + "/0/ingredients", violation.DishTakesNoIngredients, `{}`},
		}},
		{"too deep", `[{"ID":"ring","quantity":1,"ingredients":[` + strings.Repeat(`{"ID":"i-ring","ingredients":[`, 6) + `{"ID":"i-ring"}` + strings.Repeat(`]}`, 6) + `]}]`, []menutest.Broken{
			{list + "/0/ingredients", violation.DishTakesNoIngredients, `{}`},
			{list + "/0" + strings.Repeat("/ingredients/0", 1) + "/ingredients", violation.DishTakesNoIngredients, `{}`},
			{list + "/0" + strings.Repeat("/ingredients/0", 2) + "/ingredients", violation.DishTakesNoIngredients, `{}`},
			{list + "/0" + strings.Repeat("/ingredients/0", 3) + "/ingredients", violation.DishTakesNoIngredients, `{}`},
			{list + "/0" + strings.Repeat("/ingredients/0", 4) + "/ingredients", violation.DishTakesNoIngredients, `{}`},
			{list + "/0" + strings.Repeat("/ingredients/0", 5) + "/ingredients", violation.TooDeep, `{}`},
		}},
	})
}

func TestDepthLimit(t *testing.T) {
	t.Parallel()
	settings := menu.DefaultSettings()
	settings.MaxDepth = 1
	req := v1(t, menutest.Order(`[{"ID":"combo","quantity":1,"ingredients":[{"ID":"i-cola"},{"ID":"i-burger"}]}]`))
	req.Catalogue = menutest.Compile(t, menutest.Card, settings)
	want := []menutest.Broken{{"/dishList/0/ingredients/1", violation.TooDeep, `{}`}}
	got := brokenOf(t, check(t, validate.DefaultConfig(), req))
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("an ingredient whose groups are below the depth limit (-want +got):\n%s", diff)
	}
}

// An ingredient at the depth limit accepts the members of its own groups.
func TestAtTheDepthLimit(t *testing.T) {
	t.Parallel()
	settings := menu.DefaultSettings()
	settings.MaxDepth = 2
	for _, ingredients := range []string{
		`{"ID":"i-cola"},{"ID":"i-burger"},{"ID":"i-hot"}`, `{"ID":"i-cola"},{"ID":"i-burger","ingredients":[{"ID":"i-hot"}]}`,
	} {
		req := v1(t, menutest.Order(`[{"ID":"combo","quantity":1,"ingredients":[`+ingredients+`]}]`))
		req.Catalogue = menutest.Compile(t, menutest.Card, settings)
		if got := brokenOf(t, check(t, validate.DefaultConfig(), req)); len(got) != 0 {
			t.Errorf("%s: %v, want nothing", ingredients, got)
		}
	}
}

// Groups below the depth limit cause a violation only if they have a minimum.
func TestGroupsBelowTheDepthLimitWithoutAMinimum(t *testing.T) {
	t.Parallel()
	settings := menu.DefaultSettings()
	settings.MaxDepth = 1
	req := v1(t, menutest.Order(`[{"ID":"combo","quantity":1,"ingredients":[{"ID":"i-cola"},{"ID":"i-burger"}]}]`))
	req.Catalogue = menutest.Compile(t, strings.Replace(menutest.Card, `{"id":"s-main","ingredientsGroups":[{"id":"g-sauce","minCount":1,`,
		`{"id":"s-main","ingredientsGroups":[{"id":"g-sauce","minCount":0,`, 1), settings)
	if got := brokenOf(t, check(t, validate.DefaultConfig(), req)); len(got) != 0 {
		t.Errorf("an ingredient whose groups have no minimum: %v, want no violation", got)
	}
}

func TestLimits(t *testing.T) {
	t.Parallel()
	many := func(n int, element string) string {
		return "[" + strings.TrimSuffix(strings.Repeat(element+",", n), ",") + "]"
	}
	soup := `{"ID":"soup","quantity":1}`
	cola := `{"ID":"i-cola"}`
	rice := `{"ID":"i-rice","ingredients":` + many(60, cola) + `}`
	combo := func(list string) string { return fmt.Sprintf(`[{"ID":"combo","quantity":1,"ingredients":%s}]`, list) }
	runDishes(t, []dishCase{
		{"200 dishes", many(200, soup), nil},
		{"201 dishes", many(201, soup), []menutest.Broken{{"/dishList", violation.LimitExceeded, `{"limit":200}`}}},
		{"100 ingredients", combo("[" + `{"ID":"i-rice"},` + many(99, cola)[1:]), nil},
		{"101 ingredients", combo("[" + `{"ID":"i-rice"},` + many(100, cola)[1:]), []menutest.Broken{
			{"/dishList/0/ingredients", violation.LimitExceeded, `{"limit":100}`},
		}},
		{"101 nested", combo("[" + rice + "," + rice + "]"), []menutest.Broken{
			{"/dishList/0/ingredients", violation.LimitExceeded, `{"limit":100}`},
			{"/dishList/0/ingredients/0/ingredients", violation.DishTakesNoIngredients, `{}`},
			{"/dishList/0/ingredients/1/ingredients", violation.DishTakesNoIngredients, `{}`},
		}},
	})
}

// TestGroupLookupsAreBounded tests policy H1, also for ingredients that could be counted
// without a search.
func TestGroupLookupsAreBounded(t *testing.T) {
	t.Parallel()
	const many = 300
	list := func(n int, format string) string {
		all := make([]string, n)
		for i := range all {
			all[i] = fmt.Sprintf(format, i)
		}
		return "[" + strings.Join(all, ",") + "]"
	}
	members := list(many, `"i%d"`)
	req := v1(t, menutest.Order(list(200, `{"comment":"%d","ID":"p","quantity":1,"ingredients":`+list(100, `{"ID":"i%d"}`)+`}`)))
	req.Catalogue = menutest.Compile(t, `{"products":[{"id":"p","externalId":"p","price":1,"schemeId":"s"}],
		"ingredientsSchemes":[{"id":"s","ingredientsGroups":`+list(many, `{"id":"g%d"}`)+`}],
		"ingredientsGroups":`+list(many, `{"id":"g%d","ingredients":`+members+`}`)+`,"ingredients":`+list(many, `{"id":"i%d","price":1}`)+`}`,
		menu.DefaultSettings())
	got := check(t, validate.DefaultConfig(), req)
	if len(got.Violations) == 0 || got.Violations[0].Code != violation.LimitExceeded {
		t.Errorf("6,000,000 look-ups: %d violations, want limit_exceeded", len(got.Violations))
	}
}
