package upstream_test

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/shopspring/decimal"
	"pgregory.net/rapid"

	"larder.local/internal/jsontext"
	"larder.local/internal/menu"
	"larder.local/internal/upstream"
)

func num(s string) *jsontext.Number { return new(jsontext.NumberOf(decimal.RequireFromString(s))) }

func item(id, name, price string, measure *menu.Measure) *menu.Item {
	return menu.NewItem(id, name, decimal.RequireFromString(price), measure)
}

func fullOrder() upstream.Order {
	return upstream.Order{
		Comment:      new("без лука \"please\"\n<b>🍲</b>"),
		RestaurantID: new("r1"),
		Persons:      new(2),
		DishList: []upstream.Dish{{
			Item:     item("d1", "Soup", "199.90", &menu.Measure{Value: decimal.RequireFromString("0.300"), Unit: "kg"}),
			Quantity: *num("1e1"),
			Ingredients: []upstream.OrderIngredient{
				{Item: item("i1", "", "1e1", nil), Quantity: jsontext.Whole(1)},
				{
					Item:     item("i2", "Bun", "0", &menu.Measure{Value: decimal.NewFromInt(1), Unit: "pcs"}),
					Quantity: jsontext.Whole(2),
					Extra: []upstream.Field{
						{Name: "hot", Value: json.RawMessage("true")}, {Name: "Measure", Value: json.RawMessage("1")}, {Name: "id", Value: json.RawMessage("1")},
					},
				},
			},
			Extra: []upstream.Field{{Name: "tag", Value: json.RawMessage(`"x"`)}, {Name: "Ingredients", Value: json.RawMessage("[]")}},
		}, {
			Item: item("d2", "\"2\"", "0.05", nil), Quantity: jsontext.Whole(1), Ingredients: []upstream.OrderIngredient{},
			Extra: []upstream.Field{{Name: "measure", Value: json.RawMessage(`"kept: none is written"`)}},
		}},
		ExpeditionType: new("delivery"),
		ExpectedAt:     new("2026-11-21T20:00:00+03:00"),
		PaymentTypeID:  new("cash"),
		ChangeFrom:     num("1000000000000000000000.10"),
		Guest: &upstream.Guest{
			Email:     new(""),
			Phone:     new("+1"),
			FirstName: new("A"),
			LastName:  new("B"),
		},
		Address: &upstream.Address{
			Postcode:        new("1"),
			Street:          new("s"),
			Comment:         new("c"),
			Lat:             num("55.75"),
			Lon:             num("-0.0000001"),
			CityID:          new("7"),
			CityName:        new("n"),
			Floor:           new(-1),
			HouseNumber:     new("h"),
			ApartmentNumber: new("a"),
			Entrance:        new("e"),
			Subway:          new("m"),
			FullAddress:     new("f"),
		},
		Extra: []upstream.Field{
			{Name: "utm", Value: json.RawMessage(`{ "a" : [ 1e3 , 1.50, "x \"1e5\" y\\", null, {} ], "b": 1e999, "c":-2.5E-1 }`)},
			{Name: "soonest", Value: json.RawMessage("true")},
		},
	}
}

const fullDocument = `{"comment":"без лука \"please\"\n<b>🍲</b>","restaurantID":"r1","persons":2,"dishList":[` +
	`{"ID":"d1","name":"Soup","price":199.9,"measure":{"value":0.3,"unit":"kg"},"quantity":10,"ingredients":[` +
	`{"ID":"i1","name":"","price":10,"quantity":1},{"ID":"i2","name":"Bun","price":0,"measure":{"value":1,"unit":"pcs"},"quantity":2,"hot":true}],"tag":"x"},` +
	`{"ID":"d2","name":"\"2\"","price":0.05,"quantity":1,"ingredients":[],"measure":"kept: none is written"}],` +
	`"expeditionType":"delivery","expectedAt":"2026-11-21T20:00:00+03:00","paymentTypeID":"cash","changeFrom":1000000000000000000000.1,` +
	`"guest":{"email":"","phone":"+1","firstName":"A","lastName":"B"},` +
	`"address":{"postcode":"1","street":"s","comment":"c","lat":55.75,"lon":-0.0000001,"cityID":"7","cityName":"n","floor":-1,` +
	`"houseNumber":"h","apartmentNumber":"a","entrance":"e","subway":"m","fullAddress":"f"},` +
	`"utm":{"a":[1000,1.50,"x \"1e5\" y\\",null,{}],"b":1e999,"c":-0.25},"soonest":true}`

func TestEncodeOrder(t *testing.T) {
	t.Parallel()
	camel := strings.NewReplacer(
		`"ID"`, `"id"`, `"restaurantID"`, `"restaurantId"`, `"paymentTypeID"`, `"paymentTypeId"`, `"cityID"`, `"cityId"`,
	).Replace(fullDocument)
	full := fullOrder()
	for name, tc := range map[string]struct {
		order upstream.Order
		wire  upstream.FieldCase
		want  string
	}{
		"every field, the interface's spelling (W3)": {full, upstream.FieldCaseDocument, fullDocument},
		"every field, camel case (W3)":               {full, upstream.FieldCaseCamel, camel},
		"absent fields are omitted":                  {upstream.Order{}, upstream.FieldCaseDocument, `{"dishList":[]}`},
		"empty text is not absent":                   {upstream.Order{Comment: new("")}, upstream.FieldCaseDocument, `{"comment":"","dishList":[]}`},
		"an extra field does not replace a known one, in any spelling": {
			upstream.Order{RestaurantID: new("r"), Extra: []upstream.Field{
				{Name: "restaurant_id", Value: json.RawMessage(`"other"`)},
				{Name: "DISHLIST", Value: json.RawMessage(`[]`)},
				{Name: "guest", Value: json.RawMessage(`"kept: no typed guest"`)},
			}}, upstream.FieldCaseDocument, `{"restaurantID":"r","dishList":[],"guest":"kept: no typed guest"}`,
		},
		"an extra value that is not JSON is null": {
			upstream.Order{Extra: []upstream.Field{{Name: "x", Value: json.RawMessage(`{`)}}},
			upstream.FieldCaseDocument, `{"dishList":[],"x":null}`,
		},
		"control characters and broken UTF-8": {
			upstream.Order{Comment: new("\x01\t\r\\\xffя")},
			upstream.FieldCaseDocument,
			`{"comment":"\u0001\t\r\\` + "\ufffd" + `я","dishList":[]}`,
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			got := string(tc.order.AppendJSON([]byte("> "), tc.wire))
			if diff := cmp.Diff("> "+tc.want, got); diff != "" {
				t.Errorf("encoded (-want +got):\n%s", diff)
			}
		})
	}
}

func TestEncodePaymentsAndRejection(t *testing.T) {
	t.Parallel()
	payments := []upstream.Payment{
		{Code: "c1", Amount: decimal.RequireFromString("640.00"), PaidAt: "2026-11-21T20:00:00Z"},
		{Code: "c2", Amount: decimal.Zero, PaidAt: "p", Name: "card", Extra: []upstream.Field{{Name: "ref", Value: json.RawMessage("1")}}},
	}
	got := string(upstream.AppendPaymentsJSON(nil, payments, upstream.FieldCaseDocument))
	want := `[{"code":"c1","amount":640,"paidAt":"2026-11-21T20:00:00Z","name":""},` +
		`{"code":"c2","amount":0,"paidAt":"p","name":"card","ref":1}]`
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("payments (-want +got):\n%s", diff)
	}
	var rejection upstream.Rejection
	for fieldCase, want := range map[upstream.FieldCase]string{
		upstream.FieldCaseDocument: `{"rejectionReasonID":"","rejectionReasonText":""}`,
		upstream.FieldCaseCamel:    `{"rejectionReasonId":"","rejectionReasonText":""}`,
	} {
		if got := string(rejection.AppendJSON(nil, fieldCase)); got != want {
			t.Errorf("rejection in %s = %s, want %s", fieldCase, got, want)
		}
	}
}

func TestEncodedTextAndNumbersCanBeDecoded(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		comment := rapid.String().Draw(t, "comment")
		price := decimal.New(rapid.Int64().Draw(t, "digits"), rapid.Int32Range(-20, 10).Draw(t, "exponent"))
		order := upstream.Order{Comment: &comment, ChangeFrom: new(jsontext.NumberOf(price))}
		body := order.AppendJSON(nil, upstream.FieldCaseDocument)
		var back struct {
			Comment    string      `json:"comment"`
			ChangeFrom json.Number `json:"changeFrom"`
		}
		if err := json.Unmarshal(body, &back); err != nil {
			t.Fatalf("%s: %v", body, err)
		}
		if back.Comment != comment {
			t.Errorf("comment %q was decoded as %q", comment, back.Comment)
		}
		if number := back.ChangeFrom.String(); strings.ContainsAny(number, "eE") || !decimal.RequireFromString(number).Equal(price) {
			t.Errorf("%s was decoded as %s", price, number)
		}
	})
}

func BenchmarkEncodeOrder(b *testing.B) {
	order := fullOrder()
	var dst []byte
	b.ReportAllocs()
	for b.Loop() {
		dst = order.AppendJSON(dst[:0], upstream.FieldCaseDocument)
	}
}

func FuzzExtraValue(f *testing.F) {
	for _, seed := range []string{`{"a":[1e3,-0.5,"\"1e5\\"]}`, ` "x" `, `1E-2`, `[]`, `null`, `{`, "\ufeff1"} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, value []byte) {
		order := upstream.Order{Extra: []upstream.Field{{Name: "x", Value: value}}}
		body := order.AppendJSON(nil, upstream.FieldCaseDocument)
		var back struct {
			X json.RawMessage `json:"x"`
		}
		if err := json.Unmarshal(body, &back); err != nil {
			t.Fatalf("%q became %s: %v", value, body, err)
		}
		if again := (&upstream.Order{Extra: []upstream.Field{{Name: "x", Value: back.X}}}).AppendJSON(nil,
			upstream.FieldCaseDocument); string(again) != string(body) {
			t.Errorf("%q became %s, which became %s", value, body, again)
		}
	})
}
