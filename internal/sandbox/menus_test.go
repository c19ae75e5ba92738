package sandbox_test

import (
	"bytes"
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"regexp"
	"strings"
	"testing"
	"unicode"

	"larder.local/internal/sandbox"
	"larder.local/internal/testkit/clitest"
	"larder.local/internal/testkit/menutest"
)

// shared reports for every scheme whether an ingredient is in several of its
// groups.
func (v view) shared() map[string]bool {
	members := map[string][]string{}
	for _, g := range v.Groups {
		members[g.ID] = g.Ingredients
	}
	out := map[string]bool{}
	for _, s := range v.Schemes {
		seen := map[string]bool{}
		out[s.ID] = false
		for _, g := range s.Groups {
			for _, id := range members[g.ID] {
				if seen[id] {
					out[s.ID] = true
				}
				seen[id] = true
			}
		}
	}
	return out
}

// check asserts the properties of every menu of the sandbox: ids are unique and
// resolve, externalIds differ from ids, and required groups can be satisfied.
func (v view) check(t *testing.T) {
	t.Helper()
	categories, items, groups, schemes := map[string]bool{}, map[string]bool{}, map[string]int{}, map[string]bool{}
	for _, c := range v.Categories {
		categories[c.ID] = true
	}
	for _, g := range v.Groups {
		groups[g.ID] = len(g.Ingredients)
	}
	for _, s := range v.Schemes {
		schemes[s.ID] = true
		for _, g := range s.Groups {
			if groups[g.ID] == 0 || g.MinCount < 0 || (g.MaxCount != 0 && g.MaxCount < g.MinCount) {
				t.Errorf("scheme %s, group %s: %d members, %d to %d", s.ID, g.ID, groups[g.ID], g.MinCount, g.MaxCount)
			}
		}
	}
	ingredients := map[string]bool{}
	for _, p := range v.Ingredients {
		ingredients[p.ID] = true
	}
	for i, p := range append(append([]product{}, v.Products...), v.Ingredients...) {
		if items[p.ID] || p.ID == "" || p.ExternalID == "" || p.ExternalID == p.ID || p.Name == "" {
			t.Errorf("item %d: id %q, externalId %q, name %q", i, p.ID, p.ExternalID, p.Name)
		}
		if p.SchemeID != "" && !schemes[p.SchemeID] {
			t.Errorf("%s: scheme %s is missing", p.ID, p.SchemeID)
		}
		items[p.ID] = true
	}
	for _, p := range v.Products {
		if !categories[p.CategoryID] || p.Price == "0" || p.Price == "" || p.Calories == nil || len(p.ImageURLs) == 0 {
			t.Errorf("dish %s: category %q, price %q, images %v", p.ID, p.CategoryID, p.Price, p.ImageURLs)
		}
	}
	for _, g := range v.Groups {
		for _, id := range g.Ingredients {
			if !ingredients[id] {
				t.Errorf("group %s: ingredient %s is missing", g.ID, id)
			}
		}
	}
}

// limits returns the number of groups that several schemes use, and of those
// with different limits.
func (v view) limits() (shared, differ int) {
	seen := map[string]map[[2]int]bool{}
	uses := map[string]int{}
	for _, s := range v.Schemes {
		for _, g := range s.Groups {
			if seen[g.ID] == nil {
				seen[g.ID] = map[[2]int]bool{}
			}
			seen[g.ID][[2]int{g.MinCount, g.MaxCount}] = true
			uses[g.ID]++
		}
	}
	for id, n := range uses {
		if n > 1 {
			shared++
			if len(seen[id]) > 1 {
				differ++
			}
		}
	}
	return shared, differ
}

func TestBistroShowsEveryFeature(t *testing.T) {
	t.Parallel()
	w := start(t)
	raw := sandbox.Bistro("the-restaurant", "http://images.test")
	v := parse(t, raw)
	v.check(t)
	if n := len(v.Products); n < 55 || n > 70 {
		t.Errorf("%d dishes, want about 60", n)
	}
	if _, differ := v.limits(); differ < 3 {
		t.Errorf("%d groups have other limits in other schemes, want at least 3", differ)
	}
	if !v.shared()["sch-pizza"] {
		t.Error("no ingredient of a pizza stands in two of its groups")
	}
	var nested, weighed, stopped, parents int
	for _, p := range v.Ingredients {
		if p.SchemeID != "" {
			nested++
		}
	}
	pictures := map[string]bool{}
	for _, p := range v.Products {
		if p.Measure.Unit == "kg" && strings.Contains(p.Name, "by weight") {
			weighed++
		}
		if strings.Join(p.IsContainInStopList, " ") == "the-restaurant" {
			stopped++
		}
		for _, u := range p.ImageURLs {
			pictures[u] = true
		}
	}
	for _, c := range v.Categories {
		if c.ParentID != "" {
			parents++
		}
	}
	if nested < 3 || weighed < 1 || stopped < 1 || parents < 3 {
		t.Errorf("nested %d, weighed %d, stopped %d, categories below others %d", nested, weighed, stopped, parents)
	}
	for name, script := range map[string]*unicode.RangeTable{
		"Cyrillic": unicode.Cyrillic, "Han": unicode.Han, "Katakana": unicode.Katakana, "Hangul": unicode.Hangul, "Arabic": unicode.Arabic,
		"Hebrew": unicode.Hebrew, "Greek": unicode.Greek, "Thai": unicode.Thai, "Devanagari": unicode.Devanagari, "emoji": unicode.So,
	} {
		if !bytes.ContainsFunc(raw, func(r rune) bool { return unicode.Is(script, r) }) {
			t.Errorf("no %s in the bistro", name)
		}
	}
	for picture := range pictures {
		path, ours := strings.CutPrefix(picture, "http://images.test")
		if !ours {
			t.Errorf("picture %s is not the sandbox's", picture)
			continue
		}
		w.do(http.MethodGet, path, "").want(http.StatusOK)
	}
}

func TestGeneratedMenus(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ products, low, high int }{
		{1, 1 << 10, 20 << 10},
		{60, 66_000, 88_000},
		{400, 470_000, 600_000},
		{5000, 5_200_000, 6_600_000},
	} {
		g := sandbox.Generate{Products: c.products, Seed: 3, ImageBase: "http://127.0.0.1:9090"}
		raw := g.Menu(0)
		if len(raw) < c.low || len(raw) > c.high {
			t.Errorf("%d dishes make %d bytes, want %d to %d", c.products, len(raw), c.low, c.high)
		}
		v := parse(t, raw)
		v.check(t)
		with, names := 0, map[string]bool{}
		for _, p := range v.Products {
			names[p.Name] = true
			if p.SchemeID != "" {
				with++
			}
		}
		if with*10 < len(v.Products)*6 || len(v.Products) != c.products {
			t.Errorf("%d of %d dishes have a scheme, want 60 %% of %d", with, len(v.Products), c.products)
		}
		if len(names)*100 < c.products*95 {
			t.Errorf("%d names for %d dishes", len(names), c.products)
		}
		shared, differ := v.limits()
		if differ != shared || (shared == 0 && c.products > 10) {
			t.Errorf("%d dishes: %d groups in several schemes, %d of them under different limits", c.products, shared, differ)
		}
		several := 0
		for _, yes := range v.shared() {
			if yes {
				several++
			}
		}
		if n := len(v.Schemes); several*10 < n*7/10 || several > n/10+2 || several == 0 {
			t.Errorf("%d dishes: %d of %d schemes have an ingredient in several groups, want a tenth", c.products, several, n)
		}
		nested := 0
		for _, p := range v.Ingredients {
			if p.SchemeID != "" {
				nested++
			}
		}
		if nested == 0 {
			t.Errorf("%d dishes: no nesting", c.products)
		}
	}
}

func TestGenerateIsDeterministic(t *testing.T) {
	t.Parallel()
	g := sandbox.Generate{
		Restaurants: 7,
		Products:    40,
		Seed:        5,
		ChainSize:   3,
	}
	ids, bare := map[string]bool{}, make([]string, 0, 7)
	for i := range 7 {
		id, raw := g.RestaurantID(i), g.Menu(i)
		if !bytes.Equal(raw, g.Menu(i)) {
			t.Errorf("restaurant %d: two menus of one seed differ", i)
		}
		if !json.Valid(raw) || ids[id] {
			t.Errorf("restaurant %d: id %s, valid %v", i, id, json.Valid(raw))
		}
		ids[id] = true
		bare = append(bare, strings.ReplaceAll(string(raw), `"`+id+`"`, ""))
	}
	for k := range bare {
		if same := bare[k] == bare[k/3*3]; !same {
			t.Errorf("restaurant %d differs from its chain in more than the stop list", k)
		}
	}
	if bare[0] == bare[3] {
		t.Error("two chains have the same menu")
	}
	other := g
	other.Seed = 6
	if bytes.Equal(other.Menu(0), g.Menu(0)) || other.RestaurantID(0) == g.RestaurantID(0) {
		t.Error("another seed makes the same")
	}
}

func TestGeneratedRestaurantsAreServed(t *testing.T) {
	t.Parallel()
	w := start(t)
	g := sandbox.Generate{Restaurants: 120, Products: 60, Seed: 10}
	w.box.SetGenerated(g)
	for _, i := range []int{0, 1, 49, 50, 119} {
		id := g.RestaurantID(i)
		got := w.do(http.MethodGet, viewPath+"?restaurantId="+id, "").want(http.StatusOK).body
		if want := `{"result":` + string(g.Menu(i)) + `}`; string(got) != want {
			t.Errorf("restaurant %d: %d bytes, want %d", i, len(got), len(want))
		}
	}
	w.do(http.MethodGet, viewPath+"?restaurantId="+g.RestaurantID(120), "").wantError(http.StatusNotFound, "menu_not_found")

	id := g.RestaurantID(1)
	v := parse(t, g.Menu(1))
	var sold, out product
	for _, p := range v.Products {
		if len(p.IsContainInStopList) > 0 {
			out = p
		} else {
			sold = p
		}
	}
	if out.ID == "" {
		t.Fatal("nothing is stopped in this restaurant: take another seed")
	}
	patch := `{"` + sold.ID + `":true,"` + out.ID + `":false}`
	r := w.do(http.MethodPatch, "/sandbox/stop-list/"+id, patch).want(http.StatusOK)
	if !bytes.Contains(r.body, []byte(sold.ID)) || bytes.Contains(r.body, []byte(out.ID)) {
		t.Errorf("stopped: %s", r.body)
	}
	spice := v.Ingredients[len(v.Ingredients)-1].ID
	w.do(http.MethodPatch, "/sandbox/stop-list/"+id, `{"`+spice+`":true}`).want(http.StatusOK)
	var now struct{ Result view }
	if err := json.Unmarshal(w.do(http.MethodGet, viewPath+"?restaurantId="+id, "").body, &now); err != nil {
		t.Fatal(err)
	}
	for _, p := range append(now.Result.Products, now.Result.Ingredients...) {
		if stopped := len(p.IsContainInStopList) > 0; (p.ID == sold.ID || p.ID == spice) && !stopped || p.ID == out.ID && stopped {
			t.Errorf("%s: stop list %v", p.ID, p.IsContainInStopList)
		}
	}
	if got := w.do(http.MethodGet, viewPath+"?restaurantId="+g.RestaurantID(2), "").body; string(got) != `{"result":`+string(g.Menu(2))+`}` {
		t.Error("the patch reached another restaurant of the chain")
	}
}

// TestGeneratedOrdersAreValid places generated orders for each kind of menu.
func TestGeneratedOrdersAreValid(t *testing.T) {
	t.Parallel()
	w := start(t)
	g := sandbox.Generate{Restaurants: 2, Products: 120, Seed: 11}
	w.box.SetGenerated(g)
	for id, raw := range map[string][]byte{
		sandbox.BistroID:  sandbox.Bistro(sandbox.BistroID, ""),
		g.RestaurantID(1): g.Menu(1),
	} {
		orderer, err := menutest.NewOrderGenerator(raw, id, 1)
		if err != nil {
			t.Fatal(err)
		}
		again, err := menutest.NewOrderGenerator(raw, id, 1)
		if err != nil {
			t.Fatal(err)
		}
		for n := range 60 {
			opt := menutest.OrderOptions{
				Lines:       n%5 + 1,
				Delivery:    n%2 == 0,
				ExternalIDs: true,
				ExpectedAt:  noon,
			}
			body := orderer.Next(opt)
			if !bytes.Equal(body, again.Next(opt)) {
				t.Fatal("the same seed makes other orders")
			}
			if r := w.do(http.MethodPost, orders, string(body)); r.status != http.StatusCreated {
				t.Fatalf("%s\n%s", r.body, body)
			}
		}
	}
	for _, raw := range []string{"{", "{}", `{"products":[{"id":"p","price":1,"schemeId":"s"}],"ingredientsSchemes":[{"id":"s",` +
		`"ingredientsGroups":[{"id":"g","minCount":1}]}],"ingredientsGroups":[{"id":"g","ingredients":["gone"]}]}`} {
		if _, err := menutest.NewOrderGenerator([]byte(raw), "r", 1); err == nil {
			t.Errorf("an orderer for %s", raw)
		}
	}
}

// Every image of the bistro and of a generated menu exists.
func TestImagesOfMenusExist(t *testing.T) {
	t.Parallel()
	images := httptest.NewServer(sandbox.Images())
	t.Cleanup(images.Close)
	generated := sandbox.Generate{Restaurants: 1, Products: 400, Seed: 1}
	for name, menu := range map[string]string{
		"the bistro":       string(sandbox.Bistro(sandbox.BistroID, "")),
		"a generated menu": string(generated.Menu(0)),
	} {
		paths := map[string]bool{}
		for _, path := range regexp.MustCompile(`/sandbox/images/[a-z-]*\.svg`).FindAllString(menu, -1) {
			paths[path] = true
		}
		if len(paths) < 15 {
			t.Errorf("%s has only %d images", name, len(paths))
		}
		for path := range paths {
			if status, _ := clitest.Fetch(t, images.URL+path); status != http.StatusOK {
				t.Errorf("%s: %s: status %d", name, path, status)
			}
		}
	}
}
