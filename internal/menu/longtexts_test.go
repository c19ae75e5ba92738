package menu_test

import (
	"fmt"
	"runtime"
	"strconv"
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

// The index of the search stays small if descriptions have millions of distinct words. All dishes are found by their names,
// and the first ones by the first words of their descriptions. The test is not parallel, because it measures allocations.
//
//nolint:paralleltest // it measures the whole process
func TestSearchIndexStaysSmall_W15(t *testing.T) {
	const dishes = 700
	view, number := &menu.View{}, 1_000_000
	for i := range dishes {
		text := fmt.Appendf(nil, "first%d ", i)
		for len(text) < 19_980 {
			number++
			text = append(strconv.AppendInt(text, int64(number), 36), ' ')
		}
		view.Products = append(view.Products, menu.Product{ID: strconv.Itoa(i), Name: fmt.Sprintf("Dish%d", i), Description: string(fmt.Appendf(text, "last%d", i))})
	}
	c := menu.Compile(view, "r", menu.DefaultSettings())
	found := func(text string) int {
		hits, _ := c.Search(menu.Query{Text: text, After: menu.None})
		return len(hits)
	}
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	hits := found("dish699")
	runtime.ReadMemStats(&after)
	if allocated := (after.TotalAlloc - before.TotalAlloc) >> 20; hits != 1 || allocated > 64 {
		t.Errorf("%d dishes were found by name; the first search allocated %d MiB", hits, allocated)
	}
	for text, want := range map[string]int{"first0": 1, "dish0 first0": 1, "last0": 0, "first699": 0} {
		if got := found(text); got != want {
			t.Errorf("%q finds %d dishes, want %d", text, got, want)
		}
	}
}
