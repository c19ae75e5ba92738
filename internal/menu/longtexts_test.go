package menu_test

import (
	"fmt"
	"strings"
	"testing"

	"larder.local/internal/menu"
)

// A small menu of long or nested texts does not make large messages, dishes or prices.
func TestSmallMenusOfLongTextsStaySmall_W15(t *testing.T) {
	t.Parallel()
	decoded := func(body string) *menu.View {
		t.Helper()
		view, err := menu.Decode([]byte(body))
		if err != nil {
			t.Fatal(err)
		}
		return view
	}
	compiled := func(body string) *menu.Catalogue { return menu.Compile(decoded(body), "r", menu.DefaultSettings()) }

	long := strings.Repeat("é", 20_000)
	unknown := make([]string, 5_000)
	for i := range unknown {
		unknown[i] = fmt.Sprintf("%q", fmt.Sprint("gone", i))
	}
	lint := menu.Lint(decoded(`{"products":[{"id":"p","name":"`+long+`","price":1,"schemeId":"s"}],"ingredientsSchemes":[{"id":"s","ingredientsGroups":[{"id":"g"}]}],
		"ingredientsGroups":[{"id":"g","name":"`+long+`","ingredients":[`+strings.Join(unknown, ",")+`]}],"ingredients":[]}`), "r", menu.DefaultSettings())
	if len(lint) < 5_000 {
		t.Errorf("%d findings", len(lint))
	}
	for _, one := range lint {
		if len(one.Msg) > 1_010 {
			t.Fatalf("a message of %d bytes: %s", len(one.Msg), one.Msg[:100])
		}
	}

	// Six levels of ten options: 10,000 on the fifth level with 10 KB each.
	var schemes, groups, ingredients []string
	for level := range 6 {
		schemes = append(schemes, fmt.Sprintf(`{"id":"s%d","ingredientsGroups":[{"id":"g%d","minCount":1,"maxCount":1}]}`, level, level))
		members := make([]string, 10)
		for i := range members {
			id := fmt.Sprintf("i%d-%d", level, i)
			members[i] = fmt.Sprintf("%q", id)
			ingredients = append(ingredients, fmt.Sprintf(`{"id":%q,"price":1,"schemeId":"s%d","description":%q}`, id, level+1, strings.Repeat("d", 10_000)))
		}
		groups = append(groups, fmt.Sprintf(`{"id":"g%d","ingredients":[%s]}`, level, strings.Join(members, ",")))
	}
	nested := compiled(`{"products":[{"id":"p","price":1,"schemeId":"s0"}],"ingredientsSchemes":[` + strings.Join(schemes, ",") +
		`],"ingredientsGroups":[` + strings.Join(groups, ",") + `],"ingredients":[` + strings.Join(ingredients, ",") + `]}`)
	if size := len(nested.AppendProduct(nil, 0, 1)); size > 25_000_000 {
		t.Errorf("one dish of %d bytes", size)
	}

	// A chain of schemes that need a million options each.
	schemes, groups, ingredients = nil, nil, nil
	for level := range 2_000 {
		schemes = append(schemes, fmt.Sprintf(`{"id":"s%d","ingredientsGroups":[{"id":"g%d","minCount":1000000}]}`, level, level))
		groups = append(groups, fmt.Sprintf(`{"id":"g%d","ingredients":["i%d"]}`, level, level))
		ingredients = append(ingredients, fmt.Sprintf(`{"id":"i%d","price":3,"schemeId":"s%d"}`, level, level+1))
	}
	chain := compiled(`{"products":[{"id":"p","price":1,"schemeId":"s0"}],"ingredientsSchemes":[` + strings.Join(schemes, ",") +
		`],"ingredientsGroups":[` + strings.Join(groups, ",") + `],"ingredients":[` + strings.Join(ingredients, ",") + `]}`)
	if price, _ := chain.LeastPrice()(0); len(price.Decimal().String()) > 60 {
		t.Errorf("a price of %d digits", len(price.Decimal().String()))
	}
}
