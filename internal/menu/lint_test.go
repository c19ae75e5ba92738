package menu_test

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"larder.local/internal/menu"
)

func TestLintReportsEveryFindingAtOnce(t *testing.T) {
	t.Parallel()
	var got []string
	for _, f := range menu.Lint(decode(t, nestedMenu), "r1", menu.DefaultSettings()) {
		if f.Msg == "" || f.IDs == nil || f.Products == nil {
			t.Errorf("finding without message, ids or products: %+v", f)
		}
		var ids []string
		for _, key := range []string{"category", "parent", "product", "scheme", "group", "ingredient", "externalId", "other", "field"} {
			if id, ok := f.IDs[key]; ok {
				ids = append(ids, key+"="+id)
			}
		}
		got = append(got, fmt.Sprintf("%s %s %s [%s]", f.Severity, f.Code, strings.Join(ids, " "), strings.Join(f.Products, " ")))
	}
	want := []string{
		"warning name_empty field=ingredientsGroups[].name group=g-sauce [combo soup blocked]",
		"warning duplicate_id category=root [combo]",
		"error duplicate_id_differs product=plain [plain]",
		"warning duplicate_id scheme=s-soup [soup]",
		"warning duplicate_id group=g-sauce [combo soup blocked]",
		"warning duplicate_limit scheme=s-soup group=g-sauce [soup]",
		"warning category_parent_unknown category=lost parent=nowhere []",
		"warning category_cycle category=x parent=y []",
		"warning category_unknown category=gone product=plain [plain]",
		"warning group_unknown scheme=s-soup group=g-none [soup]",
		"warning ingredient_unknown group=g-sauce ingredient=gone [combo soup blocked]",
		"warning scheme_cycle scheme=s-loop group=g-loop ingredient=again [loop]",
		"error limits_inverted scheme=s-blocked group=g-sauce [blocked]",
		"error group_unsatisfiable scheme=s-blocked group=g-empty [blocked]",
		"warning external_id_shared product=soup externalId=101 other=plain [soup plain]",
		"warning external_id_missing product=loop [loop]",
		"warning category_missing product=loop [loop]",
		"warning category_missing product=blocked [blocked]",
		"warning category_empty category=lost []",
		"warning category_empty category=x []",
		"warning category_empty category=y []",
	}
	for i := range want { // the order of ids within a line does not matter
		want[i] = sortedIDs(want[i])
	}
	for i := range got {
		got[i] = sortedIDs(got[i])
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("findings (-want +got):\n%s", diff)
	}
}

func sortedIDs(line string) string {
	head, rest, _ := strings.Cut(line, " [")
	fields := strings.Fields(head)
	for i := 2; i < len(fields); i++ {
		for k := i; k > 2 && fields[k] < fields[k-1]; k-- {
			fields[k], fields[k-1] = fields[k-1], fields[k]
		}
	}
	return strings.Join(fields, " ") + " [" + rest
}

// The references of every definition are checked (policy W9).
func TestLintChecksEveryDefinition(t *testing.T) {
	t.Parallel()
	var got []string
	for _, f := range menu.Lint(decode(t, manyCategories), "r1", menu.DefaultSettings()) {
		if f.Code != menu.LintExternalIDMissing {
			got = append(got, fmt.Sprintln(f.Code, f.IDs, f.Products))
		}
	}
	want := []string{
		"duplicate_id_differs map[product:soup] [soup]\n",
		"category_unknown map[category:gone product:soup] [soup]\n",
		"scheme_unknown map[product:soup scheme:nowhere] [soup]\n",
		"category_missing map[product:loose] [loose]\n",
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("findings (-want +got):\n%s", diff)
	}
}

func TestLintReportsEmptyElements(t *testing.T) {
	t.Parallel()
	v := decode(t, `{"categories":[{"id":"all","name":"A"},{"id":"in","name":"I","parentId":"all"},{"id":"none","name":"None"},{"id":"below","name":"B","parentId":"none"}],
		"products":[{"id":"d","externalId":"1","name":"Dish","price":1,"categoryId":"in","schemeId":"s","measure":{"value":1,"unit":" "}},
			{"id":"loose","externalId":"2","name":"Loose","price":1,"measure":{"value":1,"unit":"kg"}},
			{"id":"lost","externalId":"3","name":"Lost","price":1,"categoryId":"gone","calories":"1,5","fats":"much","proteins":"1.5"}],
		"ingredientsSchemes":[{"id":"s","ingredientsGroups":[{"id":"off"},{"id":"on"},{"id":"no one"}]}],
		"ingredientsGroups":[{"id":"off","name":"Off","ingredients":["stopped","null"]},{"id":"on","name":"On","ingredients":["stopped","fine"]},{"id":"no one","name":"N"}],
		"ingredients":[{"id":"stopped","name":"S","externalId":"4","disabled":true},{"id":"null","name":"N","externalId":"5","price":null},
			{"id":"fine","name":"F","externalId":"6","measure":{"value":2}}]}`)
	var got []string
	for _, f := range menu.Lint(v, "r1", menu.DefaultSettings()) {
		got = append(got, fmt.Sprintln(f.Severity, f.Code, f.IDs, f.Products))
	}
	want := []string{
		"warning nutrition_invalid map[field:products[].calories product:lost] [lost]\n",
		"warning nutrition_invalid map[field:products[].fats product:lost] [lost]\n",
		"warning number_as_text map[field:products[].proteins] [lost]\n",
		"error price_missing map[field:ingredients[].price ingredient:null] [d]\n",
		"warning category_unknown map[category:gone product:lost] [lost]\n",
		"warning category_missing map[product:loose] [loose]\n",
		"warning category_empty map[category:none] []\n",
		"warning category_empty map[category:below] []\n",
		"warning unit_missing map[product:d] [d]\n",
		"warning unit_missing map[ingredient:fine] [d]\n",
		"warning group_unavailable map[group:off] [d]\n",
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("findings (-want +got):\n%s", diff)
	}
}

func TestLintOfSchemesThatNestTooDeep(t *testing.T) {
	t.Parallel()
	s := menu.DefaultSettings()
	s.MaxDepth = 1
	var codes []string
	for _, f := range menu.Lint(decode(t, nestedMenu), "r1", s) {
		if f.Code == menu.LintSchemeTooDeep {
			codes = append(codes, f.IDs["scheme"])
		}
	}
	if diff := cmp.Diff([]string{"s-combo"}, codes); diff != "" {
		t.Errorf("schemes that are nested too deep (-want +got):\n%s", diff)
	}
}

func TestDiffNamesFields(t *testing.T) {
	t.Parallel()
	from := compile(t, nestedMenu, "r1", menu.DefaultSettings())
	edited := strings.NewReplacer(
		`"name":"Combo","price":500`, `"name":"Combo!","price":510,"measure":{"value":1,"unit":"pcs"},"calories":3`,
		`"id":"garlic","externalId":"i1","name":"Garlic","price":10`, `"id":"garlic","externalId":"i1","name":"Garlic","price":11`,
		`"id":"blocked"`, `"id":"fresh"`,
		`"isContainInStopList":["r2"]`, `"isContainInStopList":["r1"],"description":"Hot","imageUrls":["u"]`,
	).Replace(nestedMenu)
	got := menu.Diff(from, compile(t, edited, "r1", menu.DefaultSettings()))
	want := menu.Changes{
		Added:   []string{"fresh"},
		Removed: []string{"blocked"},
		Changed: []menu.Change{
			{ID: "combo", Fields: []string{"name", "price", "measure", "nutrition", "groups"}},
			{ID: "soup", Fields: []string{"groups"}},
			{ID: "plain", Fields: []string{"description", "imageUrls"}},
		},
		Availability: []menu.Availability{{ID: "plain", Available: false}},
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("changes (-want +got):\n%s", diff)
	}
	two := compile(t, manyCategories, "r1", menu.DefaultSettings())
	one := compile(t, strings.Replace(manyCategories, `"price":1,"categoryId":"new"`, `"price":1,"categoryId":"hot"`, 1), "r1",
		menu.DefaultSettings())
	if diff := cmp.Diff([]menu.Change{{ID: "soup", Fields: []string{"categoryIds"}}}, menu.Diff(two, one).Changed); diff != "" {
		t.Errorf("a dish that was removed from a category (-want +got):\n%s", diff)
	}
	if got.Empty() || !menu.Diff(from, from).Empty() {
		t.Error("Empty does not report a difference")
	}
}

// Replacing the parts of one menu that the diff lists results in the other menu.
func TestApplyingADiff(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		from, to := drawMenu(t, "from"), drawMenu(t, "to")
		s := menu.DefaultSettings()
		a, b := menu.Compile(from, "r", s), menu.Compile(to, "r", s)
		changes := menu.Diff(a, b)

		touched := map[string]bool{}
		for _, id := range changes.Removed {
			touched[id] = true
		}
		for _, change := range changes.Changed {
			touched[change.ID] = true
		}
		for _, change := range changes.Availability {
			touched[change.ID] = true
		}
		same := map[string]string{}
		for p, dish := range a.Products().All() {
			if id := dish.ID(); !touched[id] {
				same[id] = string(a.AppendProduct(nil, p, 1))
			}
		}
		for _, id := range changes.Added {
			if _, ok := b.Products().ByID(id); !ok {
				t.Fatalf("added %s does not exist", id)
			}
			touched[id] = true
		}
		for p, dish := range b.Products().All() {
			id := dish.ID()
			if touched[id] {
				continue
			}
			if got := string(b.AppendProduct(nil, p, 1)); got != same[id] {
				t.Fatalf("dish %s differs and is not in the diff:\n%s\n%s", id, same[id], got)
			}
			delete(same, id)
		}
		if len(same) > 0 {
			t.Fatalf("dishes were removed and are not in the diff: %v", same)
		}
	})
}

func drawMenu(t *rapid.T, label string) *menu.View {
	seed := rapid.Uint64Range(0, 50).Draw(t, label)
	r := rand.New(rand.NewPCG(seed, 1))
	var b strings.Builder
	b.WriteString(`{"products":[`)
	for i := range r.IntN(6) {
		if i > 0 {
			b.WriteByte(',')
		}
		fmt.Fprintf(&b, `{"id":"p%d","name":"n%d","price":%d,"schemeId":"s%d","categoryId":"c%d","isContainInStopList":%v}`,
			r.IntN(6), r.IntN(2), r.IntN(3), r.IntN(4), r.IntN(4), r.IntN(5) == 0)
	}
	b.WriteString(`],"categories":[{"id":"c0"},{"id":"c1"},{"id":"c2"}`)
	b.WriteString(`],"ingredientsSchemes":[`)
	for i := range 3 {
		if i > 0 {
			b.WriteByte(',')
		}
		fmt.Fprintf(&b, `{"id":"s%d","ingredientsGroups":[{"id":"g%d","minCount":%d},{"id":"g%d"}]}`, i, r.IntN(3), r.IntN(2), r.IntN(3))
	}
	b.WriteString(`],"ingredientsGroups":[`)
	for i := range 3 {
		if i > 0 {
			b.WriteByte(',')
		}
		fmt.Fprintf(&b, `{"id":"g%d","name":"g","ingredients":["i%d","i%d"]}`, i, r.IntN(4), r.IntN(4))
	}
	b.WriteString(`],"ingredients":[`)
	for i := range 4 {
		if i > 0 {
			b.WriteByte(',')
		}
		fmt.Fprintf(&b, `{"id":"i%d","name":"n","price":%d,"schemeId":"s%d","disabled":%v}`, i, r.IntN(2), r.IntN(6), r.IntN(6) == 0)
	}
	b.WriteString(`]}`)
	v, err := menu.Decode([]byte(b.String()))
	if err != nil {
		t.Fatalf("%v in %s", err, b.String())
	}
	return v
}

func TestFindingMessagesNameTheDish(t *testing.T) {
	t.Parallel()
	v := decode(t, `{"products":[{"id":"p1","name":"Soup","price":"1,5"},{"id":2,"name":"Tea","price":1},{"id":3,"name":"Pie","price":-1}],
		"ingredients":[{"id":"i1","name":"Dill","price":null}]}`)
	got := map[string]string{}
	for _, f := range menu.Lint(v, "r", menu.DefaultSettings()) {
		got[f.Code] = f.Msg
	}
	for code, start := range map[string]string{
		menu.IssueDecimalComma:  `dish "p1" (Soup): products[].price has a decimal comma: "1,5"`,
		menu.IssueIDNotText:     `dish "2" and 1 more: products[].id is a number`,
		menu.IssuePriceNegative: `dish "3" (Pie): products[].price is negative`,
		menu.IssuePriceMissing:  `ingredient "i1" (Dill): ingredients[].price is missing`,
	} {
		if !strings.HasPrefix(got[code], start) {
			t.Errorf("the message of %s is %q, want it to start with %q", code, got[code], start)
		}
	}
}
