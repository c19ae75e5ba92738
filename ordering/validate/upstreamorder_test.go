package validate_test

import (
	"strings"
	"testing"

	"larder.local/internal/menu"
	"larder.local/internal/testkit/menutest"
	"larder.local/internal/upstream"
	"larder.local/ordering/validate"
)

func TestSentOrders_P3(t *testing.T) {
	t.Parallel()
	for _, tc := range []struct {
		name, body string
		v1         bool
		wire       upstream.FieldCase
		want       string
	}{
		{
			"the interface's fields with the catalogue's dishes (P3, O2)",
			`{"zip":{"n":1E2},"comment":"ring \u0022twice\u0022","persons":"2","dishList":[{"ID":"pizza","name":"my","price":"500.0","quantity":"2","x":1,"measure":null,
			  "ingredients":[{"ID":"i-small","groupId":"g-size","y":2},{"ID":"i-hot","price":25.00,"quantity":1e0},{"ID":"i-hot"}]},{"ID":"bare","quantity":3}],
			  "expeditionType":"pickup","expectedAt":"2026-05-01T15:30:00+03:00","paymentTypeID":"cash","changeFrom":1.5e3,
			  "guest":{"firstName":"F","vip":true},"address":{"lat":"55.10","floor":-1,"zone":"A"}}`,
			true, upstream.FieldCaseDocument,
			`{"comment":"ring \"twice\"","restaurantID":"r-1","persons":2,"dishList":[` +
				`{"ID":"1001","name":"Pizza","price":500,"measure":{"value":0.4,"unit":"kg"},"quantity":2,"ingredients":[` +
				`{"ID":"21","name":"Small","price":0,"measure":{"value":0.3,"unit":"kg"},"quantity":1},` +
				`{"ID":"23","name":"Hot","price":25,"quantity":1},{"ID":"23","name":"Hot","price":25,"quantity":1}]},` +
				`{"ID":"bare","name":"Bare","price":5,"quantity":3,"ingredients":[]}],` +
				`"expeditionType":"pickup","expectedAt":"2026-05-01T15:30:00+03:00","paymentTypeID":"cash","changeFrom":1500,` +
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
