package menu_test

import (
	"fmt"
	"strings"
	"testing"

	"larder.local/internal/menu"
)

// Policy S4: the lowest price of a dish is its own and that of the cheapest options that must be chosen.
func TestLeastPrice_S4(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		schemes, want string // want is empty if there is no lowest price
	}{
		"no groups":                       {`{"id":"s"}`, "10"},
		"a required group":                {`{"id":"s","ingredientsGroups":[{"id":"sizes","minCount":1}]}`, "13"},
		"the minimum is 3":                {`{"id":"s","ingredientsGroups":[{"id":"sizes","minCount":3,"maxCount":5}]}`, "19"},
		"an optional group":               {`{"id":"s","ingredientsGroups":[{"id":"sizes","minCount":0,"maxCount":5}]}`, "10"},
		"two groups that share an option": {`{"id":"s","ingredientsGroups":[{"id":"sizes","minCount":1},{"id":"shared","minCount":2}]}`, "19"},
		"an option has a negative price":  {`{"id":"s","ingredientsGroups":[{"id":"less","minCount":2}]}`, "-2.5"},
		"an option has no valid price":    {`{"id":"s","ingredientsGroups":[{"id":"broken","minCount":1}]}`, "17"},
		"no option has a valid price":     {`{"id":"s","ingredientsGroups":[{"id":"all broken","minCount":1}]}`, ""},
		"no options":                      {`{"id":"s","ingredientsGroups":[{"id":"none","minCount":1}]}`, ""},
		"an option has options, twice":    {`{"id":"s","ingredientsGroups":[{"id":"combo","minCount":2}]},{"id":"in","ingredientsGroups":[{"id":"sizes","minCount":2}]}`, "24"},
		"a scheme contains itself":        {`{"id":"s","ingredientsGroups":[{"id":"cycle","minCount":2}]}`, "12"},
		"two schemes contain each other":  {`{"id":"s","ingredientsGroups":[{"id":"combo","minCount":1}]},{"id":"in","ingredientsGroups":[{"id":"cycle","minCount":1}]}`, "12"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			group := func(id string, members ...string) string {
				return fmt.Sprintf(`{"id":%q,"ingredients":["%s"]}`, id, strings.Join(members, `","`))
			}
			view, err := menu.Decode([]byte(`{"result":{"products":[{"id":"d","price":10,"schemeId":"s"},{"id":"plain","price":4},{"id":"no price","price":null}],
				"ingredientsSchemes":[` + c.schemes + `],"ingredientsGroups":[` + strings.Join([]string{
				group("sizes", "big", "small"), group("shared", "small"), group("less", "big", "less"), group("broken", "broken", "7"),
				group("all broken", "broken"), group("none"), group("combo", "combo"), group("cycle", "cycle"),
			}, ",") + `],"ingredients":[{"id":"big","price":5},{"id":"small","price":3},{"id":"less","price":-6.25},{"id":"broken","price":"?"},
				{"id":"7","price":7},{"id":"combo","price":1,"schemeId":"in"},{"id":"cycle","price":1,"schemeId":"s"}]}}`))
			if err != nil {
				t.Fatal(err)
			}
			least := menu.Compile(view, "r", menu.DefaultSettings()).LeastPrice()
			got := ""
			if price, ok := least(0); ok {
				got = price.Decimal().String()
			}
			if got != c.want {
				t.Errorf("lowest price %q, want %q", got, c.want)
			}
			if price, ok := least(1); !ok || price.Decimal().String() != "4" {
				t.Errorf("without a scheme: %v %v, want 4", price, ok)
			}
			if _, ok := least(2); ok {
				t.Error("a dish without a price has a lowest price")
			}
		})
	}
}
