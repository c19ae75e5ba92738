package validate_test

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"larder.local/internal/menu"
	"larder.local/internal/testkit/menutest"
	"larder.local/ordering/validate"
	"larder.local/ordering/violation"
)

// dishCase is one dishList with its violations.
type dishCase struct {
	name   string
	dishes string
	want   []menutest.Broken
}

func runDishes(t *testing.T, cases []dishCase) {
	t.Helper()
	for _, tc := range cases {
		t.Run(tc.name, func(t *testing.T) {
			t.Parallel()
			got := validateBody(t, menutest.Order(tc.dishes))
			if diff := cmp.Diff(tc.want, brokenOf(t, got)); diff != "" && (len(tc.want) > 0 || len(got.Violations) > 0) {
				t.Errorf("%s: violations (-want +got):\n%s", tc.dishes, diff)
			}
			if got.Valid != (len(tc.want) == 0) || got.Valid != (got.Order != nil) {
				t.Errorf("%s: valid %v with order %s", tc.dishes, got.Valid, got.Order)
			}
		})
	}
}

func TestDishes(t *testing.T) {
	t.Parallel()
	runDishes(t, []dishCase{
		{"by the menu's id", `[{"ID":"soup","quantity":1}]`, nil},
		{"by externalId (O3)", `[{"ID":"1002","quantity":1}]`, nil},
		{"by a number (W4)", `[{"ID":1002,"quantity":1}]`, nil},
		{"externalId with a null id (W12)", `[{"ID":null,"externalId":"1002","quantity":1}]`, nil},
		{"externalId with an empty id (W12)", `[{"id":"","externalId":1002,"quantity":1}]`, nil},
		{"a complete product of the menu (W12)", `[{"id":"soup","externalId":"1002","categoryId":"c","name":"Soup","price":"199.90","schemeId":null,"description":"","imageUrls":[],"measure":{"value":1,"unit":"pcs"},"isContainInStopList":[],"calories":null,"quantity":"2","ingredients":null}]`, nil},
		{"unknown", `[{"ID":"x~/y","quantity":1}]`, []menutest.Broken{{"/dishList/0", violation.DishNotInMenu, `{"id":"x~/y"}`}}},
		{"unknown by externalId", `[{"externalId":"soup","quantity":1}]`, []menutest.Broken{{"/dishList/0", violation.DishNotInMenu, `{"id":"soup"}`}}},
		{"shared externalId lists the ids (O3)", `[{"ID":"77","quantity":1}]`, []menutest.Broken{
			{"/dishList/0", violation.ExternalIDAmbiguous, `{"externalId":"77","ids":["left","right"]}`},
		}},
		{"stopped (M10)", `[{"ID":"wok","quantity":1}]`, []menutest.Broken{{"/dishList/0", violation.DishUnavailable, `{"id":"wok","name":"Wok"}`}}},
		{"null ingredients, then ingredients in another spelling", `[{"ID":"soup","quantity":1,"Ingredients":null,"ingredients":[{"ID":"i-hot"}]}]`, []menutest.Broken{
			{"/dishList/0/ingredients", violation.DishTakesNoIngredients, `{}`},
		}},
		{"ingredients, then null in another spelling", `[{"ID":"soup","quantity":1,"Ingredients":[{"ID":"i-hot"}],"ingredients":null}]`, []menutest.Broken{
			{"/dishList/0/Ingredients", violation.DishTakesNoIngredients, `{}`},
		}},
		{"null ingredients where some are needed: the client's spelling", `[{"ID":"pizza","quantity":1,"Ingredients":null}]`, []menutest.Broken{
			{"/dishList/0/Ingredients", violation.GroupMin, `{"count":0,"group":"g-size","max":1,"min":1,"name":"Size"}`},
		}},
		{"a group without available members (M9)", `[{"ID":"stuck","quantity":1,"ingredients":[{"ID":"i-gone"}]}]`, []menutest.Broken{
			{"/dishList/0", violation.DishNotOrderable, `{"id":"stuck","reasons":[{"code":"group_unsatisfiable","group":"g-gone"}]}`},
			{"/dishList/0/ingredients/0", violation.IngredientUnavailable, `{"id":"i-gone","reason":"stopped"}`},
		}},
		{"a price that the menu does not have", `[{"ID":"odd","quantity":1}]`, []menutest.Broken{
			{"/dishList/0", violation.DishNotOrderable, `{"id":"odd","reasons":[{"code":"price_invalid"}]}`},
		}},
		{"no price to compare the sent price with", `[{"ID":"odd","quantity":1,"price":5}]`, []menutest.Broken{
			{"/dishList/0", violation.DishNotOrderable, `{"id":"odd","reasons":[{"code":"price_invalid"}]}`},
		}},
		{"without externalId it falls back to the id (O2)", `[{"ID":"bare","quantity":1}]`, nil},
		{"no id at all", `[{"quantity":1},{"Id":null,"quantity":1}]`, []menutest.Broken{
			{"/dishList/0/ID", violation.FieldRequired, `{"field":"dishList[].ID"}`},
			{"/dishList/1/Id", violation.FieldRequired, `{"field":"dishList[].ID"}`},
		}},
		{"ids of the wrong type", `[{"ID":{},"quantity":1},{"ID":null,"externalId":[1],"quantity":1}]`, []menutest.Broken{
			{"/dishList/0/ID", violation.TypeMismatch, `{"got":"object","want":"identifier"}`},
			{"/dishList/1/externalId", violation.TypeMismatch, `{"got":"array","want":"identifier"}`},
		}},
		{"quantity missing", `[{"ID":"soup"},{"ID":"soup","Quantity":null},{"ID":"soup","quantity":""}]`, []menutest.Broken{
			{"/dishList/0/quantity", violation.FieldRequired, `{"field":"dishList[].quantity"}`},
			{"/dishList/1/Quantity", violation.FieldRequired, `{"field":"dishList[].quantity"}`},
			{"/dishList/2/quantity", violation.FieldRequired, `{"field":"dishList[].quantity"}`},
		}},
		{"quantity not positive (M8)", `[{"ID":"soup","quantity":0},{"ID":"soup","quantity":-1.50}]`, []menutest.Broken{
			{"/dishList/0/quantity", violation.QuantityNotPositive, `{"quantity":0}`},
			{"/dishList/1/quantity", violation.QuantityNotPositive, `{"quantity":-1.5}`},
		}},
		{"fractional, sold by the piece (M8)", `[{"ID":"soup","quantity":1.5},{"ID":"bare","quantity":0.1}]`, []menutest.Broken{
			{"/dishList/0/quantity", violation.QuantityNotWhole, `{"quantity":1.5}`},
			{"/dishList/1/quantity", violation.QuantityNotWhole, `{"quantity":0.1}`},
		}},
		{"fractional, sold by weight (M8)", `[{"ID":"cheese","quantity":0.350},{"ID":"soup","quantity":2.000}]`, nil},
		{"decimal comma (W5)", `[{"ID":"soup","quantity":"1,5","price":"199,90"}]`, []menutest.Broken{
			{"/dishList/0/quantity", violation.DecimalComma, `{}`},
			{"/dishList/0/price", violation.DecimalComma, `{}`},
		}},
		{"numbers of the wrong type", `[{"ID":"soup","quantity":true,"price":"much"}]`, []menutest.Broken{
			{"/dishList/0/quantity", violation.TypeMismatch, `{"got":"boolean","want":"number"}`},
			{"/dishList/0/price", violation.TypeMismatch, `{"got":"string","want":"number"}`},
		}},
		{"a number above all limits", `[{"ID":"soup","quantity":1e400}]`, []menutest.Broken{
			{"/dishList/0/quantity", violation.LimitExceeded, `{"limit":40}`},
		}},
		{"price changed (P2)", `[{"ID":"soup","quantity":1,"price":199.89},{"ID":"pizza","price":"500.00","quantity":1,"ingredients":[{"ID":"i-small","price":1}]}]`, []menutest.Broken{
			{"/dishList/0/price", violation.PriceChanged, `{"current":199.9,"sent":199.89}`},
			{"/dishList/1/ingredients/0/price", violation.PriceChanged, `{"current":0,"sent":1}`},
		}},
		{"no dishes", `[]`, []menutest.Broken{{"/dishList", violation.FieldRequired, `{"field":"dishList"}`}}},
		{"null dishes", `null`, []menutest.Broken{{"/dishList", violation.FieldRequired, `{"field":"dishList"}`}}},
		{"dishes of the wrong type", `{"0":1}`, []menutest.Broken{{"/dishList", violation.TypeMismatch, `{"got":"object","want":"array"}`}}},
		{"a dish of the wrong type", `["soup",null,{"ID":"soup","quantity":1}]`, []menutest.Broken{
			{"/dishList/0", violation.TypeMismatch, `{"got":"string","want":"object"}`},
			{"/dishList/1", violation.TypeMismatch, `{"got":"null","want":"object"}`},
		}},
		{"several violations, in the order of the body", `[{"quantity":0,"price":1,"ID":"soup"},{"ID":"nope"},{"ID":"wok","quantity":1}]`, []menutest.Broken{
			{"/dishList/0/quantity", violation.QuantityNotPositive, `{"quantity":0}`},
			{"/dishList/0/price", violation.PriceChanged, `{"current":199.9,"sent":1}`},
			{"/dishList/1", violation.DishNotInMenu, `{"id":"nope"}`},
			{"/dishList/1/quantity", violation.FieldRequired, `{"field":"dishList[].quantity"}`},
			{"/dishList/2", violation.DishUnavailable, `{"id":"wok","name":"Wok"}`},
		}},
		{"a name in several spellings: one that is not null", `[{"ID":null,"id":"soup","Id":null,"quantity":1}]`, nil},
		{"a name in several spellings with different values (O3)", `[{"ID":"nope","id":"soup","quantity":1}]`, []menutest.Broken{
			{"/dishList/0", violation.IDConflict, `{"externalId":"nope","id":"soup","ids":["soup"],"names":["Soup"]}`},
		}},
	})
}

func TestPointersUseTheClientsSpelling(t *testing.T) {
	t.Parallel()
	got := validateBody(t, `{"dish_list":[{"Id":"pizza","QUANTITY":"0","Ingredients":[{"id":"i-small"},{"Id":"i-hot","quantity":-1}]}],"expeditionType":"pickup","expectedAt":"2026-05-01T18:30:00Z","payment_type_id":"cash"}`)
	want := []menutest.Broken{
		{"/dish_list/0/QUANTITY", violation.QuantityNotPositive, `{"quantity":0}`},
		{"/dish_list/0/Ingredients/1/quantity", violation.QuantityNotPositive, `{"quantity":-1}`},
	}
	if diff := cmp.Diff(want, brokenOf(t, got)); diff != "" {
		t.Errorf("violations (-want +got):\n%s", diff)
	}
}

// An invalid price is neither charged nor shown as 0 (policy W9a).
func TestInvalidPriceIsNotOrdered_W9a(t *testing.T) {
	t.Parallel()
	for price, charged := range map[string]bool{
		`"price":2,`: true, `"price":"2.00",`: true, ``: true,
		`"price":null,`: false, `"price":"",`: false, `"price":"1,50",`: false, `"price":"free",`: false, `"price":{},`: false,
	} {
		req := v1(t, menutest.Order(`[{"ID":"d","quantity":1,"ingredients":[{"ID":"i"}]},{"ID":"e","quantity":1}]`))
		req.Catalogue = menutest.Compile(t, `{"products":[{"id":"d","externalId":"1","name":"Dish","price":5,"schemeId":"s"},{"id":"e","externalId":"2","name":"Other",`+
			price+`"description":""}],"ingredientsSchemes":[{"id":"s","ingredientsGroups":[{"id":"g","minCount":1}]}],
			"ingredientsGroups":[{"id":"g","name":"G","ingredients":["i"]}],"ingredients":[{"id":"i","externalId":"3",`+price+`"name":"Part"}]}`, menu.DefaultSettings())
		v := check(t, validate.DefaultConfig(), req)
		want := []menutest.Broken{}
		if !charged {
			want = []menutest.Broken{
				{"/dishList/0", violation.DishNotOrderable, `{"id":"d","reasons":[{"code":"group_unsatisfiable","group":"g"}]}`},
				{"/dishList/0/ingredients/0", violation.IngredientUnavailable, `{"id":"i","reason":"price_invalid"}`},
			}
		}
		if !charged || price == "" { // a dish must have a price
			want = append(want, menutest.Broken{"/dishList/1", violation.DishNotOrderable, `{"id":"e","reasons":[{"code":"price_invalid"}]}`})
		}
		if diff := cmp.Diff(want, brokenOf(t, v)); diff != "" {
			t.Errorf("%s: violations (-want +got):\n%s", price, diff)
		}
		if v.Lines[0].Total.Valid != charged || v.Lines[1].Price.Valid != (charged && price != "") || v.Total.Valid != v.Valid {
			t.Errorf("%s: lines %+v, total %v", price, v.Lines, v.Total)
		}
	}
}

func TestMissingExternalIDRefused(t *testing.T) {
	t.Parallel()
	settings := menu.DefaultSettings()
	settings.RefuseMissingExternalID = true
	req := v1(t, menutest.Order(`[{"ID":"bare","quantity":1},{"ID":"twin","quantity":1,"ingredients":[{"ID":"i-a"},{"ID":"i-c"}]}]`))
	req.Catalogue = menutest.Compile(t, menutest.Card, settings)
	want := []menutest.Broken{
		{"/dishList/0", violation.DishNotOrderable, `{"id":"bare","reasons":[{"code":"no_external_id"}]}`},
		{"/dishList/1/ingredients/1", violation.IngredientUnavailable, `{"id":"i-c","reason":"no_external_id"}`},
	}
	if diff := cmp.Diff(want, brokenOf(t, check(t, validate.DefaultConfig(), req))); diff != "" {
		t.Errorf("policy O2 refuse (-want +got):\n%s", diff)
	}
}

// The price of an ingredient may be negative. A line whose unit price is below 0 is rejected; 0 is allowed. A dish with a
// negative price cannot be ordered (policy W9b).
func TestNegativePriceOfAnIngredient_W9b(t *testing.T) {
	t.Parallel()
	const view = `{"products":[{"id":"d","externalId":"1","name":"Dish","price":5,"schemeId":"s"},{"id":"bad","externalId":"2","name":"Bad","price":-1},
			{"id":"kg","externalId":"7","name":"By weight","price":0.5,"schemeId":"s","measure":{"value":1,"unit":"kg"}}],
		"ingredientsSchemes":[{"id":"s","ingredientsGroups":[{"id":"g","minCount":0}]},{"id":"t","ingredientsGroups":[{"id":"h","minCount":0}]}],
		"ingredientsGroups":[{"id":"g","name":"G","ingredients":["small","none","box"]},{"id":"h","name":"H","ingredients":["none"]}],
		"ingredients":[{"id":"small","externalId":"3","name":"Small","price":-1.50},{"id":"none","externalId":"4","name":"No cheese","price":"-2.5"},
			{"id":"box","externalId":"5","name":"Box","price":1,"schemeId":"t"}]}`
	negative := func(path string) []menutest.Broken { return []menutest.Broken{{path, violation.TotalNegative, `{}`}} }
	for lines, want := range map[string]struct {
		total  string
		broken []menutest.Broken
	}{
		`{"ID":"d","quantity":2,"ingredients":[{"ID":"small"}]}`:                                                       {"7", nil},
		`{"ID":"d","quantity":1,"ingredients":[{"ID":"small","price":-1.5}]}`:                                          {"3.5", nil},
		`{"ID":"d","quantity":3,"ingredients":[{"ID":"none","quantity":2}]}`:                                           {"0", nil},
		`{"ID":"d","quantity":1,"ingredients":[{"ID":"none","quantity":2},{"ID":"small"}]}`:                            {"", negative("/dishList/0")},
		`{"ID":"d","quantity":1},{"ID":"d","quantity":1,"ingredients":[{"ID":"none","quantity":3}]}`:                   {"", negative("/dishList/1")},
		`{"ID":"d","quantity":1,"ingredients":[{"ID":"box","quantity":3,"ingredients":[{"ID":"none"}]}]}`:              {"0.5", nil},
		`{"ID":"d","quantity":1,"ingredients":[{"ID":"box","quantity":4,"ingredients":[{"ID":"none"}]}]}`:              {"", negative("/dishList/0")},
		`{"ID":"d","quantity":1,"ingredients":[{"ID":"box","quantity":4,"ingredients":[{"ID":"none","quantity":1}]}]}`: {"", negative("/dishList/0")},
		`{"ID":"kg","quantity":0.001,"ingredients":[{"ID":"small"}]}`:                                                  {"", negative("/dishList/0")},
		`{"ID":"bad","quantity":1}`: {"", []menutest.Broken{{"/dishList/0", violation.DishNotOrderable, `{"id":"bad","reasons":[{"code":"price_invalid"}]}`}}},
	} {
		t.Run(lines, func(t *testing.T) {
			t.Parallel()
			req := v1(t, menutest.Order(`[`+lines+`]`))
			req.Catalogue = menutest.Compile(t, view, menu.DefaultSettings())
			got := check(t, validate.DefaultConfig(), req)
			if diff := cmp.Diff(want.broken, brokenOf(t, got), cmpopts.EquateEmpty()); diff != "" {
				t.Fatalf("violations (-want +got):\n%s", diff)
			}
			if want.total != "" && got.Total.Decimal.String() != want.total {
				t.Errorf("total %s, want %s", got.Total.Decimal, want.total)
			}
			if got.Valid && strings.Contains(lines, "small") && !strings.Contains(string(got.Order), `"name":"Small","price":-1.5`) {
				t.Errorf("sent %s", got.Order)
			}
		})
	}
}
