package menu_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	"github.com/shopspring/decimal"

	"larder.local/internal/jsontext"
	"larder.local/internal/menu"
	"larder.local/internal/testkit/viewtest"
)

func decode(t *testing.T, body string) *menu.View {
	t.Helper()
	v, err := menu.Decode([]byte(body))
	if err != nil {
		t.Fatalf("Decode(%s): %v", body, err)
	}
	return v
}

func TestDecodeAcceptsEveryFormOfAValue(t *testing.T) {
	t.Parallel()
	want := decode(t, `{"name":"M","categories":[{"id":"c1","name":"Soups","parentId":null}],"products":[{"id":"12345678901234567890",
		"externalId":"77","categoryId":"c1","name":"Борщ 🍲","price":199.90,"schemeId":"s","description":"d","imageUrls":["u"],
		"measure":{"value":0.3,"unit":"kg"},"isContainInStopList":["r"],"calories":1.5}],
		"ingredientsSchemes":[{"id":"s","ingredientsGroups":[{"id":"g","minCount":1,"maxCount":2}]}],
		"ingredientsGroups":[{"id":"g","name":"G","ingredients":["i"]}],"ingredients":[{"id":"i","name":"I","price":5}]}`)
	for name, body := range map[string]string{
		"enveloped":                    `{"result":%s}`,
		"with a byte order mark (W11)": "\ufeff%s",
		"with other result fields":     `{"requestId":"x","result":%s}`,
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			got := decode(t, fmt.Sprintf(body, viewtest.Encode(want)))
			if diff := cmp.Diff(string(viewtest.Encode(want)), string(viewtest.Encode(got))); diff != "" {
				t.Errorf("the decoded view is different:\n%s", diff)
			}
		})
	}
	for name, replace := range map[string][2]string{
		"ID in capitals (W3)":                    {`"id":"12345678901234567890"`, `"ID":"12345678901234567890"`},
		"Id (W3)":                                {`"id":"12345678901234567890"`, `"Id":"12345678901234567890"`},
		"id as a number above 2^53":              {`"id":"12345678901234567890"`, `"id":12345678901234567890`},
		"external id as a number":                {`"externalId":"77"`, `"ExternalID":77`},
		"price as a text":                        {`"price":199.9`, `"price":"199.90"`},
		"price with trailing zeros":              {`"price":199.9`, `"price":199.900`},
		"price with an exponent":                 {`"price":199.9`, `"price":1.999e2`},
		"counts as texts":                        {`"minCount":1,"maxCount":2`, `"MinCount":"1","max_count":"2"`},
		"stop list as one text":                  {`"isContainInStopList":["r"]`, `"isContainInStopList":"r"`},
		"stop list of numbers and nulls":         {`"isContainInStopList":["r"]`, `"isContainInStopList":["r",null]`},
		"images as one text":                     {`"imageUrls":["u"]`, `"imageUrls":"u"`},
		"escaped text, Cyrillic and emoji (W11)": {`"name":"Борщ 🍲"`, `"name":"\u0411\u043e\u0440\u0449 \ud83c\udf72"`},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			canonical := string(viewtest.Encode(want))
			body := strings.Replace(canonical, replace[0], replace[1], 1)
			if body == canonical {
				t.Fatalf("%q is not in %s", replace[0], canonical)
			}
			if diff := cmp.Diff(canonical, string(viewtest.Encode(decode(t, body)))); diff != "" {
				t.Errorf("%s is decoded differently:\n%s", replace[1], diff)
			}
		})
	}
}

func TestDecodeOfACanonicalView(t *testing.T) {
	t.Parallel()
	v := decode(t, menuWithIssues(120))
	got := decode(t, string(viewtest.Encode(v)))
	if diff := cmp.Diff(v, got, cmpopts.IgnoreFields(menu.View{}, "Issues"), cmpopts.EquateEmpty(),
		cmp.Comparer(func(a, b decimal.Decimal) bool { return a.Equal(b) })); diff != "" {
		t.Errorf("decode of encode differs (-view +again):\n%s", diff)
	}
}

func TestUnknownFieldsAreKept_W8(t *testing.T) {
	t.Parallel()
	out := string(published(t, `{"zeta":{"a": [1, 2]},"products":[{"id":"p","price":1,"allergens":["nuts"],"code":17.50}]}`).Content)
	for _, want := range []string{`"zeta":{"a":[1,2]}`, `"allergens":["nuts"]`, `"code":17.50`} {
		if !strings.Contains(out, want) {
			t.Errorf("the content does not contain %s: %s", want, out)
		}
	}
}

// menuWithIssues returns a menu of n dishes with different issues.
func menuWithIssues(n int) string {
	odd := []string{
		`{"ID":"p%d","name":"Id in capitals","price":1}`,
		`{"id":%d,"name":"numeric id","price":1}`,
		`{"id":"p%d","name":"price as text","price":"12.50"}`,
		`{"id":"p%d","name":"decimal comma","price":"12,50"}`,
		`{"id":"p%d","name":"price is an object","price":{"v":1}}`,
		`{"id":"p%d","name":"price is null","price":null}`,
		`{"id":"p%d","name":"no price"}`,
		`{"id":"p%d","name":"negative price","price":-1}`,
		`{"id":"p%d","name":"huge price","price":1e999999999}`,
		`{"id":"p%d","name":"null images","price":1,"imageUrls":null}`,
		`{"id":"p%d","name":"measure of nulls","price":1,"measure":{"value":null,"unit":null}}`,
		`{"id":"p%d","name":"measure is a text","price":1,"measure":"0.3 kg"}`,
		`{"id":"p%d","name":"stopped by a boolean","price":1,"isContainInStopList":true}`,
		`{"id":"p%d","name":"stopped by a text","price":1,"isContainInStopList":"true"}`,
		`{"id":"p%d","name":"stop list is an object","price":1,"isContainInStopList":{}}`,
		`{"id":"p%d","name":"stopped elsewhere","price":1,"isListStoped":true}`,
		`{"id":"p%d","name":"unknown field","price":1,"spicy":true}`,
		`{"id":"p%d","name":"unknown category","price":1,"categoryId":"nowhere"}`,
		`{"id":"p%d","name":"unknown scheme","price":1,"schemeId":"nowhere"}`,
		`{"id":"p%d","name":17,"price":1}`,
		`{"id":"p%d","name":"calories with a comma","price":1,"calories":"1,5"}`,
		`{"id":["p%d"],"name":"id is a list","price":1}`,
		`{"id":null,"name":"id is null, %d","price":1}`,
		`{"id":"p%d","name":"images hold numbers","price":1,"imageUrls":[1,"u",null]}`,
		`{"id":"p%d","name":"free","price":0}`,
		`"no dish at all, %d"`,
	}
	var b strings.Builder
	b.WriteString(`{"result":{"name":"odd","categories":null,"ingredientsSchemes":[{"id":"s","ingredientsGroups":[{"id":"g","minCount":3,"maxCount":2},7,{"id":"gone"}]}],` +
		`"ingredientsGroups":[{"id":"g","name":"G","ingredients":["i","gone",5]}],"ingredients":[{"id":"i","name":"I"},{"id":"i","name":"I again"}],"products":[`)
	for i := range n {
		if i > 0 {
			b.WriteByte(',')
		}
		fmt.Fprintf(&b, odd[i%len(odd)], i)
	}
	b.WriteString(`]}}`)
	return b.String()
}

// With issues in every second dish, each dish is still in the menu or reported.
func TestDishesWithIssuesAreListedOrReported(t *testing.T) {
	t.Parallel()
	v := decode(t, menuWithIssues(104))
	findings := menu.Lint(v, "r", menu.DefaultSettings())
	cat := menu.Compile(v, "r", menu.DefaultSettings())
	named := map[string][]string{}
	for _, f := range findings {
		for _, id := range f.Products {
			named[id] = append(named[id], f.Code)
		}
	}
	// One dish in 26 has an invalid id (3 kinds); the others are listed.
	if want := 104 - 3*4; cat.Products().Len() != want {
		t.Errorf("listed dishes = %d, want %d", cat.Products().Len(), want)
	}
	for _, p := range cat.Products().All() {
		if len(named[p.ID()]) == 0 {
			t.Errorf("lint does not name dish %s (%s)", p.ID(), p.Name())
		}
	}
	for code, id := range map[string]string{
		menu.IssueIDNotText: "1", menu.IssueNumberAsText: "p2", menu.IssueDecimalComma: "p3", menu.IssueTypeMismatch: "p4",
		menu.IssuePriceMissing: "p6", menu.IssuePriceNegative: "p7", menu.IssueNumberInvalid: "p8", menu.IssueNull: "p9",
		menu.IssueMeasureEmpty: "p10", menu.IssueStopListForm: "p12", menu.IssueUnknownField: "p16", menu.IssueNameSpelling: "p0",
		menu.LintCategoryUnknown: "p17", menu.LintSchemeUnknown: "p18", menu.LintPriceZero: "p24",
	} {
		if !slices.Contains(named[id], code) {
			t.Errorf("dish %s: codes %v do not include %s", id, named[id], code)
		}
	}
	var codes []string
	for _, f := range findings {
		codes = append(codes, f.Code)
	}
	for _, code := range []string{
		menu.LintIDMissing, menu.LintLimitsInverted, menu.LintGroupUnknown, menu.LintIngredientUnknown,
		menu.LintDuplicateIDDiffers,
	} {
		if !slices.Contains(codes, code) {
			t.Errorf("no finding %s in %v", code, codes)
		}
	}
}

func TestSyntaxErrorsHaveAPosition(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		body      string
		line, col int
	}{
		"empty":                   {"", 1, 1},
		"cut off":                 {"{\"products\":[", 1, 14},
		"a stray character":       {"{\n  \"a\": 1,\n  x\n}", 3, 3},
		"after wide characters":   {"{\"суп\": }", 1, 9},
		"two values":              {"{} {}", 1, 4},
		"in a deep value":         {`{"x":` + strings.Repeat("[", 20_000) + "}", 1, 20_006},
		"after a control":         {"{\"x\":\"\t\",}", 1, 10},
		"after a byte order mark": {"\ufeff{]", 1, 2},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			_, err := menu.Decode([]byte(c.body))
			var syntax *jsontext.SyntaxError
			if !errors.As(err, &syntax) {
				t.Fatalf("Decode(%q) = %v, want a SyntaxError", c.body, err)
			}
			if syntax.Line != c.line || syntax.Column != c.col {
				t.Errorf("Decode(%q) reports %d:%d, want %d:%d (%v)", c.body, syntax.Line, syntax.Column, c.line, c.col, err)
			}
		})
	}
	for _, body := range []string{strings.Repeat("[", 20_000) + strings.Repeat("]", 20_000), `[]`, `"menu"`, `{}`, `{"result":[]}`, `{"error":"x"}`, `{"result":null}`} {
		_, err := menu.Decode([]byte(body))
		if _, ok := errors.AsType[*menu.ShapeError](err); !ok {
			t.Errorf("Decode(%s) = %v, want a ShapeError", body, err)
		}
	}
}

func TestDecodeReadsStopValues_W7(t *testing.T) {
	t.Parallel()
	anyEntry := menu.DefaultSettings()
	anyEntry.StopListAnyValue = true
	for name, c := range map[string]struct {
		fields   string
		settings menu.Settings
		stopped  bool
	}{
		"an array of objects stops if any entry stops":  {`"isContainInStopList":[{"restaurantId":"r2"}]`, anyEntry, true},
		"an array of booleans stops if any entry stops": {`"isContainInStopList":[true]`, anyEntry, true},
		"an array of nulls has no entry":                {`"isContainInStopList":[null,""]`, anyEntry, false},
		"an array of objects names no restaurant":       {`"isContainInStopList":[{"restaurantId":"r2"}]`, menu.DefaultSettings(), false},
		"a flag that is a string, in any case":          {`"disabled":"True"`, menu.DefaultSettings(), true},
		"a flag that is the string 1":                   {`"isListStoped":"1"`, menu.DefaultSettings(), true},
		"a flag that is the string False":               {`"isListStoped":"False"`, menu.DefaultSettings(), false},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			v := decode(t, `{"products":[{"id":"p","externalId":"e","price":1,`+c.fields+`}]}`)
			for _, view := range []*menu.View{v, decode(t, string(viewtest.Encode(v)))} {
				if got := !menu.Compile(view, "r1", c.settings).Available(0); got != c.stopped {
					t.Errorf("%s: stopped %v, want %v", c.fields, got, c.stopped)
				}
			}
		})
	}
}

func FuzzDecode(f *testing.F) {
	f.Add([]byte(menuWithIssues(30)), "r")
	f.Add([]byte(nestedMenu), "r")
	f.Add([]byte(`{"products":[{"id":"a\ud800","price":1}]}`), "")
	f.Fuzz(func(t *testing.T, raw []byte, restaurant string) {
		v, err := menu.Decode(raw)
		if err != nil {
			return
		}
		id, s := menu.RestaurantID(restaurant), menu.DefaultSettings()
		canonical := viewtest.Encode(v)
		if !json.Valid(canonical) {
			t.Fatalf("the canonical form is not JSON: %s", canonical)
		}
		again, err := menu.Decode(canonical)
		if err != nil {
			t.Fatalf("canonical form does not decode: %v: %s", err, canonical)
		}
		if out := viewtest.Encode(again); !bytes.Equal(out, canonical) {
			t.Fatalf("canonical form is not stable:\n%s\n%s", canonical, out)
		}
		one, two := menu.Compile(v, id, s), menu.Compile(again, id, s)
		head := menu.Head{Restaurant: id}
		if a, b := one.AppendMenu(nil, head), two.AppendMenu(nil, head); !bytes.Equal(a, b) {
			t.Fatalf("compile is not deterministic:\n%s\n%s", a, b)
		} else if !json.Valid(a) {
			t.Fatalf("the storefront's menu is not JSON: %s", a)
		}
		for p := range one.Products().All() {
			if out := one.AppendProduct(nil, p, 1); !json.Valid(out) {
				t.Fatalf("the product is not JSON: %s", out)
			}
		}
		if changes := menu.Diff(one, two); !changes.Empty() {
			t.Fatalf("a catalogue differs from itself: %+v", changes)
		}
		first, second := menu.Lint(v, id, s), menu.Lint(v, id, s)
		if diff := cmp.Diff(first, second); diff != "" {
			t.Fatalf("lint is not deterministic:\n%s", diff)
		}
	})
}
