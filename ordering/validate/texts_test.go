package validate_test

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"
	"unicode"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"larder.local/internal/testkit/menutest"
	"larder.local/ordering/validate"
	"larder.local/ordering/violation"
)

// delivered returns a valid delivery order with some values replaced, by path:
// "guest.phone".
func delivered(values map[string]any) string {
	fields := map[string]map[string]any{
		"":        {"expeditionType": "delivery", "expectedAt": "2026-05-01T18:30:00+03:00", "paymentTypeID": "cash", "dishList": []any{map[string]any{"ID": "soup", "quantity": 1}}},
		"guest":   {"phone": "+351 220 000 000"},
		"address": {"street": "Rua das Flores", "cityName": "Porto", "houseNumber": "1"},
	}
	for place, value := range values {
		outer, inner, nested := strings.Cut(place, ".")
		if !nested {
			outer, inner = "", place
		}
		fields[outer][inner] = value
	}
	fields[""]["guest"], fields[""]["address"] = fields["guest"], fields["address"]
	text, err := json.Marshal(fields[""])
	if err != nil {
		panic(err)
	}
	return string(text)
}

// Policy H10, on both APIs.
func TestTexts_H10(t *testing.T) {
	t.Parallel()
	long := func(n int) string { return strings.Repeat("ж", n) }
	for name, c := range map[string]struct {
		place string
		value any
		want  []menutest.Broken
	}{
		"a name of 200 letters":            {"guest.firstName", long(200), nil},
		"a name of 201":                    {"guest.firstName", long(201), []menutest.Broken{{"/guest/firstName", violation.LimitExceeded, `{"limit":200}`}}},
		"a last name of 200 kB":            {"guest.lastName", long(100_000), []menutest.Broken{{"/guest/lastName", violation.LimitExceeded, `{"limit":200}`}}},
		"a comment of 1,000":               {"comment", long(1000), nil},
		"a comment of 1,001":               {"comment", long(1001), []menutest.Broken{{"/comment", violation.LimitExceeded, `{"limit":1000}`}}},
		"a street of 1,001":                {"address.street", long(1001), []menutest.Broken{{"/address/street", violation.LimitExceeded, `{"limit":1000}`}}},
		"an escape sequence in a comment":  {"comment", "no onions\x1b[2J", []menutest.Broken{{"/comment", violation.TextInvalid, `{"character":"U+001B"}`}}},
		"a C1 control in a name":           {"guest.firstName", "Ann\u009b", []menutest.Broken{{"/guest/firstName", violation.TextInvalid, `{"character":"U+009B"}`}}},
		"a null byte in an address":        {"address.entrance", "2\x00", []menutest.Broken{{"/address/entrance", violation.TextInvalid, `{"character":"U+0000"}`}}},
		"DEL in a phone number":            {"guest.phone", "123456\x7f", []menutest.Broken{{"/guest/phone", violation.TextInvalid, `{"character":"U+007F"}`}}},
		"lines and tabs in a comment":      {"comment", "first\r\nsecond\tthird", nil},
		"text from right to left, and ZWJ": {"comment", "\u200fمرحبا \u202eabc\u202c \U0001F468\u200d\U0001F373", nil},
		"a phone number of four digits":    {"guest.phone", "+1 23-4", []menutest.Broken{{"/guest/phone", violation.PhoneInvalid, `{"digits":5,"maximum":null}`}}},
		"a phone number of five digits":    {"guest.phone", "12345", nil},
		"a phone number in Arabic digits":  {"guest.phone", "١٢٣٤٥", nil},
		"a phone number without digits":    {"guest.phone", "call me", []menutest.Broken{{"/guest/phone", violation.PhoneInvalid, `{"digits":5,"maximum":null}`}}},
		"a required phone number is blank": {"guest.phone", " ", []menutest.Broken{{"/guest/phone", violation.FieldRequired, `{"field":"guest.phone"}`}}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			for _, isNative := range []bool{true, false} {
				req := v1(t, delivered(map[string]any{c.place: c.value}))
				req.V1 = isNative
				v := check(t, validate.DefaultConfig(), req)
				if diff := cmp.Diff(c.want, brokenOf(t, v)); diff != "" && len(c.want)+len(v.Violations) > 0 {
					t.Errorf("v1 %v (-want +got):\n%s", isNative, diff)
				}
			}
		})
	}
}

// Policy H10: the quantity of one line is at most ordering.max_quantity.
func TestMaxQuantity_H10(t *testing.T) {
	t.Parallel()
	own := 10
	for _, c := range []struct {
		quantity string
		cfg      validate.Config
		limit    int // 0: accepted
	}{
		{"999", validate.DefaultConfig(), 0},
		{"1000", validate.DefaultConfig(), 999},
		{"1e20", validate.DefaultConfig(), 999},
		{`"999999999999"`, validate.DefaultConfig(), 999},
		{"10", validate.DefaultConfig().With(validate.Override{MaxQuantity: &own}), 0},
		{"11", validate.DefaultConfig().With(validate.Override{MaxQuantity: &own}), 10},
	} {
		for _, isNative := range []bool{true, false} {
			req := v1(t, menutest.Order(fmt.Sprintf(`[{"ID":"soup","quantity":%s}]`, c.quantity)))
			req.V1 = isNative
			v := check(t, c.cfg, req)
			var want []menutest.Broken
			if c.limit > 0 {
				want = []menutest.Broken{{"/dishList/0/quantity", violation.LimitExceeded, fmt.Sprintf(`{"limit":%d}`, c.limit)}}
			}
			if got := brokenOf(t, v); !cmp.Equal(want, got) && len(want)+len(got) > 0 {
				t.Errorf("%s: got %v, want %v", c.quantity, got, want)
			}
		}
	}
}

// Random texts of a guest are rejected exactly as policy H10 requires.
func TestTextsProperty_H10(t *testing.T) {
	t.Parallel()
	limits := map[string]int{
		"comment": 1000, "guest.firstName": 200, "guest.lastName": 200, "guest.email": 200, "address.comment": 1000,
		"address.subway": 1000,
	}
	rapid.Check(t, func(rt *rapid.T) {
		place := rapid.SampledFrom([]string{
			"comment", "guest.firstName", "guest.lastName", "guest.email", "address.comment",
			"address.subway",
		}).Draw(rt, "place")
		text := rapid.StringOf(rapid.RuneFrom(nil, unicode.Cc, unicode.Cf, unicode.L, unicode.N)).Draw(rt, "text")
		text += strings.Repeat("x", rapid.SampledFrom([]int{0, 100, 190, 200, 990, 1000}).Draw(rt, "more"))
		var want []violation.Code
		if utf8.RuneCountInString(text) > limits[place] {
			want = append(want, violation.LimitExceeded)
		}
		if strings.ContainsFunc(text, func(r rune) bool { return (r < ' ' || r >= 0x7f && r < 0xa0) && !strings.ContainsRune("\t\r\n", r) }) {
			want = append(want, violation.TextInvalid)
		}
		var got []violation.Code
		for _, v := range validateBody(t, delivered(map[string]any{place: text})).Violations {
			got = append(got, v.Code)
		}
		if !cmp.Equal(want, got) {
			rt.Fatalf("%s %q: got %v, want %v", place, text, got, want)
		}
	})
}
