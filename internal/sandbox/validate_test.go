package sandbox_test

import (
	"fmt"
	"net/http"
	"strings"
	"testing"
	"time"
)

// small is a menu for violations of every rule. Sauce a is in two groups of
// scheme s. Part x opens scheme n, which contains itself.
const small = `{"products":[
 {"id":"d","externalId":"D","name":"Dish","price":"10.10","schemeId":"s","measure":{"value":1,"unit":"pcs"}},
 {"id":"bare","name":"No externalId","price":3,"schemeId":"gone"},
 {"id":"two1","externalId":"TWO","price":1},{"id":"two2","externalId":"TWO","price":2},
 {"id":"out","externalId":"OUT","price":1,"isContainInStopList":["elsewhere","r"]},
 {"id":"away","externalId":"AWAY","price":0.005,"isContainInStopList":["elsewhere"]},
 {"id":"off","externalId":"OFF","price":1,"disabled":true},
 {"id":"combo","externalId":"COMBO","price":5,"schemeId":"c"},
 {"id":"any","externalId":"ANY","price":1,"schemeId":"any"},
 {"id":7,"externalId":9007199254740993,"price":1},
 {"id":"d","externalId":"SHADOW","price":99},{"id":"minus","externalId":"MINUS","price":-1},{"id":"big","externalId":"BIG","price":1E1}],
"ingredientsSchemes":[
 {"id":"s","ingredientsGroups":[{"id":"g1","minCount":1,"maxCount":1},{"id":"g2","minCount":1,"maxCount":2}]},
 {"id":"c","ingredientsGroups":[{"id":"main","minCount":1,"maxCount":2}]},
 {"id":"n","ingredientsGroups":[{"id":"inner","minCount":1,"maxCount":1}]},
 {"id":"any","ingredientsGroups":[{"id":"g1","minCount":-1,"maxCount":0},{"id":"missing","minCount":1,"maxCount":1}]}],
"ingredientsGroups":[
 {"id":"g1","name":"One","ingredients":["a","b"]},{"id":"g2","name":"Two","ingredients":["a","c","stopped"]},
 {"id":"main","name":"Main","ingredients":["x","plain"]},{"id":"inner","name":"Inner","ingredients":["y","z"]}],
"ingredients":[
 {"id":"a","externalId":"A","price":1.5},{"id":"b","externalId":"B","price":0.25},{"id":"c","externalId":"C","price":0},
 {"id":"stopped","externalId":"S","price":0,"isContainInStopList":true},
 {"id":"x","externalId":"X","price":0,"schemeId":"n"},{"id":"plain","externalId":"PLAIN","price":0},
 {"id":"y","externalId":"Y","price":1,"schemeId":"n"},{"id":"z","externalId":"Z","price":2},
 {"id":"z2","externalId":"B","price":7},{"id":"null","externalId":"NULL","price":null},{"id":"lone","externalId":"LONE","price":0}]}`

// line returns a dish with ingredients such as "A", "A*2" or "A@1.5".
func line(dish string, ingredients ...string) string {
	parts := make([]string, 0, len(ingredients))
	for _, in := range ingredients {
		id, quantity, many := strings.Cut(in, "*")
		id, price, priced := strings.Cut(id, "@")
		text := `{"ID":"` + id + `"`
		if many {
			text += `,"quantity":` + quantity
		}
		if priced {
			text += `,"price":` + price
		}
		parts = append(parts, text+"}")
	}
	return `{"ID":"` + dish + `","quantity":1,"ingredients":[` + strings.Join(parts, ",") + `]}`
}

func (w *fixture) order(dishes string) string {
	return fmt.Sprintf(`{"restaurantID":"r","expeditionType":"pickup","paymentTypeID":"cash","expectedAt":%q,"dishList":[%s]}`,
		w.clock().Format(time.RFC3339), dishes)
}

func TestValidateDishes(t *testing.T) {
	t.Parallel()
	w := start(t)
	w.box.SetMenu("r", []byte(small))
	for name, c := range map[string]struct{ dishes, total, reason string }{
		"both groups met":                         {line("D", "B", "C"), "10.35", ""},
		"shared ingredient for the first":         {line("D", "A", "C"), "11.6", ""},
		"shared ingredient for the second":        {line("D", "B", "A"), "11.85", ""},
		"shared ingredient for both":              {line("D", "A*2"), "13.1", ""},
		"shared ingredient fills what is left":    {line("D", "A*2", "C"), "13.1", ""},
		"repeated lines are summed":               {line("D", "A", "A"), "13.1", ""},
		"one short":                               {line("D", "A"), "", "too few of group g2 (Two): 0, at least 1"},
		"one too many":                            {line("D", "B", "A*2", "C"), "", "too many of group g"},
		"nothing chosen":                          {line("D"), "", "too few of group g1 (One): 0, at least 1"},
		"not in the scheme":                       {line("D", "B", "C", "LONE"), "", "ingredient lone () is not allowed"},
		"ingredient unknown":                      {line("D", "B", "C", "NOPE"), "", "ingredient NOPE is not in the menu"},
		"by menu id where there is an externalId": {line("d", "B", "C"), "", "dish d is not in the menu"},
		"by id where there is no externalId":      {line("bare"), "3", ""},
		"scheme that is missing takes nothing":    {line("bare", "B"), "", "not allowed"},
		"the first definition wins":               {line("SHADOW"), "", "not in the menu"},
		"ingredient stopped":                      {line("D", "B", "S"), "", "ingredient stopped () is stopped"},
		"dish stopped here":                       {line("OUT"), "", "is stopped"},
		"dish stopped by a flag":                  {line("OFF"), "", "is stopped"},
		"stopped elsewhere; half a cent goes up":  {line("AWAY"), "0.01", ""},
		"number ids keep their digits":            {line("9007199254740993"), "1", ""},
		"right ingredient price":                  {line("D", "B@0.250", "C@0"), "10.35", ""},
		"wrong ingredient price":                  {line("D", "B@0.26", "C"), "", "/price: 0.26, in the menu 0.25"},
		"shared externalId, read as it fits":      {line("D", "B@0.25", "C"), "10.35", ""},
		"shared dish externalId, either price":    {strings.Replace(line("TWO"), `"quantity"`, `"price":2,"quantity"`, 1), "2", ""},
		"wrong dish price":                        {strings.Replace(line("TWO"), `"quantity"`, `"price":3,"quantity"`, 1), "", "/price: 3, in the menu"},
		"null price is none":                      {strings.Replace(line("bare"), `"quantity"`, `"price":null,"quantity"`, 1), "3", ""},
		"price as text":                           {strings.Replace(line("bare"), `"quantity"`, `"price":"3","quantity"`, 1), "", "/price: must be a number"},
		"dish with a price below zero":            {line("MINUS"), "", "/dishList/0: dish minus () has no price"},
		"dish with a price as a power of ten":     {line("BIG"), "10", ""},
		"ingredient whose price is null":          {line("D", "B", "C", "NULL"), "", "ingredient null () has no price"},
		"no upper limit, negative minimum":        {line("ANY", "A*40"), "61", ""},
		"combo part opens its scheme":             {line("COMBO", "X", "Z"), "7", ""},
		"combo part without its choice":           {line("COMBO", "X"), "", "too few of group inner (Inner): 0, at least 1"},
		"two of a part need two choices":          {line("COMBO", "X*2", "Z*2"), "9", ""},
		"two of a part, one choice":               {line("COMBO", "X*2", "Z"), "", "too few of group inner (Inner): 1, at least 2"},
		"a choice without its part":               {line("COMBO", "PLAIN", "Z"), "", "ingredient z () is not allowed"},
		"a circle of schemes is cut":              {line("COMBO", "X", "Y"), "6", ""},
		"quantities of lines and dishes":          {strings.Replace(line("D", "A*2"), `"quantity":1,`, `"quantity":2.5,`, 1), "32.75", ""},
		"two lines add up":                        {line("bare") + "," + line("AWAY"), "3.01", ""},
		"quantity zero":                           {strings.Replace(line("bare"), ":1,", ":0,", 1), "", "/quantity: 0 is not positive"},
		"quantity negative":                       {strings.Replace(line("bare"), ":1,", ":-1,", 1), "", "/quantity: -1 is not positive"},
		"quantity as text":                        {strings.Replace(line("bare"), ":1,", `:"1",`, 1), "", "/quantity: required, a number"},
		"quantity with an exponent":               {strings.Replace(line("bare"), ":1,", `:1e999999999,`, 1), "", "/quantity: required, a number"},
		"ingredient fractional":                   {line("D", "B", "C*0.5"), "", "/ingredients/1/quantity: must be a whole number"},
		"ingredient zero":                         {line("D", "B", "C*0"), "", "/ingredients/1/quantity: must be a whole number"},
		"ingredient without ID":                   {`{"ID":"D","quantity":1,"ingredients":[{}]}`, "", "/ingredients/0/ID: required"},
		"ingredient no object":                    {`{"ID":"D","quantity":1,"ingredients":[1]}`, "", "/ingredients/0: an ingredient is an object"},
		"ingredients no list":                     {`{"ID":"bare","quantity":1,"ingredients":{}}`, "", "/ingredients: must be a list"},
		"ingredients within ingredients":          {`{"ID":"D","quantity":1,"ingredients":[{"ID":"B","ingredients":[{"ID":"C"}]}]}`, "", "is flat"},
		"dish without ID":                         {`{"quantity":1}`, "", "/dishList/0/ID: required"},
		"dish without quantity":                   {`{"ID":"bare"}`, "", "/dishList/0/quantity: required"},
		"dish no object":                          {`"D"`, "", "/dishList/0: a dish is an object"},
		"measure as text":                         {`{"ID":"bare","quantity":1,"measure":{"value":"1"}}`, "", "/measure/value: must be a number"},
		"id spelled otherwise":                    {`{"Id":"bare","quantity":1}`, "3", ""},
		"no dish":                                 {"", "", "/dishList: at least one dish"},
	} {
		r := w.do(http.MethodPost, orders, w.order(c.dishes))
		if c.reason != "" {
			r.wantError(http.StatusBadRequest, "order_validation")
			if !strings.Contains(string(r.body), c.reason) {
				t.Errorf("%s: reasons %s, want one with %q", name, r.body, c.reason)
			}
			continue
		}
		if r.status != http.StatusCreated {
			t.Errorf("%s: %d %s, want 201", name, r.status, r.body)
			continue
		}
		if got := w.do(http.MethodGet, "/sandbox/orders/"+r.str("result", "orderID"), "").str("result", "total"); got != c.total {
			t.Errorf("%s: total %s, want %s", name, got, c.total)
		}
	}
}

func TestValidateMandatoryFields(t *testing.T) {
	t.Parallel()
	w := start(t)
	w.box.SetMenu("r", []byte(small))
	full := `{"restaurantID":"r","expeditionType":"delivery","paymentTypeID":"online","expectedAt":"2030-05-17T15:00:00+03:00",` +
		`"persons":2,"guest":{"phone":"1"},"address":{"street":"s","cityName":"c","houseNumber":"1","fullAddress":"f","lat":1.5},` +
		`"dishList":[{"ID":"bare","quantity":1}]}`
	w.do(http.MethodPost, orders, full).want(http.StatusCreated)
	for _, c := range []struct{ cut, put, reason string }{
		{`"restaurantID":"r",`, ``, "/restaurantID: required"},
		{`"restaurantID":"r"`, `"restaurantID":"unknown"`, "/restaurantID: no menu"},
		{`"delivery"`, `"carrier pigeon"`, "/expeditionType: required, one of delivery, pickup"},
		{`"expeditionType":"delivery",`, ``, "/expeditionType: required"},
		{`"online"`, `"iou"`, "/paymentTypeID: required, one of cash, card, online"},
		{`"expectedAt":"2030-05-17T15:00:00+03:00",`, ``, "/expectedAt: required"},
		{`15:00:00+03:00`, `15:00:00`, "/expectedAt: not a time with a time zone offset"},
		{`15:00:00+03:00`, `11:58:59Z`, "/expectedAt: in the past"},
		{`{"phone":"1"}`, `{"phone":" "}`, "/guest/phone: required"},
		{`"guest":{"phone":"1"},`, ``, "/guest: required"},
		{`"street":"s",`, ``, "/address/street: required"},
		{`"cityName":"c",`, ``, "/address/cityName: required"},
		{`"houseNumber":"1",`, ``, "/address/houseNumber: required"},
		{`"fullAddress":"f",`, ``, "/address/fullAddress: required"},
		{`"lat":1.5`, `"lat":"1.5"`, "/address/lat: must be a number"},
		{`"lat":1.5`, `"lat":""`, "/address/lat: must be a number"},
		{`"lat":1.5`, `"floor":"2"`, "/address/floor: must be a number"},
		{`"persons":2`, `"persons":"2"`, "/persons: must be a number"},
		{`[{"ID":"bare","quantity":1}]`, `null`, "/dishList: at least one dish"},
	} {
		body := strings.Replace(full, c.cut, c.put, 1)
		r := w.do(http.MethodPost, orders, body).wantError(http.StatusBadRequest, "order_validation")
		if !strings.Contains(string(r.body), c.reason) {
			t.Errorf("%s → %s: reasons %s, want %q", c.cut, c.put, r.body, c.reason)
		}
	}
	for name, body := range map[string]string{
		"within the grace":              strings.Replace(full, "15:00:00+03:00", "11:59:01Z", 1),
		"as soon as possible":           strings.Replace(full, `"expectedAt":"2030-05-17T15:00:00+03:00"`, `"soonest":true`, 1),
		"an empty floor":                strings.Replace(full, `"lat":1.5`, `"floor":""`, 1),
		"pickup needs no guest":         w.order(line("bare")),
		"names blind to case":           strings.NewReplacer("restaurantID", "restaurantId", "paymentTypeID", "payment_type_id").Replace(full),
		"pickup, the connection's menu": strings.NewReplacer(`"restaurantID":"r",`, "", `"bare"`, `"`+w.external("dish-water")+`"`).Replace(w.order(line("bare"))),
	} {
		if r := w.do(http.MethodPost, orders, body); r.status != http.StatusCreated {
			t.Errorf("%s: %d %s", name, r.status, r.body)
		}
	}
	w.do(http.MethodPost, orders, "{").wantError(http.StatusBadRequest, "malformed_json")
	w.do(http.MethodPost, orders, "{} {}").wantError(http.StatusBadRequest, "malformed_json")
	w.do(http.MethodPost, orders, "[]").wantError(http.StatusBadRequest, "order_validation")
	w.box.SetMenu("r", []byte("{"))
	r := w.do(http.MethodPost, orders, full).wantError(http.StatusBadRequest, "order_validation")
	if !strings.Contains(r.str("errors", 0), "/restaurantID") {
		t.Errorf("a menu that is no JSON: %s", r.body)
	}
}
