package validate_test

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/shopspring/decimal"

	"larder.local/internal/menu"
	"larder.local/internal/testkit/menutest"
	"larder.local/ordering/validate"
	"larder.local/ordering/violation"
)

// briefly returns the violations of an order as "path code params".
func briefly(tb testing.TB, v *validated) (all []string) {
	tb.Helper()
	for _, broken := range v.Violations {
		params, err := json.Marshal(broken.Params)
		if err != nil {
			tb.Fatal(err)
		}
		all = append(all, fmt.Sprintf("%s %s %s", broken.Path, broken.Code, params))
	}
	return all
}

// P4: a line with a price costs at least the smallest unit of price_digits. The violation has the smallest quantity that
// does.
func TestALineCostsSomething_P4(t *testing.T) {
	t.Parallel()
	for name, tc := range map[string]struct {
		price    string
		unit     string
		digits   int
		quantity string
		minimum  string // "" if the order is valid
	}{
		"steak for nothing":                    {"7", "kg", 2, "0.0005", "0.0008"},
		"rounded up to a cent":                 {"7", "kg", 2, "0.0008", ""},
		"beef, a very small weight":            {"1890", "kg", 2, "1e-7", "0.0000027"},
		"a quotient without a rest":            {"0.5", "liter", 2, "0.009", "0.01"},
		"another price_digits":                 {"7", "kg", 0, "0.07", "0.08"},
		"three digits cost something":          {"7", "kg", 3, "0.0005", ""},
		"a dish by the piece":                  {"0.001", "pcs", 2, "1", "5"},
		"enough pieces":                        {"0.001", "pcs", 2, "5", ""},
		"a minimum of whole pieces":            {"0.003", "pcs", 2, "1", "2"},
		"a price of 0 costs nothing":           {"0", "kg", 2, "0.0005", ""},
		"a tiny price with many decimals":      {"0.0000000000000000123", "kg", 2, "5", "406504065040650.4066"},
		"a price of more digits than an int64": {"12345678901234567890123", "kg", 2, "1e-26", "0.00000000000000000000000041"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			cfg := validate.DefaultConfig()
			cfg.PriceDigits = tc.digits
			request := func(quantity string) validate.Request {
				req := v1(t, menutest.Order(`[{"ID":"a","quantity":`+quantity+`}]`))
				req.Catalogue = menutest.Compile(t, fmt.Sprintf(
					`{"products":[{"id":"a","externalId":"a","name":"A","price":%s,"measure":{"value":1,"unit":%q}}]}`, tc.price, tc.unit), menu.DefaultSettings())
				return req
			}
			got := briefly(t, check(t, cfg, request(tc.quantity)))
			if tc.minimum == "" {
				if len(got) > 0 {
					t.Errorf("got %q, want a valid order", got)
				}
				return
			}
			if want := `/dishList/0/quantity quantity_too_small {"minimum":` + tc.minimum + `}`; !slices.Equal(got, []string{want}) {
				t.Fatalf("got %q, want %q", got, want)
			}
			if decimal.RequireFromString(tc.minimum).GreaterThan(decimal.NewFromInt(999)) {
				return // above ordering.max_quantity
			}
			if got := briefly(t, check(t, cfg, request(tc.minimum))); len(got) > 0 {
				t.Errorf("the minimum: %q, want a valid order", got)
			}
		})
	}
}

// P4: the ingredients of a dish are a part of its price.
func TestIngredientsCount_P4(t *testing.T) {
	t.Parallel()
	req := v1(t, menutest.Order(`[{"ID":"a","quantity":0.0001,"ingredients":[{"ID":"i"}]}]`))
	req.Catalogue = menutest.Compile(t, `{"products":[{"id":"a","externalId":"a","price":0,"schemeId":"s","measure":{"value":1,"unit":"kg"}}],
		"ingredientsSchemes":[{"id":"s","ingredientsGroups":[{"id":"g","minCount":0}]}],"ingredientsGroups":[{"id":"g","ingredients":["i"]}],
		"ingredients":[{"id":"i","externalId":"i","price":4}]}`, menu.DefaultSettings())
	if got := briefly(t, check(t, validate.DefaultConfig(), req)); !slices.Equal(got, []string{`/dishList/0/quantity quantity_too_small {"minimum":0.0013}`}) {
		t.Errorf("got %q", got)
	}
}

// orderOf returns a pickup order of a soup for 199.90 with more fields.
func orderOf(payment, more string) string {
	return `{` + soup + `,"expeditionType":"pickup","expectedAt":"2026-05-01T13:30:00Z","paymentTypeID":"` + payment + `"` + more + `}`
}

func TestChangeFrom_O5(t *testing.T) {
	t.Parallel()
	const notCash = `/changeFrom change_not_cash {}`
	tooSmall := func(v string) string { return v + ` change_too_small {"minimum":199.9}` }
	for name, tc := range map[string]struct {
		payment, change string
		digits          int
		want            []string
		sent            string // "" if changeFrom is not sent
	}{
		"0 with cash means none":            {"cash", `0`, 2, nil, ""},
		"0 with card means none":            {"card", `0`, 2, nil, ""},
		"0 as a text means none":            {"online", `"0.00"`, 2, nil, ""},
		"minus zero means none":             {"card", `-0.0`, 2, nil, ""},
		"null":                              {"card", `null`, 2, nil, ""},
		"5,000 in cash for 200":             {"cash", `5000`, 2, nil, "5000"},
		"not cash":                          {"card", `5000`, 2, []string{notCash}, ""},
		"not cash and too small":            {"online", `5`, 2, []string{notCash}, ""},
		"too small":                         {"cash", `199.89`, 2, []string{tooSmall("/changeFrom")}, ""},
		"negative":                          {"cash", `-500`, 2, []string{tooSmall("/changeFrom")}, ""},
		"the total":                         {"cash", `199.9`, 2, nil, "199.9"},
		"three decimals":                    {"cash", `300.505`, 2, []string{`/changeFrom limit_exceeded {"limit":2}`}, ""},
		"three decimals, of which one is 0": {"cash", `300.500`, 2, nil, "300.5"},
		"decimals of another price_digits":  {"cash", `300.5`, 0, []string{`/changeFrom limit_exceeded {"limit":0}`}, ""},
		"three decimals are allowed":        {"cash", `300.505`, 3, nil, "300.505"},
		"too large":                         {"cash", `1019990.01`, 2, []string{`/changeFrom limit_exceeded {"limit":1019990}`}, ""},
		"as large as possible":              {"cash", `1019990`, 2, nil, "1019990"},
		"an exponent":                       {"cash", `1e9`, 2, []string{`/changeFrom limit_exceeded {"limit":1019990}`}, ""},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			cfg := validate.DefaultConfig()
			cfg.PriceDigits = tc.digits
			got := check(t, cfg, v1(t, orderOf(tc.payment, `,"changeFrom":`+tc.change)))
			if list := briefly(t, got); !slices.Equal(list, tc.want) {
				t.Fatalf("got %q, want %q", list, tc.want)
			}
			var sent struct{ ChangeFrom json.Number }
			if len(tc.want) == 0 && json.Unmarshal(got.Order, &sent) != nil || sent.ChangeFrom.String() != tc.sent {
				t.Errorf("sent %s, want changeFrom %q", got.Order, tc.sent)
			}
		})
	}
}

// A mandatory field that is 0 is missing.
func TestZeroIsNotGiven_O19(t *testing.T) {
	t.Parallel()
	cfg := validate.DefaultConfig()
	cfg.Required.Pickup = append(slices.Clone(cfg.Required.Pickup), "persons", "changeFrom")
	got := briefly(t, check(t, cfg, v1(t, orderOf("cash", `,"Persons":0,"changeFrom":0`))))
	if want := []string{`/Persons field_required {"field":"persons"}`, `/changeFrom field_required {"field":"changeFrom"}`}; !slices.Equal(got, want) {
		t.Errorf("got %q, want %q", got, want)
	}
}

func TestPersonsAndCoordinates_O19(t *testing.T) {
	t.Parallel()
	persons, lat, lon := ` value_not_allowed {"allowed":["1…999"]}`, ` value_not_allowed {"allowed":["-90…90"]}`, ` value_not_allowed {"allowed":["-180…180"]}`
	for more, want := range map[string][]string{
		`"persons":1`: nil, `"persons":999`: nil, `"persons":"12"`: nil, `"persons":null`: nil, `"persons":2.0`: nil,
		`"persons":-1`: {"/persons" + persons}, `"persons":1000`: {"/persons" + persons}, `"PERSONS":"-3"`: {"/PERSONS" + persons},
		`"persons":3000000000`: {"/persons" + persons}, `"persons":123456789012345678901234567890`: {"/persons" + persons},
		`"persons":2.5`:                                 {`/persons type_mismatch {"got":"number","want":"integer"}`},
		`"address":{"lat":90,"lon":180}`:                nil,
		`"address":{"lat":-90,"lon":-180}`:              nil,
		`"address":{"lat":"55.75","lon":"0"}`:           nil,
		`"address":{"lat":91,"lon":400}`:                {"/address/lat" + lat, "/address/lon" + lon},
		`"address":{"Lat":90.000001}`:                   {"/address/Lat" + lat},
		`"Address":{"lat":"-90.1","lon":-180.00000001}`: {"/Address/lat" + lat, "/Address/lon" + lon},
	} {
		if got := briefly(t, check(t, validate.DefaultConfig(), v1(t, orderOf("cash", ","+more)))); !slices.Equal(got, want) {
			t.Errorf("%s: %q, want %q", more, got, want)
		}
	}
	if got := check(t, validate.DefaultConfig(), v1(t, orderOf("cash", `,"persons":0`))); !got.Valid || strings.Contains(string(got.Order), "persons") {
		t.Errorf("persons 0: %q, sent %s; want a valid order without persons", briefly(t, got), got.Order)
	}
}

// O19: a field with two different values is a violation, in every object of an order and on both APIs.
func TestSpellingsWithDifferentValues_O19(t *testing.T) {
	t.Parallel()
	twice := func(paths ...string) (want []string) {
		for _, path := range paths {
			want = append(want, path+` limit_exceeded {"limit":1}`)
		}
		return want
	}
	for more, want := range map[string][]string{
		`"restaurantID":"r-1","restaurantId":"r-1"`:                                  nil,
		`"restaurantID":"r-1","restaurantId":"r-2"`:                                  twice("/restaurantId"),
		`"restaurantID":"r-2","restaurantId":"r-1"`:                                  twice("/restaurantId"),
		`"restaurantID":"r-1","restaurantId":null`:                                   nil,
		`"restaurantID":"r-1","restaurantId":""`:                                     twice("/restaurantId"),
		`"restaurantID":"r-1","restaurantId":"r-1","restaurant_id":"r-2"`:            twice("/restaurant_id"),
		`"persons":2,"Persons":"2","PERSONS":2.0`:                                    nil,
		`"persons":2,"Persons":3`:                                                    twice("/Persons"),
		`"persons":2,"persons":3`:                                                    twice("/persons"),
		`"persons":2,"Persons":3,"PERSONS":4`:                                        twice("/Persons"),
		`"persons":2,"Persons":""`:                                                   twice("/Persons"),
		`"changeFrom":500,"change_from":"500.0"`:                                     nil,
		`"changeFrom":500,"change_from":600`:                                         twice("/change_from"),
		`"comment":"a","Comment":"\u0061"`:                                           nil,
		`"comment":"a","Comment":"b"`:                                                twice("/Comment"),
		`"guest":{"phone":"12345"},"Guest":{ "phone" : "12345" }`:                    nil,
		`"guest":{"phone":"12345"},"Guest":{"phone":"12346"}`:                        twice("/Guest"),
		`"guest":{"phone":"12345","Phone":"12346"}`:                                  twice("/guest/Phone"),
		`"address":{"cityID":7,"cityId":"7"}`:                                        nil,
		`"address":{"cityID":7,"cityId":8}`:                                          twice("/address/cityId"),
		`"address":{"lat":1,"LAT":2},"Address":null`:                                 twice("/address/LAT"),
		`"unknown":1,"Unknown":2`:                                                    nil,
		`"dishlist":[{"ID":"soup","quantity":1}]`:                                    nil,
		`"dishlist":[{"quantity":1.0,"ID":"soup"}]`:                                  nil,
		`"dishlist":[{"ID":"soup","quantity":2}]`:                                    twice("/dishlist"),
		`"dishList":[{"ID":"soup","quantity":1}],"x":1`:                              nil,
		`"dishList":[{"ID":"soup","id":"soup","quantity":1,"name":"Soup"}],"dish":1`: twice("/dishList"),
	} {
		for _, onV1 := range []bool{true, false} {
			req := v1(t, orderOf("cash", ","+more))
			req.V1 = onV1
			var got []string
			for _, broken := range briefly(t, check(t, validate.DefaultConfig(), req)) {
				if strings.Contains(broken, "limit_exceeded") {
					got = append(got, broken)
				}
			}
			if !slices.Equal(got, want) {
				t.Errorf("%s (v1: %v): %q, want %q", more, onV1, got, want)
			}
		}
	}
}

// O19: the same for the lines of an order. Two values of ID are O3's.
func TestSpellingsInLines_O19(t *testing.T) {
	t.Parallel()
	const inDish, inPart = "/dishList/0/", "/dishList/0/ingredients/0/"
	for _, tc := range []struct{ dish, want string }{
		{`{"ID":"soup","id":"soup","quantity":1,"Quantity":"1.0"}`, ""},
		{`{"ID":"soup","quantity":1,"Quantity":2}`, inDish + "Quantity"},
		{`{"ID":"soup","externalId":"1002","externalID":"1003","quantity":1}`, inDish + "externalID"},
		{`{"ID":"soup","price":199.9,"Price":199.90,"quantity":1}`, ""},
		{`{"ID":"soup","price":1,"Price":199.90,"quantity":1}`, inDish + "Price"},
		{`{"ID":"soup","name":"Soup","Name":"Lobster","quantity":1}`, inDish + "Name"},
		{`{"ID":"pizza","quantity":1,"ingredients":[{"ID":"i-large","quantity":1,"quantity":2}]}`, inPart + "quantity"},
		{`{"ID":"pizza","quantity":1,"ingredients":[{"ID":"i-large","groupId":"g-size","groupID":"g-sauce"}]}`, inPart + "groupID"},
		{`{"ID":"pizza","quantity":1,"ingredients":[{"ID":"i-large"}],"Ingredients":[{"id":"i-large"}]}`, "/dishList/0/Ingredients"},
		{`{"ID":"pizza","quantity":1,"ingredients":[{"ID":"i-large"}],"Ingredients":[{"ID":"i-large"}]}`, ""},
	} {
		var got []string
		for _, v := range check(t, validate.DefaultConfig(), v1(t, menutest.Order("["+tc.dish+"]"))).Violations {
			if v.Code == violation.LimitExceeded {
				got = append(got, v.Path)
			}
		}
		if strings.Join(got, " ") != tc.want {
			t.Errorf("%s: %q, want %q", tc.dish, got, tc.want)
		}
	}
}

// O19: the same for payments and rejections.
func TestSpellingsInChanges_O19(t *testing.T) {
	t.Parallel()
	paid := `[{"code":"c","amount":5,"paidAt":"2026-05-01T13:30:00Z"%s}]`
	for body, want := range map[string]string{
		fmt.Sprintf(paid, `,"Amount":"5.0"`): "", fmt.Sprintf(paid, `,"Amount":6`): "/0/Amount",
		fmt.Sprintf(paid, `,"CODE":"d","PaidAt":"2026-05-01T12:31:00Z"`): "/0/CODE /0/PaidAt",
		`{"rejectionReasonID":"1","rejectionReasonId":1}`:                "",
		`{"rejectionReasonID":"1","rejectionReasonId":2}`:                "/rejectionReasonId",
		`{"rejectionReasonText":"a","RejectionReasonText":"b"}`:          "/RejectionReasonText",
		`{"restaurantID":"1","restaurantId":"2"}`:                        "/restaurantId",
	} {
		var list []violation.Violation
		var err error
		if in := (validate.Input{Body: []byte(body), Language: violation.English}); body[0] == '[' {
			var payments *validate.Payments
			if payments, err = validate.ReadPayments(in); err == nil {
				list, _ = payments.Violations()
			}
		} else {
			var rejection *validate.Rejection
			if rejection, err = validate.ReadRejection(in); err == nil {
				list, _ = rejection.Violations()
			}
		}
		var got []string
		for _, v := range list {
			got = append(got, v.Path)
		}
		if strings.Join(got, " ") != want || err != nil {
			t.Errorf("%s: %q, %v; want %q", body, got, err, want)
		}
	}
}

// The message names the spellings, in both languages.
func TestMessageOfSpellings_O19(t *testing.T) {
	t.Parallel()
	for language, want := range map[string]string{
		violation.English: "Values of one field (persons, Persons): at most 1", violation.Russian: "Значений одного поля (persons, Persons): не больше 1",
	} {
		req := v1(t, orderOf("cash", `,"persons":2,"Persons":3`))
		req.Language = language
		if got := check(t, validate.DefaultConfig(), req).Violations; len(got) != 1 || got[0].Msg != want {
			t.Errorf("in %s: %+v, want %q", language, got, want)
		}
	}
}

// O19: an order without a token needs a phone number, whatever the type and the configuration.
func TestPhoneOfAGuest_O19(t *testing.T) {
	t.Parallel()
	const missing, invalid = `/guest/phone field_required {"field":"guest.phone"}`, `/guest/phone phone_invalid {"digits":5,"maximum":15}`
	for guest, want := range map[string]string{
		`null`: missing, `{}`: missing, `{"phone":""}`: missing, `{"phone":" "}`: missing, `{"phone":null}`: missing,
		`{"phone":"1234"}`: invalid, `{"phone":"12345"}`: "", `{"phone":"+351 220 000 000, ext. 12"}`: "",
		`{"phone":"123456789012345"}`: "", `{"phone":"1234567890123456"}`: invalid,
		`{"phone":"00000"}`: invalid, `{"phone":"+7 777 777-77-77"}`: invalid, `{"phone":"٠٠٠٠٠٠"}`: invalid,
		`{"phone":"٠١٢٣٤"}`: "", `{"phone":"00001"}`: "", `{"phone":"call me"}`: invalid,
	} {
		req := v1(t, orderOf("cash", `,"guest":`+guest))
		req.Guest = true
		if got := strings.Join(briefly(t, check(t, validate.DefaultConfig(), req)), " "); got != want {
			t.Errorf("guest %s: %q, want %q", guest, got, want)
		}
	}
	for phone, want := range map[string]string{
		"00000": "", "12345678901234567890": "", "1234": `/guest/phone phone_invalid {"digits":5,"maximum":null}`, "": "",
	} {
		got := strings.Join(briefly(t, check(t, validate.DefaultConfig(), v1(t, orderOf("cash", `,"guest":{"phone":"`+phone+`"}`)))), " ")
		if got != want {
			t.Errorf("phone %q of an order with a token: %q, want %q", phone, got, want)
		}
	}
	delivery := v1(t, strings.Replace(orderOf("cash", `,"address":{"street":"s","cityName":"c","houseNumber":"1"}`), `"pickup"`, `"delivery"`, 1))
	delivery.Guest = true
	got := briefly(t, check(t, validate.DefaultConfig(), delivery))
	if want := []string{`/guest field_required {"field":"guest"}`, missing}; !slices.Equal(got, want) {
		t.Errorf("a delivery without a guest: %q, want the phone once: %q", got, want)
	}
}

// Orders that clients really send stay valid, also on the compatible API.
func TestOrdinaryOrdersStayValid(t *testing.T) {
	t.Parallel()
	for name, body := range map[string]string{
		"5,000 in cash for 350, no persons": orderOf("cash", `,"changeFrom":5000,"persons":0`),
		"a complete product": `{"dishList":[{"ID":"1002","id":"soup","externalId":"1002","name":"Soup","price":199.9,"quantity":1,"schemeId":null,
			"measure":{"value":1,"unit":"pcs"},"isContainInStopList":[],"imageUrls":[],"ingredients":[]}],
			"restaurantID":"r-1","restaurantId":"r-1","expeditionType":"pickup","expectedAt":"2026-05-01T13:30:00Z","paymentTypeID":"card","changeFrom":0,
			"persons":"0","comment":"","address":null,"guest":{"phone":"+7 999 123-45-67","email":""}}`,
	} {
		for _, onV1 := range []bool{true, false} {
			req := v1(t, body)
			req.V1 = onV1
			if got := check(t, validate.DefaultConfig(), req); !got.Valid {
				t.Errorf("%s (v1: %v): %q, want a valid order", name, onV1, briefly(t, got))
			}
		}
	}
}
