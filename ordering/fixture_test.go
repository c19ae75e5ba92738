package ordering_test

import (
	"bytes"
	"encoding/json"
	"testing"
	"time"

	"github.com/shopspring/decimal"

	"larder/internal/menu"
	"larder/internal/upstream"
	"larder/ordering"
	"larder/ordering/violation"
)

const restaurant menu.RestaurantID = "r-1"

// noon is when every test takes place.
func noon() time.Time { return time.Date(2026, 5, 1, 12, 0, 0, 0, time.UTC) }

// card is the menu of most tests. Group g-sauce stands under two schemes with
// different limits; i-b stands in g-one and g-two of s-twin.
const card = `{"name":"card","categories":[{"id":"c","name":"All"}],
"products":[
 {"id":"pizza","externalId":"1001","categoryId":"c","name":"Pizza","price":500,"schemeId":"s-pizza","measure":{"value":0.4,"unit":"kg"}},
 {"id":"soup","externalId":"1002","categoryId":"c","name":"Soup","price":199.9,"measure":{"value":1,"unit":"pcs"}},
 {"id":"wok","externalId":"1003","categoryId":"c","name":"Wok","price":300,"isContainInStopList":["r-1"]},
 {"id":"cheese","externalId":"1004","categoryId":"c","name":"Cheese","price":1099.99,"measure":{"value":1,"unit":"KG"}},
 {"id":"left","externalId":"77","categoryId":"c","name":"Left","price":1},
 {"id":"right","externalId":"77","categoryId":"c","name":"Right","price":2},
 {"id":"burger","externalId":"1006","categoryId":"c","name":"Burger","price":250,"schemeId":"s-burger"},
 {"id":"combo","externalId":"1007","categoryId":"c","name":"Combo","price":400,"schemeId":"s-combo"},
 {"id":"stuck","externalId":"1008","categoryId":"c","name":"Stuck","price":10,"schemeId":"s-stuck"},
 {"id":"twin","externalId":"1009","categoryId":"c","name":"Twin","price":100,"schemeId":"s-twin"},
 {"id":"bare","categoryId":"c","name":"Bare","price":5},
 {"id":"ring","externalId":"1011","categoryId":"c","name":"Ring","price":7,"schemeId":"s-ring"},
 {"id":"odd","externalId":"1012","categoryId":"c","name":"Odd","price":"a lot"},
 {"id":"free","externalId":"1013","categoryId":"c","name":"Free","price":3,"schemeId":"s-free"}],
"ingredientsSchemes":[
 {"id":"s-pizza","ingredientsGroups":[{"id":"g-size","minCount":1,"maxCount":1},{"id":"g-sauce","minCount":0,"maxCount":3}]},
 {"id":"s-burger","ingredientsGroups":[{"id":"g-sauce","minCount":1,"maxCount":2}]},
 {"id":"s-combo","ingredientsGroups":[{"id":"g-main","minCount":1,"maxCount":2},{"id":"g-drink","minCount":1,"maxCount":0}]},
 {"id":"s-main","ingredientsGroups":[{"id":"g-sauce","minCount":1,"maxCount":2}]},
 {"id":"s-stuck","ingredientsGroups":[{"id":"g-gone","minCount":1,"maxCount":1}]},
 {"id":"s-twin","ingredientsGroups":[{"id":"g-one","minCount":1,"maxCount":1},{"id":"g-two","minCount":1,"maxCount":2}]},
 {"id":"s-ring","ingredientsGroups":[{"id":"g-ring","minCount":1,"maxCount":1}]},
 {"id":"s-free","ingredientsGroups":[{"id":"g-gone","minCount":0,"maxCount":1}]}],
"ingredientsGroups":[
 {"id":"g-size","name":"Size","ingredients":["i-small","i-large"]},
 {"id":"g-sauce","name":"Sauce","ingredients":["i-hot","i-mild"]},
 {"id":"g-main","name":"Main","ingredients":["i-burger","i-rice"]},
 {"id":"g-drink","name":"Drink","ingredients":["i-cola"]},
 {"id":"g-gone","name":"Gone","ingredients":["i-gone"]},
 {"id":"g-one","name":"One","ingredients":["i-a","i-b"]},
 {"id":"g-two","name":"Two","ingredients":["i-b","i-c"]},
 {"id":"g-ring","name":"Ring","ingredients":["i-ring"]}],
"ingredients":[
 {"id":"i-small","externalId":"21","name":"Small","price":0,"measure":{"value":0.3,"unit":"kg"}},
 {"id":"i-large","externalId":"22","name":"Large","price":150.5},
 {"id":"i-hot","externalId":"23","name":"Hot","price":25},
 {"id":"i-mild","externalId":"24","name":"Mild","price":20.25},
 {"id":"i-burger","externalId":"25","name":"Small burger","price":50,"schemeId":"s-main"},
 {"id":"i-rice","externalId":"26","name":"Rice","price":30},
 {"id":"i-cola","externalId":"27","name":"Cola","price":0},
 {"id":"i-gone","externalId":"28","name":"Truffle","price":9,"isContainInStopList":["r-1"]},
 {"id":"i-a","externalId":"31","name":"A","price":1},
 {"id":"i-b","externalId":"32","name":"B","price":2},
 {"id":"i-c","name":"C","price":3},
 {"id":"i-ring","externalId":"33","name":"Ring","price":1,"schemeId":"s-ring"},
 {"id":"i-x","externalId":"32","name":"X","price":2}]}`

func compile(tb testing.TB, view string, settings menu.Settings) *menu.Catalogue {
	tb.Helper()
	v, err := menu.Decode([]byte(view))
	if err != nil {
		tb.Fatalf("decode the menu: %v", err)
	}
	return menu.Compile(v, restaurant, settings)
}

// order is a pickup order that is right but for its dishes.
func order(dishes string) string {
	return `{"dishList":` + dishes + `,"expeditionType":"pickup","expectedAt":"2026-05-01T18:30:00+03:00","paymentTypeID":"cash"}`
}

// validate checks a body on the v1 API by the default rules.
func validate(tb testing.TB, body string) *validated {
	tb.Helper()
	return check(tb, ordering.DefaultValidatorConfig(), v1(tb, body))
}

func v1(tb testing.TB, body string) ordering.Request {
	tb.Helper()
	return ordering.Request{
		Restaurant: restaurant, V1: true, Version: 42, Catalogue: compile(tb, card, menu.DefaultSettings()),
		Body: []byte(body), Language: "en", FieldCase: upstream.FieldCaseDocument,
	}
}

// validated is what Validate returned, with the lines that only AppendResult has.
type validated struct {
	*ordering.ValidationResult

	Lines []struct {
		Path, ID, Name         string
		Quantity, Price, Total decimal.NullDecimal
	}
	JSON []byte
}

func check(tb testing.TB, cfg ordering.ValidatorConfig, req ordering.Request) *validated {
	tb.Helper()
	body := req.Body
	req.Body = bytes.Clone(body)
	validator := ordering.NewValidator(cfg, noon)
	found, err := validator.Validate(req)
	if err != nil {
		tb.Fatalf("Validate(%s): %v", body, err)
	}
	written, err := validator.AppendResult(nil, req)
	if err != nil {
		tb.Fatal(err)
	}
	result := checkWritten(tb, found, written)
	for i := range req.Body { // a result shares no memory with the body
		req.Body[i] = 'X'
	}
	return result
}

// checkWritten checks that the JSON of AppendResult says what Validate returned.
func checkWritten(tb testing.TB, found *ordering.ValidationResult, written []byte) *validated {
	tb.Helper()
	result := &validated{ValidationResult: found, JSON: written}
	shape := struct {
		Valid      bool
		Version    int64
		Total      decimal.NullDecimal
		Lines      any
		Violations json.RawMessage
		More       bool
		Order      json.RawMessage
	}{Lines: &result.Lines}
	if err := json.Unmarshal(written, &shape); err != nil {
		tb.Fatalf("%s: %v", written, err)
	}
	order, violations := "null", []byte("[]")
	if found.Order != nil {
		order = string(found.Order)
	}
	if len(found.Violations) > 0 {
		var err error
		if violations, err = json.Marshal(found.Violations); err != nil {
			tb.Fatal(err)
		}
	}
	if shape.Valid != found.Valid || shape.Version != found.Version || shape.More != found.More ||
		shape.Total.Valid != found.Total.Valid || !shape.Total.Decimal.Equal(found.Total.Decimal) ||
		!bytes.Equal(shape.Violations, violations) || string(shape.Order) != order {
		tb.Errorf("written %s\nresult %+v", written, found)
	}
	return result
}

// broken is one violation as the tables have it: path, code and params.
type broken struct {
	path   string
	code   violation.Code
	params string // JSON
}

func brokenOf(tb testing.TB, v *validated) []broken {
	tb.Helper()
	return brokenIn(tb, v.Violations)
}

func brokenIn(tb testing.TB, violations []violation.Violation) []broken {
	tb.Helper()
	out := make([]broken, 0, len(violations))
	for _, v := range violations {
		params, err := json.Marshal(v.Params)
		if err != nil {
			tb.Fatalf("params of %v: %v", v, err)
		}
		if v.Msg == "" {
			tb.Errorf("%s at %s has no sentence", v.Code, v.Path)
		}
		out = append(out, broken{v.Path, v.Code, string(params)})
	}
	return out
}
