package menu_test

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"larder.local/internal/menu"
)

// codesOf returns "code field message" of each finding with one of the codes.
func findingsOf(t *testing.T, body string, codes ...string) (found []menu.Finding) {
	t.Helper()
	for _, f := range menu.Lint(decode(t, body), "r1", menu.DefaultSettings()) {
		if slices.Contains(codes, f.Code) {
			found = append(found, f)
		}
	}
	return found
}

// A raw control character in a string is read, and lint reports its field, whatever larder knows of it (policy W17).
func TestRawControlCharactersAreReadAndReported_W17(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct{ body, field, product string }{
		"a tab in a name":             {"{\"products\":[{\"id\":\"p\",\"name\":\"a\tb\"}]}", "products[].name", "p"},
		"a line break, enveloped":     {"{\"result\":{\"products\":[{\"id\":\"p\",\"description\":\"a\nb\"}]}}", "products[].description", "p"},
		"NUL beside other members":    {"{\"x\":1,\"result\":{\"products\":[{\"id\":\"p\",\"name\":\"a\x00b\"}]}}", "products[].name", "p"},
		"in an unknown field":         {"{\"products\":[{\"id\":\"p\",\"x\":{\"a\":[\"\r\"]}}]}", "products[].x", "p"},
		"in the name of a field":      {"{\"products\":[{\"id\":\"p\",\"y\x1f\":1}]}", "products[].y\x1f", "p"},
		"in a field of the menu view": {"{\"products\":[],\"z\":\"\t\"}", "z", ""},
		"in a limit of a scheme":      {"{\"ingredientsSchemes\":[{\"id\":\"s\",\"ingredientsGroups\":[{\"id\":\"g\",\"x\":\"\t\"}]}]}", "ingredientsSchemes[].ingredientsGroups[].x", ""},
		"in an element of a list":     {"{\"products\":[\"\t\"]}", "products", ""},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			found := findingsOf(t, c.body, menu.IssueControlRaw)
			if len(found) != 1 || found[0].IDs["field"] != c.field || strings.Join(found[0].Products, " ") != c.product {
				t.Errorf("findings %+v, want one of %s", found, c.field)
			}
			if p := published(t, c.body); !json.Valid(p.Content) {
				t.Errorf("the stored view is not JSON: %q", p.Content)
			}
		})
	}
	if found := findingsOf(t, "{\n\t\"products\":[]\r\n}", menu.IssueControlRaw); len(found) > 0 {
		t.Errorf("white space between values: %+v", found)
	}
}

// A field that larder ignores cannot reject a menu, whatever its depth (policy W17).
func TestAnIgnoredFieldCannotRejectAMenu_W17(t *testing.T) {
	t.Parallel()
	nested := func(levels int) string {
		return strings.Repeat(`[{"a":`, levels/2) + "1" + strings.Repeat("}]", levels/2)
	}
	for name, form := range map[string]string{
		"of a dish":                  `{"products":[{"id":"p","name":"P","price":1,"x":%s}]}`,
		"of the view, enveloped":     `{"result":{"x":%s,"products":[{"id":"p","name":"P","price":1}]}}`,
		"beside the view":            `{"result":{"products":[{"id":"p","name":"P","price":1}]},"x":%s}`,
		"a wrong type":               `{"products":[{"id":"p","name":"P","price":1,"description":%s,"imageUrls":[%[1]s],"measure":{"x":%[1]s}}]}`,
		"a stop list":                `{"products":[{"id":"p","name":"P","price":1,"isContainInStopList":[%s],"disabled":%[1]s}]}`,
		"an element that is no dish": `{"products":[%s,{"id":"p","name":"P","price":1}],"ingredients":%[1]s}`,
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			for _, levels := range []int{100, 480, 2_000, 200_000} {
				body := fmt.Sprintf(form, nested(levels))
				p := published(t, body)
				stored, err := menu.DecodeContent(p.Content)
				if err != nil || len(stored.Products) == 0 || !json.Valid(p.Content) || !json.Valid(p.Stops) {
					t.Fatalf("%d levels: %v, stored as %.200s", levels, err, p.Content)
				}
				served, err := p.AppendAnswer(nil)
				if err != nil || !json.Valid(served) {
					t.Errorf("%d levels: %v, served as %.200s", levels, err, served)
				}
				if name == "of a dish" && levels < 500 && !strings.Contains(string(p.Content), `"x":`+nested(levels)) {
					t.Errorf("%d levels are not stored as they were published: %s", levels, p.Content)
				}
				deep := findingsOf(t, body, menu.IssueNestedTooDeep)
				if want := levels > 500 && name != "beside the view"; len(deep) > 0 != want {
					t.Errorf("%d levels: findings %+v", levels, deep)
				}
			}
		})
	}
}

// A maximum with a fraction is rounded down, but not below 1. An unreadable one is an error of lint (policy W17).
func TestMaximaThatAreNotWhole_W17(t *testing.T) {
	t.Parallel()
	for written, want := range map[string]int{
		`2.5`: 2, `"2.9"`: 2, `0.5`: 1, `1e-3`: 1, `2.0`: 2, `3`: 3, `0`: 0, `0.0`: 0, `-0.5`: menu.Unlimited, `-2`: menu.Unlimited, `null`: menu.Unlimited,
		`true`: menu.Unlimited, `"two"`: menu.Unlimited, `"2,5"`: menu.Unlimited, `{}`: menu.Unlimited, `[2]`: menu.Unlimited, `1e30`: menu.Unlimited,
		`1e400`: menu.Unlimited,
	} {
		body := `{"products":[{"id":"p","name":"P","price":1,"schemeId":"s"},{"id":"q","name":"Q","price":1}],
			"ingredientsSchemes":[{"id":"s","ingredientsGroups":[{"maxCount":` + written + `,"id":"g"},{"id":"h","maxCount":` + written + `}]}],
			"ingredientsGroups":[{"id":"g","name":"G"},{"id":"h","name":"H"}]}`
		if got := decode(t, body).Schemes[0].Groups[0].Max; got != want {
			t.Errorf("maxCount %s is read as %d, want %d", written, got, want)
		}
		found := findingsOf(t, body, menu.IssueMaximumInvalid)
		unreadable := strings.ContainsAny(written, "tw,{[") || strings.HasPrefix(written, "1e3") || written == "1e400"
		if !unreadable && len(found) > 0 || unreadable && len(found) != 2 {
			t.Errorf("maxCount %s: findings %+v", written, found)
		}
		for i, f := range found {
			group := []string{"g", "h"}[i]
			if f.Severity != menu.SeverityError || !strings.Contains(f.Msg, "this group has no maximum now") ||
				!strings.Contains(f.Msg, `"`+group+`"`) || f.IDs["scheme"] != "s" || strings.Join(f.Products, " ") != "p" {
				t.Errorf("maxCount %s: finding %+v", written, f)
			}
		}
		fraction := findingsOf(t, body, menu.IssueCountFraction)
		if want := want > 0 && strings.ContainsAny(written, ".-") && written != "2.0"; len(fraction) > 0 != want {
			t.Errorf("maxCount %s: findings about a fraction %+v", written, fraction)
		}
	}
	if got := decode(t, `{"ingredientsSchemes":[{"id":"s","ingredientsGroups":[{"id":"g","minCount":1.5}]}]}`).Schemes[0].Groups[0].Min; got != 0 {
		t.Errorf("minCount 1.5 is read as %d, want 0", got)
	}
}

// chain returns the parts of a view with n schemes s1, s2, … Each requires one option, o1, o2, …, which has the next scheme.
func chain(n int, last string) (schemes, groups, ingredients string) {
	var s, g, in strings.Builder
	for i := 1; i <= n; i++ {
		next := fmt.Sprintf(`"s%d"`, i+1)
		if i == n {
			next = last
		}
		fmt.Fprintf(&s, `{"id":"s%d","ingredientsGroups":[{"id":"g%[1]d","minCount":1,"maxCount":1}]},`, i)
		fmt.Fprintf(&g, `{"id":"g%d","name":"G","ingredients":["o%[1]d"]},`, i)
		fmt.Fprintf(&in, `{"id":"o%d","externalId":"x%[1]d","name":"O","price":0,"schemeId":%s},`, i, next)
	}
	return s.String(), g.String(), in.String()
}

// A dish that needs more levels than max_depth has the reason too_deep (policy M12).
func TestADishThatNeedsTooManyLevelsIsNotOrderable_M12(t *testing.T) {
	t.Parallel()
	view := func(n int, last, scheme, group, ingredient string) string {
		schemes, groups, ingredients := chain(n, last)
		return `{"products":[{"id":"d","externalId":"1","name":"D","price":1,"schemeId":"s1"},{"id":"e","externalId":"2","name":"E","price":1,"schemeId":"s2"}],
			"ingredientsSchemes":[` + schemes + scheme + `{"id":"x"}],"ingredientsGroups":[` + groups + group + `{"id":"x","name":"X"}],
			"ingredients":[` + ingredients + ingredient + `{"id":"x","externalId":"x","name":"X","price":0}]}`
	}
	optional := `{"id":"opt","ingredientsGroups":[{"id":"g1","minCount":0}]},`
	for name, c := range map[string]struct {
		body  string
		depth int
		stops []string
		deep  bool // of d; e needs one level less
	}{
		"six levels":                           {view(6, "null", "", "", ""), 6, nil, false},
		"seven levels":                         {view(7, "null", "", "", ""), 6, nil, true},
		"seven levels, seven allowed":          {view(7, "null", "", "", ""), 7, nil, false},
		"two levels, one allowed":              {view(2, "null", "", "", ""), 1, nil, true},
		"forty levels":                         {view(40, "null", "", "", ""), 6, nil, true},
		"a thousand levels":                    {view(1000, "null", "", "", ""), 6, nil, true},
		"the seventh level is optional":        {view(6, `"opt"`, optional, "", ""), 6, nil, false},
		"a shorter way":                        {view(7, "null", "", `{"id":"g2","name":"G","ingredients":["x"]},`, ""), 6, nil, false},
		"the shorter way is stopped":           {view(7, "null", "", `{"id":"g2","name":"G","ingredients":["x"]},`, ""), 6, []string{"x"}, true},
		"a cycle of seven ends":                {view(7, `"s1"`, "", "", ""), 6, nil, false},
		"nothing to choose is another reason":  {view(7, "null", "", "", ""), 6, []string{"o7"}, false},
		"a group that nobody requires is left": {strings.ReplaceAll(view(7, "null", "", "", ""), `"minCount":1`, `"minCount":0`), 6, nil, false},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			cat := menu.CompileContent(decode(t, c.body), menu.Settings{MaxDepth: c.depth}).WithStops(menu.Stops{Ingredients: c.stops})
			reasons := cat.Reasons(0)
			deep := slices.ContainsFunc(reasons, func(r menu.Reason) bool { return r.Code == menu.ReasonTooDeep })
			if deep != c.deep || cat.Orderable(0) != (len(reasons) == 0) {
				t.Errorf("reasons %v, orderable %v; want too_deep %v", reasons, cat.Orderable(0), c.deep)
			}
			if deep && !strings.Contains(string(cat.AppendProduct(nil, 0, 1)), `"orderable":false,"reasons":[{"code":"too_deep"}]`) {
				t.Errorf("the product is %s", cat.AppendProduct(nil, 0, 1))
			}
			if name == "seven levels" && !cat.Orderable(1) {
				t.Errorf("the dish that needs six levels: %v", cat.Reasons(1))
			}
		})
	}
}

// A list that is null or absent is empty, and a measure of nulls is missing (policy W6). A dish whose scheme does not exist has
// no modifiers, and a reference to nothing is ignored (policy W10).
func TestEmptyAndMissingValues(t *testing.T) {
	t.Parallel()
	storefront := func(body string) string {
		c := compile(t, body, "r1", menu.DefaultSettings())
		return string(c.AppendProduct(c.AppendMenu(nil, menu.Head{}), 0, 1))
	}
	const lists = `"categories":[],"products":[{"id":"p","externalId":"1","name":"P","price":1,"imageUrls":[]}],
		"ingredientsSchemes":[{"id":"s","ingredientsGroups":[]}],"ingredientsGroups":[{"id":"g","name":"G","ingredients":[]}],"ingredients":[]`
	want := storefront(`{` + lists + `}`)
	for name, replace := range map[string][2]string{
		"lists that are null (W6)":         {`[]`, `null`},
		"categories are absent (W6)":       {`"categories":[],`, ``},
		"images are absent (W6)":           {`,"imageUrls":[]`, ``},
		"a measure of nulls (W6)":          {`"price":1`, `"price":1,"measure":{"value":null,"unit":null}`},
		"a scheme that is missing (W10)":   {`"price":1`, `"price":1,"schemeId":"nowhere"`},
		"a category that is missing (W10)": {`"price":1`, `"price":1,"categoryId":"nowhere"`},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			if diff := cmp.Diff(want, storefront(`{`+strings.ReplaceAll(lists, replace[0], replace[1])+`}`)); diff != "" {
				t.Error(diff)
			}
		})
	}
}
