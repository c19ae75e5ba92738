package menu_test

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"larder.local/internal/menu"
	"larder.local/internal/testkit/viewtest"
)

// nestedMenu has a combo whose parts have modifiers, a group in two schemes, an ingredient
// in two groups, and a scheme that contains itself.
const nestedMenu = `{"name":"Test","categories":[
 {"id":"child","name":"Child","parentId":"root"},{"id":"root","name":"Root"},{"id":"lost","name":"Lost","parentId":"nowhere"},
 {"id":"x","name":"X","parentId":"y"},{"id":"y","name":"Y","parentId":"x"},{"id":"root","name":"Root again"}],
"products":[
 {"id":"combo","externalId":"100","categoryId":"root","name":"Combo","price":500,"schemeId":"s-combo"},
 {"id":"soup","externalId":"101","categoryId":"child","name":"Crème brûlée ЁЖИК","price":199.90,"schemeId":"s-soup","description":"warm"},
 {"id":"plain","externalId":"101","categoryId":"gone","name":"Plain","price":10,"isContainInStopList":["r2"]},
 {"id":"plain","externalId":"9","name":"Plain again","price":11},
 {"id":"loop","name":"Loop à l’ancienne","price":5,"schemeId":"s-loop"},
 {"id":"blocked","externalId":"7","name":"Blocked","price":5,"schemeId":"s-blocked"}],
"ingredientsSchemes":[
 {"id":"s-combo","ingredientsGroups":[{"id":"g-parts","minCount":1,"maxCount":1}]},
 {"id":"s-soup","ingredientsGroups":[{"id":"g-sauce","minCount":0,"maxCount":2},{"id":"g-extra","minCount":null,"maxCount":0},{"id":"g-none"}]},
 {"id":"s-part","ingredientsGroups":[{"id":"g-sauce","minCount":1,"maxCount":1}]},
 {"id":"s-loop","ingredientsGroups":[{"id":"g-loop","minCount":1,"maxCount":1}]},
 {"id":"s-blocked","ingredientsGroups":[{"id":"g-empty","minCount":1,"maxCount":1},{"id":"g-sauce","minCount":3,"maxCount":2}]},
 {"id":"s-soup","ingredientsGroups":[{"id":"g-sauce","minCount":5,"maxCount":6},{"id":"g-empty","minCount":0,"maxCount":1}]}],
"ingredientsGroups":[
 {"id":"g-sauce","name":"Sauce","ingredients":["garlic","gone","garlic"]},{"id":"g-extra","name":"Extra","ingredients":["garlic","bread"]},
 {"id":"g-parts","name":"Parts","ingredients":["part","bread"]},{"id":"g-loop","name":"Loop","ingredients":["again"]},
 {"id":"g-empty","name":"Empty"},{"id":"g-sauce","ingredients":["dill"]}],
"ingredients":[
 {"id":"garlic","externalId":"i1","name":"Garlic","price":10},{"id":"dill","externalId":"i2","name":"Dill","price":0,"disabled":true},
 {"id":"bread","externalId":"i3","name":"Bread","price":5.5},{"id":"part","externalId":"i4","name":"Part","price":0,"schemeId":"s-part"},
 {"id":"again","externalId":"i5","name":"Again","price":0,"schemeId":"s-loop"}]}`

func compile(t *testing.T, body string, restaurant menu.RestaurantID, s menu.Settings) *menu.Catalogue {
	t.Helper()
	return menu.Compile(decode(t, body), restaurant, s)
}

func TestCompileCleansReferences_W10(t *testing.T) {
	t.Parallel()
	c := compile(t, nestedMenu, "r1", menu.DefaultSettings())
	var categories []string
	for _, category := range c.Categories() {
		categories = append(categories, category.ID+"<"+category.ParentID)
	}
	if diff := cmp.Diff([]string{"root<", "child<root", "lost<", "x<", "y<x"}, categories); diff != "" {
		t.Errorf("categories (-want +got):\n%s", diff)
	}
	plain, ok := c.Products().ByID("plain")
	if !ok || c.Products().At(plain).Name() != "Plain" || c.CategoryID(plain) != "" {
		t.Errorf("plain = %+v, want the first definition without its unknown category", c.Products().At(plain))
	}
	if got := c.Products().ByExternalID("101"); len(got) != 2 {
		t.Errorf("owners of externalId 101 = %v, want two", got)
	}
	sauce, _ := c.GroupByID("g-sauce")
	var members []string
	for _, i := range c.Members(sauce) {
		members = append(members, c.Ingredients().At(i).ID())
	}
	if diff := cmp.Diff([]string{"garlic", "dill"}, members); diff != "" {
		t.Errorf("merged members (-want +got):\n%s", diff)
	}
	garlic, _ := c.Ingredients().ByID("garlic")
	var groups []string
	for _, g := range c.GroupsOf(garlic) {
		groups = append(groups, c.Groups()[g].ID)
	}
	if diff := cmp.Diff([]string{"g-sauce", "g-extra"}, groups); diff != "" {
		t.Errorf("groups of garlic (-want +got):\n%s", diff)
	}
	soup, _ := c.SchemeByID("s-soup")
	empty, _ := c.GroupByID("g-empty")
	extra, _ := c.GroupByID("g-extra")
	want := []menu.Limit{{Group: sauce, Min: 0, Max: 2}, {Group: extra, Min: 0, Max: menu.Unlimited}, {Group: empty, Min: 0, Max: 1}}
	if diff := cmp.Diff(want, c.Limits(soup)); diff != "" {
		t.Errorf("limits of s-soup (-want +got):\n%s", diff)
	}
	if i := c.Ingredients().ByExternalID("i4"); len(i) != 1 || c.IngredientScheme(i[0]) == menu.None {
		t.Errorf("the composed ingredient i4 = %v has no scheme", i)
	}
}

// manyCategories has dishes that are defined in several categories; for one dish, the first
// category does not exist (policy W9).
const manyCategories = `{"categories":[{"id":"all","name":"All"},{"id":"hot","name":"Hot","parentId":"all"},{"id":"new","name":"New"}],
"products":[{"id":"soup","name":"Soup","price":1,"categoryId":"gone"},{"id":"tea","name":"Tea","price":2,"categoryId":"hot"},
 {"id":"soup","name":"Soup again","price":9,"categoryId":"hot","schemeId":"nowhere"},{"id":"soup","name":"Soup","price":1,"categoryId":"new"},
 {"id":"soup","name":"Soup","price":1,"categoryId":"hot"},{"id":"loose","name":"Loose","price":3}]}`

func TestADishIsInEveryCategoryOfItsDefinitions(t *testing.T) {
	t.Parallel()
	c := compile(t, manyCategories, "r1", menu.DefaultSettings())
	for id, want := range map[string]string{
		"soup":  `"categoryId":"hot","categoryIds":["hot","new"],"name":"Soup"`,
		"tea":   `"categoryId":"hot","categoryIds":["hot"],`,
		"loose": `"categoryId":null,"categoryIds":[],`,
	} {
		p, _ := c.Products().ByID(id)
		if got := string(c.AppendProductEntry(nil, p)); !strings.Contains(got, want) {
			t.Errorf("%s: got %s, want %s", id, got, want)
		}
	}
	for category, want := range map[string][]string{"all": {"soup", "tea"}, "hot": {"soup", "tea"}, "new": {"soup"}, "gone": nil} {
		hits, _ := c.Search(menu.Query{Category: category, After: menu.None})
		var got []string
		for _, p := range hits {
			got = append(got, c.Products().At(p).ID())
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("dishes in %s (-want +got):\n%s", category, diff)
		}
	}
}

func TestOrderableReasons(t *testing.T) {
	t.Parallel()
	strict := menu.DefaultSettings()
	strict.RefuseMissingExternalID = true
	strict.MaxZeroNone = true
	for name, c := range map[string]struct {
		product    string
		restaurant menu.RestaurantID
		settings   menu.Settings
		want       []menu.Reason
	}{
		"a combo with required modifiers":    {"combo", "r1", menu.DefaultSettings(), nil},
		"stopped in this restaurant (W7)":    {"plain", "r2", menu.DefaultSettings(), []menu.Reason{{Code: menu.ReasonStopped}}},
		"stopped in another restaurant (W7)": {"plain", "r1", menu.DefaultSettings(), nil},
		"any stop-list entry stops (W7)":     {"plain", "r1", menu.Settings{StopListAnyValue: true}, []menu.Reason{{Code: menu.ReasonStopped}}},
		"no external id, as fallback":        {"loop", "r1", menu.DefaultSettings(), nil},
		"no external id, refused":            {"loop", "r1", strict, []menu.Reason{{Code: menu.ReasonNoExternalID}}},
		"groups that cannot be satisfied":    {"blocked", "r1", menu.DefaultSettings(), []menu.Reason{{Code: menu.ReasonGroupUnsatisfiable, Group: "g-empty"}, {Code: menu.ReasonGroupUnsatisfiable, Group: "g-sauce"}}},
		"a maximum of 0 allows nothing":      {"soup", "r1", strict, nil},
		"a scheme that contains itself":      {"loop", "r1", menu.DefaultSettings(), nil},
		"a depth limit of one level":         {"combo", "r1", menu.Settings{MaxDepth: 1}, nil},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			cat := compile(t, nestedMenu, c.restaurant, c.settings)
			p, ok := cat.Products().ByID(c.product)
			if !ok {
				t.Fatalf("no dish %s", c.product)
			}
			if diff := cmp.Diff(c.want, cat.Reasons(p)); diff != "" {
				t.Errorf("reasons (-want +got):\n%s", diff)
			}
			if cat.Orderable(p) != (len(c.want) == 0) {
				t.Errorf("orderable = %v with reasons %v", cat.Orderable(p), c.want)
			}
		})
	}
}

// An invalid price is null in all output, with the reason (policy W9a); options have reasons as dishes do. The price of an
// option may be negative (policy W9b).
func TestAnInvalidPriceIsNull_W9a(t *testing.T) {
	t.Parallel()
	const invalid = `"orderable":false,"reasons":[{"code":"price_invalid"}]`
	for price, want := range map[string][2]string{ // of the dish, and of the option
		``:                {`"price":null`, `"price":0`},
		`,"price":0`:      {`"price":0`, `"price":0`},
		`,"price":null`:   {`"price":null`, `"price":null`},
		`,"price":""`:     {`"price":null`, `"price":null`},
		`,"price":-0.01`:  {`"price":null`, `"price":-0.01`},
		`,"price":"1,50"`: {`"price":null`, `"price":null`},
		`,"price":"much"`: {`"price":null`, `"price":null`},
		`,"price":[1]`:    {`"price":null`, `"price":null`},
	} {
		c := compile(t, `{"products":[{"id":"d","externalId":"1","schemeId":"s"`+price+`}],
			"ingredientsSchemes":[{"id":"s","ingredientsGroups":[{"id":"g","minCount":0}]},{"id":"t","ingredientsGroups":[{"id":"g","minCount":1}]}],
			"ingredientsGroups":[{"id":"g","ingredients":["i"]}],
			"ingredients":[{"id":"i","externalId":"2"`+price+`},{"id":"j","externalId":"3","schemeId":"t"},{"id":"k","externalId":"4","disabled":true}]}`,
			"r1", menu.DefaultSettings())
		form := string(c.AppendProduct(nil, 0, 1))
		dish, option, _ := strings.Cut(form, `"groups":`)
		if !strings.Contains(dish, want[0]) || strings.Contains(want[0], "null") != strings.Contains(dish, invalid) {
			t.Errorf("%q: dish %s, want %s", price, dish, want[0])
		}
		if !strings.Contains(option, want[1]) || strings.Contains(want[1], "null") != strings.Contains(option, invalid) ||
			!strings.Contains(option, `"available":true`) {
			t.Errorf("%q: option %s, want %s", price, option, want[1])
		}
		_, ingredients, _ := strings.Cut(string(c.AppendMenu(nil, menu.Head{})), `"ingredients":`)
		composed := `"id":"j","externalId":"3","name":"","price":0,"description":"","imageUrls":[],"measure":null,"schemeId":"t","available":true,"orderable":true,"reasons":[]`
		if strings.Contains(want[1], "null") { // its group has no other option
			composed = `"available":true,"orderable":false,"reasons":[{"code":"group_unsatisfiable","group":"g"}]`
		}
		for _, part := range []string{want[1], composed, `"available":false,"orderable":false,"reasons":[{"code":"stopped"}]`} {
			if !strings.Contains(ingredients, part) {
				t.Errorf("%q: ingredients %s, want %s", price, ingredients, part)
			}
		}
	}
}

func TestAStoppedIngredientBlocksRequiredGroups(t *testing.T) {
	t.Parallel()
	v := decode(t, nestedMenu)
	content := menu.CompileContent(v, menu.DefaultSettings())
	cat := content.WithStops(menu.Stops{Ingredients: []string{"bread", "garlic", "unheard of"}})
	combo, _ := cat.Products().ByID("combo")
	if !cat.Orderable(combo) {
		t.Errorf("reasons = %v, although dill is still available", cat.Reasons(combo))
	}
	cat = content.WithStops(menu.Stops{Ingredients: []string{"bread", "dill", "garlic"}})
	if diff := cmp.Diff([]menu.Reason{{Code: menu.ReasonGroupUnsatisfiable, Group: "g-parts"}}, cat.Reasons(combo)); diff != "" {
		t.Errorf("an ingredient whose group cannot be satisfied (-want +got):\n%s", diff)
	}
	if got, want := cat.Counts(), (menu.Counts{
		Categories: 5,
		Products:   5,
		Available:  5,
		Orderable:  3,
	}); got != want {
		t.Errorf("counts = %+v, want %+v", got, want)
	}
}

func TestStopsFollowTheFirstDefinition(t *testing.T) {
	t.Parallel()
	v := decode(t, `{"products":[{"id":"a","price":1},{"id":"a","price":1,"isContainInStopList":["r"]},{"id":"c","price":1,"isContainInStopList":true},{"id":"b","price":1,"isContainInStopList":["r","q"]}]}`)
	want := menu.Stops{Products: []string{"b", "c"}}
	if got := v.Stops("r", menu.DefaultSettings()); !got.Equal(want) {
		t.Errorf("stops = %+v, want %+v", got, want)
	}
}

func TestStorefrontMenu(t *testing.T) {
	t.Parallel()
	cat := compile(t, nestedMenu, "r2", menu.DefaultSettings())
	at := time.Date(2026, 3, 4, 5, 6, 7, 89_000_000, time.FixedZone("", 3600))
	out := cat.AppendMenu(nil, menu.Head{
		Restaurant:     "r2",
		RestaurantName: "Две\nстроки",
		Version:        42,
		SyncedAt:       at,
	})
	var got struct {
		Result struct {
			Restaurant struct{ ID, Name string }
			Version    int
			SyncedAt   string
			Products   []struct {
				ID        string
				Price     json.Number
				Available bool
				Orderable bool
				SchemeID  *string
			}
			Schemes []struct {
				ID     string
				Groups []struct {
					ID       string
					Min, Max *int
					Options  []string
				}
			}
			Ingredients []struct {
				ID        string
				Available bool
			}
		}
	}
	if err := json.Unmarshal(out, &got); err != nil {
		t.Fatalf("%v in %s", err, out)
	}
	r := got.Result
	if r.Restaurant.Name != "Две\nстроки" || r.Version != 42 || r.SyncedAt != "2026-03-04T04:06:07.089Z" {
		t.Errorf("head = %+v", r)
	}
	if p := r.Products[1]; p.Price != "199.9" || *p.SchemeID != "s-soup" || !p.Available {
		t.Errorf("soup = %+v", p)
	}
	if p := r.Products[2]; p.Available || p.Orderable || p.SchemeID != nil {
		t.Errorf("plain = %+v, want stopped and without a scheme", p)
	}
	if g := r.Schemes[1].Groups[1]; g.Max != nil || *g.Min != 0 || !slices.Equal(g.Options, []string{"garlic", "bread"}) {
		t.Errorf("g-extra of s-soup = %+v, want no maximum", g)
	}
	if i := r.Ingredients[1]; i.Available {
		t.Errorf("dill is disabled, got %+v", i)
	}
}

func TestAppendProductResolvesNesting(t *testing.T) {
	t.Parallel()
	cat := compile(t, nestedMenu, "r1", menu.DefaultSettings())
	type option struct {
		ID     string
		Groups []struct {
			ID      string
			Options []json.RawMessage
		}
	}
	var got struct {
		Result struct {
			Version int
			ID      string
			Groups  []struct {
				ID       string
				Min, Max *int
				Options  []option
			}
		}
	}
	combo, _ := cat.Products().ByID("combo")
	out := cat.AppendProduct(nil, combo, 7)
	if err := json.Unmarshal(out, &got); err != nil {
		t.Fatalf("%v in %s", err, out)
	}
	part := got.Result.Groups[0].Options[0]
	if got.Result.Version != 7 || part.ID != "part" || part.Groups[0].ID != "g-sauce" || len(part.Groups[0].Options) != 2 {
		t.Errorf("combo = %s", out)
	}
	loop, _ := cat.Products().ByID("loop")
	if out := string(cat.AppendProduct(nil, loop, 7)); strings.Count(out, `"g-loop"`) != 1 {
		t.Errorf("a scheme that contains itself is nested without end: %s", out)
	}
}

func TestDeepNestingIsTruncated(t *testing.T) {
	t.Parallel()
	// Six schemes of twenty options, and each option contains the next scheme: 64 million.
	var b strings.Builder
	b.WriteString(`{"products":[{"id":"p","price":1,"schemeId":"s0"}],"ingredientsSchemes":[`)
	var groups, ingredients []string
	for level := range 6 {
		s := string(rune('0' + level))
		if level > 0 {
			b.WriteByte(',')
		}
		b.WriteString(`{"id":"s` + s + `","ingredientsGroups":[{"id":"g` + s + `"}]}`)
		var members []string
		for k := range 20 {
			id := "i" + s + "-" + string(rune('a'+k))
			members = append(members, `"`+id+`"`)
			ingredients = append(ingredients, `{"id":"`+id+`","price":0,"schemeId":"s`+string(rune('0'+level+1))+`"}`)
		}
		groups = append(groups, `{"id":"g`+s+`","ingredients":[`+strings.Join(members, ",")+`]}`)
	}
	b.WriteString(`],"ingredientsGroups":[` + strings.Join(groups, ",") + `],"ingredients":[` + strings.Join(ingredients, ",") + `]}`)
	cat := compile(t, b.String(), "r", menu.DefaultSettings())
	out := cat.AppendProduct(nil, 0, 1)
	if !json.Valid(out) || !strings.HasSuffix(string(out), `,"truncated":true}}`) || len(out) > 8<<20 {
		t.Errorf("the output of %d bytes is not truncated", len(out))
	}
}

func TestSearch(t *testing.T) {
	t.Parallel()
	cat := compile(t, nestedMenu, "r2", menu.DefaultSettings())
	for name, c := range map[string]struct {
		q    menu.Query
		want []string
	}{
		"all":                             {menu.Query{After: menu.None}, []string{"combo", "soup", "plain", "loop", "blocked"}},
		"case and accents are ignored":    {menu.Query{After: menu.None, Text: "CREME brulee"}, []string{"soup"}},
		"accents in Cyrillic are ignored": {menu.Query{After: menu.None, Text: "ежик"}, []string{"soup"}},
		"all words must occur":            {menu.Query{After: menu.None, Text: "creme combo"}, nil},
		"the type of quote is ignored":    {menu.Query{After: menu.None, Text: "l'ancienne"}, []string{"loop"}},
		"a repeated word":                 {menu.Query{After: menu.None, Text: strings.Repeat("warm ", 30) + "cold"}, nil},
		"only eight words are used":       {menu.Query{After: menu.None, Text: "w a r m wa ar rm warm nowhere"}, []string{"soup"}},
		"a word of the description":       {menu.Query{After: menu.None, Text: "warm"}, []string{"soup"}},
		"a category with a subcategory":   {menu.Query{After: menu.None, Category: "root"}, []string{"combo", "soup"}},
		"the name of a parent category":   {menu.Query{After: menu.None, Text: "root child"}, []string{"soup"}},
		"the name of an option":           {menu.Query{After: menu.None, Text: "bread"}, []string{"combo", "soup"}},
		"an option of an ingredient":      {menu.Query{After: menu.None, Text: "garlic combo"}, []string{"combo"}},
		"only punctuation":                {menu.Query{After: menu.None, Text: "…!"}, nil},
		"only white space":                {menu.Query{After: menu.None, Text: " "}, []string{"combo", "soup", "plain", "loop", "blocked"}},
		"an unknown category":             {menu.Query{After: menu.None, Category: "gone"}, nil},
		"available only":                  {menu.Query{After: menu.None, AvailableOnly: true, Text: "plain"}, nil},
		"after a dish":                    {menu.Query{After: 2}, []string{"loop", "blocked"}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			hits, next := cat.Search(c.q)
			var got []string
			for _, p := range hits {
				got = append(got, cat.Products().At(p).ID())
			}
			if diff := cmp.Diff(c.want, got); diff != "" || next != menu.None {
				t.Errorf("hits (-want +got), next %d:\n%s", next, diff)
			}
		})
	}
	hits, next := cat.Search(menu.Query{After: menu.None, Limit: 2})
	if len(hits) != 2 || next != 1 {
		t.Errorf("a page of two = %v, next %d; want next 1", hits, next)
	}
	hits, next = cat.Search(menu.Query{After: next, Limit: 3})
	if len(hits) != 3 || next != menu.None {
		t.Errorf("the last page = %v, next %d", hits, next)
	}
}

func TestContentHashDependsOnSettingsAndNotOnStops(t *testing.T) {
	t.Parallel()
	a := published(t, `{"products":[{"id":"p","price":1,"isContainInStopList":["r"]}]}`).Content
	b := published(t, ` {"result":{"products":[{"price":1,"id":"\u0070","disabled": false}]}}`).Content
	s := menu.DefaultSettings()
	one := menu.ContentHash(a, s)
	if two := menu.ContentHash(b, s); one != two {
		t.Errorf("the same content has two hashes: %s %s", one, two)
	}
	if zero := menu.ContentHash(a, menu.Settings{}); zero != one {
		t.Errorf("the explicit default depth has another hash")
	}
	s.MaxZeroNone = true
	if other := menu.ContentHash(a, s); other == one {
		t.Error("other settings have the same hash")
	}
	if s.MaxDepth = 3; compile(t, nestedMenu, "r", s).Settings() != s {
		t.Error("the catalogue has other settings")
	}
}

// TestMaxZeroAppliesOnlyToZero tests policy M2. An invalid count means no limit, even if 0
// means that nothing is allowed.
func TestMaxZeroAppliesOnlyToZero(t *testing.T) {
	t.Parallel()
	none := menu.DefaultSettings()
	none.MaxZeroNone = true
	for fields, want := range map[string]int{
		`"maxCount":0`: 0, `"maxCount":2`: 2, `"minCount":0`: menu.Unlimited, `"maxCount":null`: menu.Unlimited,
		`"maxCount":-1`: menu.Unlimited, `"maxCount":2147483647`: menu.Unlimited, `"maxCount":"1,5"`: menu.Unlimited,
		`"maxCount":{}`: menu.Unlimited,
	} {
		t.Run(fields, func(t *testing.T) {
			t.Parallel()
			v := decode(t, `{"ingredientsSchemes":[{"id":"s","ingredientsGroups":[{"id":"g",`+fields+`}]}],"ingredientsGroups":[{"id":"g"}]}`)
			for _, view := range []*menu.View{v, decode(t, string(viewtest.Encode(v)))} {
				if got := menu.CompileContent(view, none).Limits(0)[0].Max; got != want {
					t.Errorf("%s under max_zero none: maximum %d, want %d", fields, got, want)
				}
			}
		})
	}
}

// TestAMissingExternalIDIsNotOrderable tests policies O2 and M9.
func TestAMissingExternalIDIsNotOrderable(t *testing.T) {
	t.Parallel()
	refuse := menu.DefaultSettings()
	refuse.RefuseMissingExternalID = true
	c := menu.Compile(decode(t, `{"products":[{"id":"p","externalId":"e","price":1,"schemeId":"s"}],
		"ingredientsSchemes":[{"id":"s","ingredientsGroups":[{"id":"g","minCount":1}]}],
		"ingredientsGroups":[{"id":"g","ingredients":["i"]}],"ingredients":[{"id":"i","price":1}]}`), "r1", refuse)
	if c.IngredientOrderable(0) || c.Orderable(0) {
		t.Errorf("ingredient orderable %v, dish orderable %v; want neither", c.IngredientOrderable(0), c.Orderable(0))
	}
}

func TestAnIDThatIsAnotherExternalIDIsNotOrderable(t *testing.T) {
	t.Parallel()
	const body = `{"products":[{"id":"1001","name":"Water","price":1},{"id":"steak","externalId":"1001","name":"Steak","price":30},
		{"id":"tea","name":"Tea","price":2}],"ingredients":[{"id":"7","name":"Ice","price":0},{"id":"lemon","externalId":"7","name":"Lemon","price":0}]}`
	cat := compile(t, body, "r", menu.DefaultSettings())
	for p, want := range map[string]bool{"1001": false, "steak": true, "tea": true} {
		if i, _ := cat.Products().ByID(p); cat.Orderable(i) != want {
			t.Errorf("orderable(%s) = %v with reasons %v, want %v", p, !want, cat.Reasons(i), want)
		}
	}
	if ice, _ := cat.Ingredients().ByID("7"); cat.IngredientOrderable(ice) {
		t.Error("an ingredient whose id is the externalId of another one can be chosen")
	}
	taken := func(body string) (got []string) {
		for _, f := range menu.Lint(decode(t, body), "r", menu.DefaultSettings()) {
			if f.Code == menu.LintExternalIDTaken {
				got = append(got, fmt.Sprint(f.Severity, ": ", f.IDs["product"], f.IDs["ingredient"], ">", f.IDs["other"]))
			}
		}
		return got
	}
	if diff := cmp.Diff([]string{"error: 1001>steak", "error: 7>lemon"}, taken(body)); diff != "" {
		t.Errorf("findings (-want +got):\n%s", diff)
	}
	named := strings.NewReplacer(`"name":"Water"`, `"externalId":"w","name":"Water"`, `"name":"Ice"`, `"externalId":"i","name":"Ice"`).Replace(body)
	if diff := cmp.Diff([]string{"warning: 1001>steak", "warning: 7>lemon"}, taken(named)); diff != "" {
		t.Errorf("findings if they have an externalId of their own (-want +got):\n%s", diff)
	}
}
