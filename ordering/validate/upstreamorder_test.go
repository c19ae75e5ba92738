package validate_test

import (
	"strings"
	"testing"

	"larder.local/internal/menu"
	"larder.local/internal/testkit/menutest"
	"larder.local/internal/upstream"
	"larder.local/ordering/validate"
)

// everyField is an order with every field of the interface and unknown ones, in the reverse order.
const everyField = `{"utm":{ "a" : [ 1e3 , 1.50, "x \"1e5\" y\\", null, {} ], "b": 1e999, "c":-2.5E-1 },"address":{"fullAddress":"f","subway":"m","entrance":"e","apartmentNumber":"a",
	"houseNumber":"h","floor":"-1","cityName":"n","cityID":7,"lon":-1e-7,"lat":"55.750","comment":"c","street":"s","postcode":"1","zone":"A"},
	"guest":{"lastName":"B","firstName":"A","phone":"+12345","email":"","vip":true},"changeFrom":5600.50,"paymentTypeID":"cash","expectedAt":"2026-05-01T18:30:00+03:00",
	"expeditionType":"delivery","dishList":[{"gift":true,"ingredients":[{"hot":true,"quantity":2,"ID":"i-hot"},{"ID":"i-small"}],"quantity":"1e1","ID":"pizza"},{"ID":"bare","quantity":1}],
	"persons":2,"restaurantID":"r1","comment":"\ud83c\udf72 \"please\"\t\r\n\\ <b> \ud800"}`

// everyFieldSent is what is sent for everyField.
const everyFieldSent = `{"comment":"🍲 \"please\"\t\r\n\\ <b> ` + "\ufffd" + `","restaurantID":"r1","persons":2,"dishList":[` +
	`{"ID":"1001","name":"Pizza","price":500,"measure":{"value":0.4,"unit":"kg"},"quantity":10,"ingredients":[` +
	`{"ID":"23","name":"Hot","price":25,"quantity":2,"hot":true},{"ID":"21","name":"Small","price":0,"measure":{"value":0.3,"unit":"kg"},"quantity":1}],"gift":true},` +
	`{"ID":"bare","name":"Bare","price":5,"quantity":1,"ingredients":[]}],` +
	`"expeditionType":"delivery","expectedAt":"2026-05-01T18:30:00+03:00","paymentTypeID":"cash","changeFrom":5600.5,` +
	`"guest":{"email":"","phone":"+12345","firstName":"A","lastName":"B","vip":true},` +
	`"address":{"postcode":"1","street":"s","comment":"c","lat":55.75,"lon":-0.0000001,"cityID":"7","cityName":"n","floor":-1,` +
	`"houseNumber":"h","apartmentNumber":"a","entrance":"e","subway":"m","fullAddress":"f","zone":"A"},` +
	`"utm":{"a":[1000,1.50,"x \"1e5\" y\\",null,{}],"b":1e999,"c":-0.25}}`

// camelCase has the spellings of upstream.FieldCaseCamel.
var camelCase = strings.NewReplacer(`"ID"`, `"id"`, `ID":`, `Id":`)

func TestSentOrders_P3(t *testing.T) {
	t.Parallel()
	for _, tc := range []struct {
		name, body string
		v1         bool
		wire       upstream.FieldCase
		want       string
	}{
		{"every field, in the documented order", everyField, false, upstream.FieldCaseDocument, everyFieldSent},
		{"every field, in camel case (W3)", everyField, false, upstream.FieldCaseCamel, camelCase.Replace(everyFieldSent)},
		{
			"the interface's fields with the catalogue's dishes (P3, O2)",
			`{"zip":{"n":1E2},"comment":"ring \u0022twice\u0022","persons":"2","dishList":[{"ID":"pizza","name":"my","price":"500.0","quantity":"2","x":1,"measure":null,
			  "ingredients":[{"ID":"i-small","groupId":"g-size","y":2},{"ID":"i-hot","price":25.00,"quantity":1e0},{"ID":"i-hot"}]},{"ID":"bare","quantity":3}],
			  "expeditionType":"pickup","expectedAt":"2026-05-01T16:30:00+03:00","paymentTypeID":"cash","changeFrom":1.5e3,
			  "guest":{"firstName":"F","vip":true},"address":{"lat":"55.10","floor":-1,"zone":"A"}}`,
			true, upstream.FieldCaseDocument,
			`{"comment":"ring \"twice\"","restaurantID":"r-1","persons":2,"dishList":[` +
				`{"ID":"1001","name":"Pizza","price":500,"measure":{"value":0.4,"unit":"kg"},"quantity":2,"ingredients":[` +
				`{"ID":"21","name":"Small","price":0,"measure":{"value":0.3,"unit":"kg"},"quantity":1},` +
				`{"ID":"23","name":"Hot","price":25,"quantity":1},{"ID":"23","name":"Hot","price":25,"quantity":1}]},` +
				`{"ID":"bare","name":"Bare","price":5,"quantity":3,"ingredients":[]}],` +
				`"expeditionType":"pickup","expectedAt":"2026-05-01T16:30:00+03:00","paymentTypeID":"cash","changeFrom":1500,` +
				`"guest":{"firstName":"F"},"address":{"lat":55.1,"floor":-1}}`,
		},
		{
			"the compatible API passes unknown fields on (W8) and adds nothing (O1a)",
			`{"zip":{"n":1E2},` + soup + `,"expeditionType":"pickup","expectedAt":"2026-05-01T15:30:00Z","paymentTypeId":"cash","guest":{"vip":true,"phone":"12345"},"address":{"zone":"A"}}`,
			false, upstream.FieldCaseDocument,
			`{"dishList":[{"ID":"1002","name":"Soup","price":199.9,"measure":{"value":1,"unit":"pcs"},"quantity":1,"ingredients":[]}],` +
				`"expeditionType":"pickup","expectedAt":"2026-05-01T15:30:00Z","paymentTypeID":"cash",` +
				`"guest":{"phone":"12345","vip":true},"address":{"zone":"A"},"zip":{"n":100}}`,
		},
		{
			"the compatible API keeps the client's restaurant, in the connection's spelling",
			`{` + soup + `,"restaurantID":7,"expeditionType":"pickup","expectedAt":"2026-05-01T15:30:00Z","paymentTypeID":"cash"}`,
			false, upstream.FieldCaseCamel,
			`{"restaurantId":7,"dishList":[{"id":"1002","name":"Soup","price":199.9,"measure":{"value":1,"unit":"pcs"},"quantity":1,"ingredients":[]}],` +
				`"expeditionType":"pickup","expectedAt":"2026-05-01T15:30:00Z","paymentTypeId":"cash"}`,
		},
		{
			"the compatible API keeps unknown fields of dishes and ingredients, also of nested ones, and sends known fields once (W8, P3)",
			`{"restaurantId":"r-x","dishList":[{"Id":"combo","external_id":"1007","NAME":"my","price":"400.00","measure":{"value":9,"unit":"l"},"quantity":1,"gift":{"a":[1e1, "\u00e9"]},"groupId":null,
			  "ingredients":[{"y":2,"ID":"i-burger","group_id":"g-main","Price":50,"y":3,"Ingredients":[{"ID":"i-hot","note":"x\/y"}]},{"ID":"i-cola","measure":null,"name":1,"externalId":null,"cold":true}]}],
			  "expeditionType":"pickup","expectedAt":"2026-05-01T15:30:00Z","paymentTypeID":"cash"}`,
			false, upstream.FieldCaseDocument,
			`{"restaurantID":"r-x","dishList":[{"ID":"1007","name":"Combo","price":400,"quantity":1,"ingredients":[` +
				`{"ID":"25","name":"Small burger","price":50,"quantity":1,"y":2,"y":3},{"ID":"23","name":"Hot","price":25,"quantity":1,"note":"x\/y"},` +
				`{"ID":"27","name":"Cola","price":0,"quantity":1,"cold":true}],"gift":{"a":[10,"\u00e9"]}}],` +
				`"expeditionType":"pickup","expectedAt":"2026-05-01T15:30:00Z","paymentTypeID":"cash"}`,
		},
		{
			"a complete product inside a dish is passed on (W12), with the catalogue's measure (P3) and a numeric restaurantID as a number",
			`{"restaurantID":1E2,"dishList":[{"id":null,"externalId":1002,"categoryId":"c","name":"Soup!","price":199.90,"schemeId":null,"description":"d","imageUrls":[ "u" ],` +
				`"measure":{"value":5,"unit":"kg"},"isContainInStopList":[],"calories":1.50,"quantity":"1","ingredients":[]}],` +
				`"expeditionType":"pickup","expectedAt":"2026-05-01T15:30:00Z","paymentTypeID":"cash"}`,
			false, upstream.FieldCaseCamel,
			`{"restaurantId":100,"dishList":[{"id":"1002","name":"Soup","price":199.9,"measure":{"value":1,"unit":"pcs"},"quantity":1,"ingredients":[],` +
				`"categoryId":"c","schemeId":null,"description":"d","imageUrls":["u"],"isContainInStopList":[],"calories":1.50}],` +
				`"expeditionType":"pickup","expectedAt":"2026-05-01T15:30:00Z","paymentTypeId":"cash"}`,
		},
		{
			"the v1 API drops unknown fields, and sends the route's restaurant",
			`{"restaurantID":"r-1","dishList":[{"id":"soup","categoryId":"c","quantity":1,"ingredients":null,"gift":true}],` +
				`"expeditionType":"pickup","expectedAt":"2026-05-01T15:30:00Z","paymentTypeID":"cash"}`,
			true, upstream.FieldCaseDocument,
			`{"restaurantID":"r-1","dishList":[{"ID":"1002","name":"Soup","price":199.9,"measure":{"value":1,"unit":"pcs"},"quantity":1,"ingredients":[]}],` +
				`"expeditionType":"pickup","expectedAt":"2026-05-01T15:30:00Z","paymentTypeID":"cash"}`,
		},
		{
			"soonest is passed on unchanged on the compatible API, which requires no restaurant (O1a, O4)",
			`{"soonest":true,"dishList":[{"ID":"soup","quantity":1}],"expeditionType":"delivery","paymentTypeID":"cash","guest":{"phone":"12345"},` +
				`"address":{"street":"S","cityName":"C","houseNumber":"1","fullAddress":"F"}}`,
			false, upstream.FieldCaseDocument,
			`{"dishList":[{"ID":"1002","name":"Soup","price":199.9,"measure":{"value":1,"unit":"pcs"},"quantity":1,"ingredients":[]}],` +
				`"expeditionType":"delivery","paymentTypeID":"cash","guest":{"phone":"12345"},` +
				`"address":{"street":"S","cityName":"C","houseNumber":"1","fullAddress":"F"},"soonest":true}`,
		},
		{
			"nested ingredients are sent flat and multiplied (M5), fullAddress is composed (O1)",
			`{"dishList":[{"ID":"combo","quantity":2,"ingredients":[{"ID":"i-burger","quantity":2,"ingredients":[{"ID":"i-hot","quantity":2}]},{"ID":"i-cola"}]}],
			  "expeditionType":"delivery","expectedAt":"2026-05-01T15:30:00Z","paymentTypeID":"card","guest":{"phone":"12345"},
			  "address":{"street":"S","cityName":"C","houseNumber":"1","apartmentNumber":"9","fullAddress":""}}`,
			true, upstream.FieldCaseDocument,
			`{"restaurantID":"r-1","dishList":[{"ID":"1007","name":"Combo","price":400,"quantity":2,"ingredients":[` +
				`{"ID":"25","name":"Small burger","price":50,"quantity":2},{"ID":"23","name":"Hot","price":25,"quantity":4},` +
				`{"ID":"27","name":"Cola","price":0,"quantity":1}]}],` +
				`"expeditionType":"delivery","expectedAt":"2026-05-01T15:30:00Z","paymentTypeID":"card","guest":{"phone":"12345"},` +
				`"address":{"street":"S","cityName":"C","houseNumber":"1","apartmentNumber":"9","fullAddress":"C, S, 1, 9"}}`,
		},
	} {
		t.Run(tc.name, func(t *testing.T) {
			t.Parallel()
			req := v1(t, tc.body)
			req.V1, req.FieldCase = tc.v1, tc.wire
			got := check(t, validate.DefaultConfig(), req)
			if !got.Valid {
				t.Fatalf("violations %v", got.Violations)
			}
			if string(got.Order) != tc.want {
				t.Errorf("%s\nsent %s\nwant %s", tc.body, got.Order, tc.want)
			}
		})
	}
}

func TestSentPaymentsAndRejections(t *testing.T) {
	t.Parallel()
	in := validate.Input{
		Body: []byte(`[{"ref":1e1,"amount":"640.00","code":7,"paidAt":"2026-05-01T15:30:00Z"},{"name":"card","code":"c","amount":0,"paidAt":"2026-05-01T15:30:00Z"}]`),
	}
	payments, err := validate.ReadPayments(in)
	if err != nil {
		t.Fatal(err)
	}
	want := `[{"code":"7","amount":640,"paidAt":"2026-05-01T15:30:00Z","name":"","ref":10},{"code":"c","amount":0,"paidAt":"2026-05-01T15:30:00Z","name":"card"}]`
	if got := string(payments.Upstream()); got != want {
		t.Errorf("%s\nsent %s\nwant %s", in.Body, got, want)
	}
	for body, want := range map[string]string{
		`{}`: `{"rejectionReasonID":"","rejectionReasonText":""}`,
		`{"x":[ 1 ],"restaurantID":"r","rejection_reason_text":"t\u0001","rejectionReasonId":1}`: `{"rejectionReasonID":"1","rejectionReasonText":"t\u0001","x":[1]}`,
	} {
		for _, fieldCase := range []upstream.FieldCase{upstream.FieldCaseDocument, upstream.FieldCaseCamel} {
			rejection, err := validate.ReadRejection(validate.Input{Body: []byte(body), FieldCase: fieldCase})
			if err != nil {
				t.Fatal(err)
			}
			if fieldCase == upstream.FieldCaseCamel {
				want = camelCase.Replace(want)
			}
			if got := string(rejection.Upstream()); got != want {
				t.Errorf("%s in %s\nsent %s\nwant %s", body, fieldCase, got, want)
			}
		}
	}
}

func TestTotals(t *testing.T) {
	t.Parallel()
	whole := validate.DefaultConfig()
	whole.PriceDigits = 0
	refund := strings.Replace(menutest.Card, `"price":1099.99`, `"price":-0.25`, 1)
	for _, tc := range []struct {
		name, dishes, view string
		cfg                validate.Config
		lines              string
		total              string // may be empty
	}{
		{"dishes and ingredients (P1)", `[{"ID":"pizza","quantity":3,"ingredients":[{"ID":"i-large"},{"ID":"i-mild","quantity":3}]}]`, menutest.Card, validate.DefaultConfig(), "2133.75", "2133.75"},
		{"with nested ingredients (P1)", `[{"ID":"combo","quantity":2,"ingredients":[{"ID":"i-cola"},{"ID":"i-burger","quantity":2,"ingredients":[{"ID":"i-mild","quantity":2}]}]}]`, menutest.Card, validate.DefaultConfig(), "1162", "1162"},
		{"each line is rounded half-up (P1)", `[{"ID":"cheese","quantity":0.5},{"ID":"cheese","quantity":0.333}]`, menutest.Card, validate.DefaultConfig(), "550 366.3", "916.3"},
		{"rounded to a whole number (P1)", `[{"ID":"cheese","quantity":0.5}]`, menutest.Card, whole, "550", "550"},
		{"no total with a negative price", `[{"ID":"cheese","quantity":0.5}]`, refund, validate.DefaultConfig(), "-", ""},
		{"total of an invalid order", `[{"ID":"pizza","quantity":1},{"ID":"wok","quantity":2}]`, menutest.Card, validate.DefaultConfig(), "500 600", "1100"},
		{"no total with an unknown dish", `[{"ID":"soup","quantity":1},{"ID":"x","quantity":2}]`, menutest.Card, validate.DefaultConfig(), "199.9 -", ""},
		{"no total with an unknown ingredient", `[{"ID":"pizza","quantity":1,"ingredients":[{"ID":"x"}]}]`, menutest.Card, validate.DefaultConfig(), "-", ""},
		{"no total with an unknown nested ingredient", `[{"ID":"combo","quantity":1,"ingredients":[{"ID":"i-burger","ingredients":[{"ID":"x"}]}]}]`, menutest.Card, validate.DefaultConfig(), "-", ""},
		{"no total with an invalid price in the menu", `[{"ID":"odd","quantity":1}]`, menutest.Card, validate.DefaultConfig(), "-", ""},
		{"no total with an invalid list", `[{"ID":"pizza","quantity":1,"ingredients":[[]]},[]]`, menutest.Card, validate.DefaultConfig(), "-", ""},
	} {
		t.Run(tc.name, func(t *testing.T) {
			t.Parallel()
			req := v1(t, menutest.Order(tc.dishes))
			req.Catalogue = menutest.Compile(t, tc.view, menu.DefaultSettings())
			got := check(t, tc.cfg, req)
			lines := make([]string, 0, len(got.Lines))
			for _, l := range got.Lines {
				text := "-"
				if l.Total.Valid {
					text = l.Total.Decimal.String()
				}
				lines = append(lines, text)
			}
			total := ""
			if got.Total.Valid {
				total = got.Total.Decimal.String()
			}
			if strings.Join(lines, " ") != tc.lines || total != tc.total {
				t.Errorf("%s: lines %v, total %q; want %s, %q", tc.dishes, lines, total, tc.lines, tc.total)
			}
		})
	}
}
