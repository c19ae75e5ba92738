package validate_test

import (
	"encoding/json"
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"larder.local/internal/jsontext"
	"larder.local/internal/testkit/menutest"
	"larder.local/ordering/validate"
	"larder.local/ordering/violation"
)

const soup = `"dishList":[{"ID":"soup","quantity":1}]`

func TestFields(t *testing.T) {
	t.Parallel()
	head := `{` + soup + `,"expeditionType":"pickup","expectedAt":"2026-05-01T13:30:00Z","paymentTypeID":"cash"`
	delivery := `{` + soup + `,"expeditionType":"delivery","expectedAt":"2026-05-01T13:30:00Z","paymentTypeID":"card"`
	for _, tc := range []struct {
		name, body string
		want       []menutest.Broken
	}{
		{"pickup needs no guest and no address (O1)", head + `}`, nil},
		{"delivery (O1)", delivery + `,"guest":{"phone":"+12345"},"address":{"street":"S","cityName":"C","houseNumber":"1","fullAddress":"C, S 1"}}`, nil},
		{"fullAddress is composed (O1)", delivery + `,"guest":{"phone":"+12345"},"address":{"street":"S","cityName":"C","houseNumber":"1"}}`, nil},
		{"nothing", `{}`, []menutest.Broken{
			{"/dishList", violation.FieldRequired, `{"field":"dishList"}`},
			{"/expeditionType", violation.FieldRequired, `{"field":"expeditionType"}`},
			{"/expectedAt", violation.FieldRequired, `{"field":"expectedAt"}`},
			{"/paymentTypeID", violation.FieldRequired, `{"field":"paymentTypeID"}`},
		}},
		{"nulls and blanks are missing, in the client's spelling", `{"dishlist":null,"expeditiontype":"","ExpectedAt":null,"payment_type_id":" "}`, []menutest.Broken{
			{"/dishlist", violation.FieldRequired, `{"field":"dishList"}`},
			{"/expeditiontype", violation.FieldRequired, `{"field":"expeditionType"}`},
			{"/ExpectedAt", violation.FieldRequired, `{"field":"expectedAt"}`},
			{"/payment_type_id", violation.FieldRequired, `{"field":"paymentTypeID"}`},
		}},
		{"delivery without guest and address (O1)", delivery + `}`, []menutest.Broken{
			{"/guest", violation.FieldRequired, `{"field":"guest"}`},
			{"/guest/phone", violation.FieldRequired, `{"field":"guest.phone"}`},
			{"/address/street", violation.FieldRequired, `{"field":"address.street"}`},
			{"/address/cityName", violation.FieldRequired, `{"field":"address.cityName"}`},
			{"/address/houseNumber", violation.FieldRequired, `{"field":"address.houseNumber"}`},
			{"/address/fullAddress", violation.FieldRequired, `{"field":"address.fullAddress"}`},
		}},
		{"missing parts (O1)", delivery + `,"Address":{"Street":"","city_name":"C"},"Guest":{"firstName":"F"}}`, []menutest.Broken{
			{"/Address/Street", violation.FieldRequired, `{"field":"address.street"}`},
			{"/Address/houseNumber", violation.FieldRequired, `{"field":"address.houseNumber"}`},
			{"/Guest/phone", violation.FieldRequired, `{"field":"guest.phone"}`},
		}},
		{"null guest and part of the address: the client's spelling", delivery + `,"Guest":null,"Address":{"Street":null,"street":null}}`, []menutest.Broken{
			{"/Guest", violation.FieldRequired, `{"field":"guest"}`},
			{"/Guest/phone", violation.FieldRequired, `{"field":"guest.phone"}`},
			{"/Address/Street", violation.FieldRequired, `{"field":"address.street"}`},
			{"/Address/cityName", violation.FieldRequired, `{"field":"address.cityName"}`},
			{"/Address/houseNumber", violation.FieldRequired, `{"field":"address.houseNumber"}`},
			{"/Address/fullAddress", violation.FieldRequired, `{"field":"address.fullAddress"}`},
		}},
		{"a null in another spelling does not change the path", delivery + `,"Guest":{"firstName":"F"},"guest":null,"address":null}`, []menutest.Broken{
			{"/Guest/phone", violation.FieldRequired, `{"field":"guest.phone"}`},
			{"/address/street", violation.FieldRequired, `{"field":"address.street"}`},
			{"/address/cityName", violation.FieldRequired, `{"field":"address.cityName"}`},
			{"/address/houseNumber", violation.FieldRequired, `{"field":"address.houseNumber"}`},
			{"/address/fullAddress", violation.FieldRequired, `{"field":"address.fullAddress"}`},
		}},
		{"a guest of the wrong type is not missing", delivery + `,"guest":"me","address":[]}`, []menutest.Broken{
			{"/guest", violation.TypeMismatch, `{"got":"string","want":"object"}`},
			{"/address", violation.TypeMismatch, `{"got":"array","want":"object"}`},
		}},
		{"null guest", head + `,"Guest":null,"Address":null}`, nil},
		{"values that are not allowed (O5)", `{` + soup + `,"expeditionType":"drone","expectedAt":"2026-05-01T13:30:00Z","paymentTypeID":"Cash"}`, []menutest.Broken{
			{"/expeditionType", violation.ValueNotAllowed, `{"allowed":["delivery","pickup"]}`},
			{"/paymentTypeID", violation.ValueNotAllowed, `{"allowed":["cash","card","online"]}`},
		}},
		{"another restaurant than the route's", head + `,"restaurantID":"r-2"}`, []menutest.Broken{
			{"/restaurantID", violation.ValueNotAllowed, `{"allowed":["r-1"]}`},
		}},
		{"the route's restaurant", head + `,"restaurantId":"r-1"}`, nil},
		{"numbers as strings (W12)", head + `,"persons":"2","changeFrom":"500.50","address":{"floor":"3","lat":"55.75","lon":"-37.6"}}`, nil},
		{"an empty string counts as no number (W12)", head + `,"persons":"","address":{"floor":"","lat":" "}}`, nil},
		{"kinds", head + `,"comment":1,"persons":2.5,"changeFrom":[],"guest":{"phone":79991234567},"address":{"floor":"2a","lat":"1,5","cityID":7,"street":null}}`, []menutest.Broken{
			{"/comment", violation.TypeMismatch, `{"got":"number","want":"string"}`},
			{"/persons", violation.TypeMismatch, `{"got":"number","want":"integer"}`},
			{"/changeFrom", violation.TypeMismatch, `{"got":"array","want":"number"}`},
			{"/guest/phone", violation.TypeMismatch, `{"got":"number","want":"string"}`},
			{"/address/floor", violation.TypeMismatch, `{"got":"string","want":"integer"}`},
			{"/address/lat", violation.DecimalComma, `{}`},
		}},
		{"a floor above the limit of an integer", head + `,"address":{"floor":3000000000}}`, []menutest.Broken{
			{"/address/floor", violation.ValueNotAllowed, `{"allowed":["-2147483648…2147483647"]}`},
		}},
		{"a floor at the limit of an integer", head + `,"address":{"floor":2147483647}}`, nil},
		{"not an object", `[]`, []menutest.Broken{{"", violation.TypeMismatch, `{"got":"array","want":"object"}`}}},
		{"change below the total (O5)", head + `,"changeFrom":199.8}`, []menutest.Broken{
			{"/changeFrom", violation.ChangeTooSmall, `{"minimum":199.9}`},
		}},
		{"change from exactly the total", head + `,"changeFrom":199.9}`, nil},
		{"change without cash (O5)", `{"changeFrom":500,` + soup + `,"expeditionType":"pickup","expectedAt":"2026-05-01T13:30:00Z","paymentTypeID":"online"}`, []menutest.Broken{
			{"/changeFrom", violation.ChangeNotCash, `{}`},
		}},
		{"change without cash and without a total", `{"changeFrom":500,"dishList":[7],"expeditionType":"pickup","expectedAt":"2026-05-01T13:30:00Z","paymentTypeID":"online"}`, []menutest.Broken{
			{"/changeFrom", violation.ChangeNotCash, `{}`},
			{"/dishList/0", violation.TypeMismatch, `{"got":"number","want":"object"}`},
		}},
	} {
		t.Run(tc.name, func(t *testing.T) {
			t.Parallel()
			got := validateBody(t, tc.body)
			if diff := cmp.Diff(tc.want, brokenOf(t, got)); diff != "" && len(tc.want)+len(got.Violations) > 0 {
				t.Errorf("%s: violations (-want +got):\n%s", tc.body, diff)
			}
		})
	}
}

func TestExpectedAt_O4(t *testing.T) {
	t.Parallel()
	for _, tc := range []struct {
		name, at string
		want     []menutest.Broken
	}{
		{"with an offset", `"2026-05-01T16:30:00+03:00"`, nil},
		{"fractions of a second", `"2026-05-01T13:30:00.123456Z"`, nil},
		{"within the grace", `"2026-05-01T11:59:00Z"`, nil},
		{"past the grace", `"2026-05-01T11:58:59Z"`, []menutest.Broken{{"/expectedAt", violation.TimeInPast, `{"earliest":"2026-05-01T12:00:00.000Z"}`}}},
		{"30 days ahead", `"2026-05-31T12:00:00Z"`, nil},
		{"more than 30 days ahead", `"2026-05-31T12:00:01Z"`, []menutest.Broken{{"/expectedAt", violation.TimeTooFar, `{"latest":"2026-05-31T12:00:00.000Z"}`}}},
		{"no zone", `"2026-05-01T15:30:00"`, []menutest.Broken{{"/expectedAt", violation.TimeZoneMissing, `{}`}}},
		{"no zone, no seconds", `"2026-05-01 15:30"`, []menutest.Broken{{"/expectedAt", violation.TimeZoneMissing, `{}`}}},
		{"no time", `"tomorrow"`, []menutest.Broken{{"/expectedAt", violation.TypeMismatch, `{"got":"string","want":"date-time"}`}}},
		{"a number", `1777637400`, []menutest.Broken{{"/expectedAt", violation.TypeMismatch, `{"got":"number","want":"string"}`}}},
	} {
		t.Run(tc.name, func(t *testing.T) {
			t.Parallel()
			cfg := validate.DefaultConfig()
			cfg.LeadTime = 0
			got := check(t, cfg, v1(t, `{`+soup+`,"expeditionType":"pickup","paymentTypeID":"cash","expectedAt":`+tc.at+`}`))
			if diff := cmp.Diff(tc.want, brokenOf(t, got)); diff != "" && len(tc.want)+len(got.Violations) > 0 {
				t.Errorf("%s: violations (-want +got):\n%s", tc.at, diff)
			}
		})
	}
}

func TestSoonest_O4(t *testing.T) {
	t.Parallel()
	body := `{` + soup + `,"expeditionType":"pickup","paymentTypeID":"cash","soonest":true}`
	validator := validate.New(validate.DefaultConfig(), menutest.Noon)
	lead := 45 * time.Minute
	validator.SetRestaurants([]validate.Restaurant{
		{ID: menutest.Restaurant, Location: time.FixedZone("", 3*3600), Override: validate.Override{LeadTime: &lead}},
	})
	for _, tc := range []struct {
		name      string
		validator *validate.Validator
		v1        bool
		body      string
		want      string
	}{
		{"v1: now and the lead time, UTC", validate.New(validate.DefaultConfig(), menutest.Noon), true, body, `"expectedAt":"2026-05-01T13:00:00Z"`},
		{"v1: at the restaurant's offset", validator, true, body, `"expectedAt":"2026-05-01T15:45:00+03:00"`},
		{"v1: a given time wins", validator, true, strings.Replace(body, `"soonest"`, `"expectedAt":"2026-05-01T18:00:00Z","soonest"`, 1), `"expectedAt":"2026-05-01T18:00:00Z"`},
		{"compatible API: passed on unchanged", validator, false, body, `"soonest":true`},
	} {
		t.Run(tc.name, func(t *testing.T) {
			t.Parallel()
			req := v1(t, tc.body)
			req.V1 = tc.v1
			got, err := tc.validator.Order(req)
			if err != nil || !got.Valid {
				t.Fatalf("Order(%s) = %+v, %v; want it valid", tc.body, got, err)
			}
			sent := string(got.Order)
			if !strings.Contains(sent, tc.want) {
				t.Errorf("sent %s; want it to contain %s", sent, tc.want)
			}
			if strings.Contains(sent, "soonest") == tc.v1 || (!tc.v1 && strings.Contains(sent, "expectedAt")) {
				t.Errorf("sent %s with v1=%v", sent, tc.v1)
			}
		})
	}
}

func TestSoonestOfTheWrongType(t *testing.T) {
	t.Parallel()
	body := `{` + soup + `,"expeditionType":"pickup","paymentTypeID":"cash","soonest":"yes"}`
	want := []menutest.Broken{
		{"/soonest", violation.TypeMismatch, `{"got":"string","want":"boolean"}`},
		{"/expectedAt", violation.FieldRequired, `{"field":"expectedAt"}`},
	}
	if diff := cmp.Diff(want, brokenOf(t, validateBody(t, body))); diff != "" {
		t.Errorf("v1 (-want +got):\n%s", diff)
	}
	req := v1(t, body)
	req.V1 = false
	if diff := cmp.Diff(want[1:], brokenOf(t, check(t, validate.DefaultConfig(), req))); diff != "" {
		t.Errorf("compatible API, where soonest is an unknown field (-want +got):\n%s", diff)
	}
}

func TestRequiredFieldsSetting(t *testing.T) {
	t.Parallel()
	cfg := validate.DefaultConfig()
	cfg.Required.Pickup = []string{"comment", "guest", "guest.email", "address", "address.floor", "persons"}
	got := check(t, cfg, v1(t, `{`+soup+`,"expeditionType":"pickup","address":{"floor":1}}`))
	want := []menutest.Broken{
		{"/comment", violation.FieldRequired, `{"field":"comment"}`},
		{"/guest", violation.FieldRequired, `{"field":"guest"}`},
		{"/guest/email", violation.FieldRequired, `{"field":"guest.email"}`},
		{"/persons", violation.FieldRequired, `{"field":"persons"}`},
	}
	if diff := cmp.Diff(want, brokenOf(t, got)); diff != "" {
		t.Errorf("violations (-want +got):\n%s", diff)
	}
}

func TestMalformed(t *testing.T) {
	t.Parallel()
	for _, body := range []string{"", "{\n \"dishList\": [,]}", strings.Repeat("[", 33) + strings.Repeat("]", 33), `{"a":1} x`} {
		_, err := validate.New(validate.DefaultConfig(), menutest.Noon).Order(v1(t, body))
		var syntax *jsontext.SyntaxError
		if !errors.As(err, &syntax) || syntax.Line < 1 || syntax.Column < 1 {
			t.Errorf("Order(%q): %v; want a *jsontext.SyntaxError with its position", body, err)
		}
	}
}

func TestResultJSON(t *testing.T) {
	t.Parallel()
	text := validateBody(t, menutest.Order(`[{"ID":"soup","quantity":2},{"ID":"nope \"<ö>\"","quantity":1},{"externalId":"1","quantity":"x"}]`)).JSON
	var shape struct {
		Valid      *bool
		Version    int64
		Total      json.RawMessage
		Lines      []map[string]any
		Violations []violation.Violation
		Order      json.RawMessage
	}
	if err := json.Unmarshal(text, &shape); err != nil {
		t.Fatalf("%s: %v", text, err)
	}
	if *shape.Valid || shape.Version != 42 || string(shape.Total) != "null" || string(shape.Order) != "null" || len(shape.Violations) != 3 {
		t.Errorf("result %s", text)
	}
	want := []map[string]any{
		{"path": "/dishList/0", "id": "soup", "name": "Soup", "quantity": 2.0, "price": 199.9, "total": 399.8},
		{"path": "/dishList/1", "id": "nope \"<ö>\"", "name": "", "quantity": 1.0, "price": nil, "total": nil},
		{"path": "/dishList/2", "id": "1", "name": "", "quantity": nil, "price": nil, "total": nil},
	}
	if diff := cmp.Diff(want, shape.Lines); diff != "" {
		t.Errorf("lines (-want +got):\n%s", diff)
	}
	valid := validateBody(t, menutest.Order(`[{"ID":"soup","quantity":2}]`)).JSON
	if !strings.Contains(string(valid), `"valid":true,"version":42,"total":399.8,"lines":[`) ||
		!strings.Contains(string(valid), `"violations":[],"order":{"restaurantID":"r-1"`) {
		t.Errorf("result %s", valid)
	}
}

// TestTimesAreStrict_W16 tests policies O4 and W16: what is no time of ISO 8601 is not sent.
func TestTimesAreStrict_W16(t *testing.T) {
	t.Parallel()
	if got := validateBody(t, `{`+soup+`,"expeditionType":"pickup","expectedAt":"2026-05-02T18:30:00+23:59","paymentTypeID":"cash"}`); !got.Valid {
		t.Errorf("the largest offset: %v, want no violation", brokenOf(t, got))
	}
	for _, at := range []string{
		"2026-05-01T9:30:00-10:00", "2026-05-01T18:30:00+24:00", "2026-05-01T18:30:00-24:00", "2026-05-01T18:30:00+03:60", "2026-05-01T18:30:00+0360",
		"2026-05-01T18:30:60Z", "2026-05-01T18:60Z", "2026-05-01T25:00Z", "2026-05-01T24:01Z", "2026-02-30T18:30Z", "2026-13-01T18:30Z",
		"2026-05-01T1830Z", "20260501T18:30Z", "2026-0501T18:30Z", "2026-05-01T18:30:0Z", "2026-05-01T18:30:00.Z", "2026-05-01T18:30.5Z",
		"2026-05-01T18:30+3", "2026-05-01T18:30+03:0", "2026-05-01T18:30+", "2026-05-01T18:30 +03:00", "2026-05-01 18:30:00+03:00", "2026-05-01",
		"2026-05-01Z", "2026-05-01T18Z", "1777637400", "26-05-01T18:30Z", "2026-05-01T18:30:00Z[UTC]", "2026-05-01T18:30:00UTC", "2026-05-01T18:30ZZ",
		" 2026-05-01T18:30Z", "2026-05-01T18:30Z\\n",
	} {
		t.Run(at, func(t *testing.T) {
			t.Parallel()
			got := validateBody(t, `{`+soup+`,"expeditionType":"pickup","expectedAt":"`+at+`","paymentTypeID":"cash"}`)
			want := []menutest.Broken{{"/expectedAt", violation.TypeMismatch, `{"got":"string","want":"date-time"}`}}
			if diff := cmp.Diff(want, brokenOf(t, got)); diff != "" {
				t.Errorf("%s (-want +got):\n%s", at, diff)
			}
		})
	}
}

// Policy O5 also applies if paymentTypeID is optional (policy O1).
func TestOptionalPaymentType(t *testing.T) {
	t.Parallel()
	cfg := validate.DefaultConfig()
	cfg.Required.Pickup = []string{"expectedAt"}
	head := `{` + soup + `,"expeditionType":"pickup","expectedAt":"2026-05-01T13:30:00Z"`
	for _, tc := range []struct {
		name, body string
		want       []menutest.Broken
	}{
		{"missing", head + `}`, nil},
		{"empty", head + `,"paymentTypeID":""}`, nil},
		{"white space is not an allowed value", head + `,"paymentTypeID":" "}`, []menutest.Broken{
			{"/paymentTypeID", violation.ValueNotAllowed, `{"allowed":["cash","card","online"]}`},
		}},
		{"change only for cash", head + `,"changeFrom":1000}`, []menutest.Broken{
			{"/changeFrom", violation.ChangeNotCash, `{}`},
		}},
	} {
		t.Run(tc.name, func(t *testing.T) {
			t.Parallel()
			got := check(t, cfg, v1(t, tc.body))
			if diff := cmp.Diff(tc.want, brokenOf(t, got)); diff != "" && len(tc.want)+len(got.Violations) > 0 {
				t.Errorf("%s: violations (-want +got):\n%s", tc.body, diff)
			}
		})
	}
}
