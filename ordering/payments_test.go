package ordering_test

import (
	"errors"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"larder.local/internal/testkit/menutest"
	"larder.local/internal/upstream"
	"larder.local/ordering"
	"larder.local/ordering/violation"
)

// refusedFor returns the violations of a rejected change.
func refusedFor(tb testing.TB, err error) []menutest.Broken {
	tb.Helper()
	e, ok := errors.AsType[*ordering.InvalidError](err)
	if !ok {
		tb.Fatalf("error %T %v, want violations", err, err)
	}
	return menutest.BrokenIn(tb, e.Violations)
}

func TestInvalidPayments_O10(t *testing.T) {
	t.Parallel()
	const at = `"2026-05-01T12:00:00+03:00"`
	wantArray := func(got string) []menutest.Broken {
		return []menutest.Broken{{"", violation.TypeMismatch, `{"got":"` + got + `","want":"array"}`}}
	}
	required := func(path, field string) menutest.Broken {
		return menutest.Broken{path, violation.FieldRequired, `{"field":"` + field + `"}`}
	}
	for _, tc := range []struct {
		name, body string
		want       []menutest.Broken
	}{
		{"not an array", `{"code":"c"}`, wantArray("object")},
		{"null", `null`, wantArray("null")},
		{"empty", `[]`, []menutest.Broken{required("", "payments")}},
		{"not objects", `[1,null]`, []menutest.Broken{
			{"/0", violation.TypeMismatch, `{"got":"number","want":"object"}`}, {"/1", violation.TypeMismatch, `{"got":"null","want":"object"}`},
		}},
		{"no fields", `[{}]`, []menutest.Broken{required("/0/code", "code"), required("/0/amount", "amount"), required("/0/paidAt", "paidAt")}},
		{
			"all empty, in the client's spelling", `[{"Code":" ","AMOUNT":"","paid_at":null}]`,
			[]menutest.Broken{required("/0/Code", "code"), required("/0/AMOUNT", "amount"), required("/0/paid_at", "paidAt")},
		},
		{"in the order of the body", `[{"amount":-1,"code":[]},{"paidAt":"soon","amount":"1,5"}]`, []menutest.Broken{
			{"/0/amount", violation.ValueNotAllowed, `{"allowed":["≥ 0"]}`},
			{"/0/code", violation.TypeMismatch, `{"got":"array","want":"identifier"}`},
			required("/0/paidAt", "paidAt"),
			{"/1/paidAt", violation.TypeMismatch, `{"got":"string","want":"date-time"}`},
			{"/1/amount", violation.DecimalComma, `{}`},
			required("/1/code", "code"),
		}},
		{"no offset", `[{"code":"c","amount":500,"paidAt":"2026-05-01T12:00:00"}]`, []menutest.Broken{{"/0/paidAt", violation.TimeZoneMissing, `{}`}}},
		{"a number above the limit", `[{"code":"c","amount":1e99,"paidAt":` + at + `}]`, []menutest.Broken{{"/0/amount", violation.LimitExceeded, `{"limit":40}`}}},
		{"a name of the wrong type", `[{"code":"c","amount":500,"paidAt":` + at + `,"name":{}}]`, []menutest.Broken{
			{"/0/name", violation.TypeMismatch, `{"got":"object","want":"string"}`},
		}},
		{"too many", `[` + strings.Repeat(`{"code":"c","amount":500,"paidAt":`+at+`},`, 100) + `{}]`, []menutest.Broken{{"", violation.LimitExceeded, `{"limit":100}`}}},
		{"the maximum number, with a sum below the total", `[` + strings.Repeat(`{"code":"c","amount":1,"paidAt":`+at+`},`, 99) + `{"code":"c","amount":0,"paidAt":` + at + `}]`, []menutest.Broken{
			{"/99/amount", violation.AmountInsufficient, `{"total":199.9}`},
		}},
		{"less than the total", `[{"code":"c","amount":199.89,"paidAt":` + at + `}]`, []menutest.Broken{{"/0/amount", violation.AmountInsufficient, `{"total":199.9}`}}},
		{
			"a sum below the total", `[{"code":"c","Amount":"100","paidAt":` + at + `},{"code":"d","Amount":99.8999,"paidAt":` + at + `}]`,
			[]menutest.Broken{{"/1/Amount", violation.AmountInsufficient, `{"total":199.9}`}},
		},
	} {
		t.Run(tc.name, func(t *testing.T) {
			t.Parallel()
			h := newHarness(t, ordering.DefaultConfig())
			h.placed(t)
			_, err := h.Change(t.Context(), changing(upstream.OpPay, tc.body))
			if diff := cmp.Diff(tc.want, refusedFor(t, err)); diff != "" {
				t.Errorf("pay %s (-want +got):\n%s", tc.body, diff)
			}
			h.wantSent(t, 1)
		})
	}
}

func TestSentPayments(t *testing.T) {
	t.Parallel()
	short := `[{"code":"c","amount":"1.50","paidAt":"2026-05-01T12:00:00.5Z","Tip":{"a":1e2}}]`
	under := ordering.DefaultConfig()
	under.AllowUnderpayment = true
	for _, tc := range []struct {
		name   string
		cfg    ordering.Config
		change ordering.ChangeRequest
		want   string
	}{
		{
			"in two parts, exactly",
			ordering.DefaultConfig(),
			changing(upstream.OpPay, `[{"name":"card","paidAt":"2026-05-01T12:00:00+03:00","amount":"199.80","code":42,"x":1},{"code":"d","amount":0.1,"paidAt":"2026-05-01T12:00:00+03:00"}]`),
			`[{"code":"42","amount":199.8,"paidAt":"2026-05-01T12:00:00+03:00","name":"card"},{"code":"d","amount":0.1,"paidAt":"2026-05-01T12:00:00+03:00","name":""}]`,
		},
		{
			"less than the total on the compatible API, unknown fields passed on",
			ordering.DefaultConfig(),
			changing(upstream.OpPay, short, compat),
			`[{"code":"c","amount":1.5,"paidAt":"2026-05-01T12:00:00.5Z","name":"","Tip":{"a":100}}]`,
		},
		{
			"less than the total, allowed by the setting", under, changing(upstream.OpPay, short),
			`[{"code":"c","amount":1.5,"paidAt":"2026-05-01T12:00:00.5Z","name":""}]`,
		},
	} {
		t.Run(tc.name, func(t *testing.T) {
			t.Parallel()
			h := newHarness(t, tc.cfg)
			h.placed(t)
			h.changed(t, ordering.OutcomeDone, tc.change)
			if sent := h.service.calls()[1]; sent.body != tc.want {
				t.Errorf("sent\n%s\nwant\n%s", sent.body, tc.want)
			}
		})
	}
}
