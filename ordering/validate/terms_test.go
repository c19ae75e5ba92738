package validate_test

import (
	"encoding/json"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	"github.com/shopspring/decimal"

	"larder.local/internal/hours"
	"larder.local/internal/testkit/menutest"
	"larder.local/ordering/validate"
	"larder.local/ordering/violation"
)

// withTerms checks a body at 12:00 UTC, 14:00 in the restaurant's time zone, with terms for pickup.
func withTerms(t *testing.T, body string, pickup validate.Terms, isV1 bool) *validate.Result {
	t.Helper()
	zone := time.FixedZone("", 2*60*60)
	if pickup.Hours != nil {
		pickup.Hours.Zone = zone
	}
	validator := validate.New(validate.DefaultConfig(), menutest.Noon)
	validator.SetRestaurants([]validate.Restaurant{{ID: menutest.Restaurant, Location: zone, Pickup: pickup}})
	req := v1(t, body)
	req.V1 = isV1
	order, err := validate.DecodeOrder(req.Input, nil)
	if err != nil {
		t.Fatal(err)
	}
	result, err := validator.Check(order, req)
	if err != nil {
		t.Fatal(err)
	}
	return result
}

// fridays returns a schedule for the day of menutest.Noon, a Friday.
func fridays(intervals ...hours.Interval) *hours.Schedule {
	schedule := &hours.Schedule{}
	schedule.Week[time.Friday] = intervals
	return schedule
}

func TestHoursAndLeadTime_O22(t *testing.T) {
	t.Parallel()
	lunch := hours.Interval{From: 11 * 60, To: 15 * 60} // 09:00 to 13:00 UTC
	evening := hours.Interval{From: 18 * 60, To: 26 * 60}
	const lunchAndEvening = `[{"from":"2026-05-01T11:00:00+02:00","to":"2026-05-01T15:00:00+02:00"},{"from":"2026-05-01T18:00:00+02:00","to":"2026-05-02T00:00:00+02:00"}]`
	closed := func(opensAt, intervals string) []menutest.Broken {
		return []menutest.Broken{{"/expectedAt", violation.RestaurantClosed, `{"intervals":` + intervals + `,"opensAt":` + opensAt + `}`}}
	}
	soon := func(earliest string) []menutest.Broken {
		return []menutest.Broken{{"/expectedAt", violation.TooSoon, `{"earliest":"` + earliest + `"}`}}
	}
	half := 30 * time.Minute
	for name, tc := range map[string]struct {
		when  string // "" means soonest
		terms validate.Terms
		want  []menutest.Broken
	}{
		"no hours":                            {"", validate.Terms{LeadTime: new(half)}, nil},
		"soonest, open":                       {"", validate.Terms{Hours: fridays(lunch), LeadTime: new(half)}, nil},
		"soonest, closed after the lead time": {"", validate.Terms{Hours: fridays(lunch, evening), LeadTime: new(time.Hour)}, closed(`"2026-05-01T18:00:00+02:00"`, lunchAndEvening)},
		"soonest, never open":                 {"", validate.Terms{Hours: &hours.Schedule{}, LeadTime: new(half)}, closed("null", "[]")},
		"soonest, opens only in a week":       {"", validate.Terms{Hours: fridays(lunch), LeadTime: new(time.Hour)}, closed(`"2026-05-08T11:00:00+02:00"`, `[{"from":"2026-05-01T11:00:00+02:00","to":"2026-05-01T15:00:00+02:00"}]`)},
		"the last second":                     {"2026-05-01T12:59:59Z", validate.Terms{Hours: fridays(lunch), LeadTime: new(half)}, nil},
		"the end":                             {"2026-05-01T13:00:00Z", validate.Terms{Hours: fridays(lunch, evening), LeadTime: new(half)}, closed(`"2026-05-01T18:00:00+02:00"`, lunchAndEvening)},
		"the opening":                         {"2026-05-01T16:00:00Z", validate.Terms{Hours: fridays(evening), LeadTime: new(half)}, nil},
		"after midnight":                      {"2026-05-02T01:59:00+02:00", validate.Terms{Hours: fridays(evening), LeadTime: new(half)}, nil},
		"the lead time":                       {"2026-05-01T12:30:00Z", validate.Terms{LeadTime: new(half)}, nil},
		"a minute less":                       {"2026-05-01T12:29:00Z", validate.Terms{LeadTime: new(half)}, nil},
		"a second less":                       {"2026-05-01T12:28:59Z", validate.Terms{LeadTime: new(half)}, soon("2026-05-01T14:30:00+02:00")},
		"too soon, and closed then":           {"2026-05-01T12:10:00Z", validate.Terms{Hours: fridays(evening), LeadTime: new(half)}, soon("2026-05-01T18:00:00+02:00")},
		"in the past":                         {"2026-05-01T11:00:00Z", validate.Terms{Hours: fridays(evening), LeadTime: new(half)}, []menutest.Broken{{"/expectedAt", violation.TimeInPast, `{"earliest":"2026-05-01T12:00:00.000Z"}`}}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			for _, isV1 := range []bool{true, false} {
				body := `{` + soup + `,"expeditionType":"pickup","paymentTypeID":"cash","expectedAt":"` + tc.when + `"}`
				if tc.when == "" {
					body = strings.Replace(body, `"expectedAt":""`, `"soonest":true`, 1)
				}
				result := withTerms(t, body, tc.terms, isV1)
				if diff := cmp.Diff(tc.want, menutest.BrokenIn(t, result.Violations), cmpopts.EquateEmpty()); diff != "" {
					t.Errorf("v1 %v: violations (-want +got):\n%s", isV1, diff)
				}
			}
		})
	}
}

func TestMinimumOrder_O22(t *testing.T) {
	t.Parallel()
	body := `{` + soup + `,"expeditionType":"pickup","soonest":true,"paymentTypeID":"cash"}`
	total := withTerms(t, body, validate.Terms{LeadTime: new(time.Hour)}, true).Total.Decimal
	for _, tc := range []struct{ minimum, want string }{
		{"0", ""},
		{total.String(), ""},
		{total.Add(decimal.New(1, -2)).String(), "0.01"},
		{total.Add(decimal.New(1250, -2)).String(), "12.5"},
	} {
		result := withTerms(t, body, validate.Terms{LeadTime: new(time.Hour), Minimum: decimal.RequireFromString(tc.minimum)}, true)
		if tc.want == "" {
			if !result.Valid {
				t.Errorf("minimum %s: %v", tc.minimum, result.Violations)
			}
			continue
		}
		if len(result.Violations) != 1 || result.Violations[0].Code != violation.MinimumOrder || result.Violations[0].Path != "/dishList" {
			t.Errorf("minimum %s: violations %v", tc.minimum, result.Violations)
			continue
		}
		params := result.Violations[0].Params
		if params["missing"] != json.Number(tc.want) || params["minimum"] != json.Number(tc.minimum) {
			t.Errorf("minimum %s: params %v, want missing %s", tc.minimum, params, tc.want)
		}
	}
	unknown := strings.Replace(body, `"soup"`, `"no-such-dish"`, 1)
	for _, v := range withTerms(t, unknown, validate.Terms{LeadTime: new(time.Hour), Minimum: decimal.New(1000, 0)}, true).Violations {
		if v.Code == violation.MinimumOrder {
			t.Errorf("an order whose total is not known has %v", v)
		}
	}
}

func TestAccepts_O22(t *testing.T) {
	t.Parallel()
	zone := time.FixedZone("", 2*60*60)
	lunch := fridays(hours.Interval{From: 11 * 60, To: 15 * 60})
	lunch.Zone = zone
	noon := menutest.Noon()
	for _, tc := range []struct {
		terms  validate.Terms
		reason string
		next   string
	}{
		{validate.Terms{LeadTime: new(time.Hour)}, "", ""},
		{validate.Terms{Hours: lunch, LeadTime: new(59 * time.Minute)}, "", ""},
		{validate.Terms{Hours: lunch, LeadTime: new(time.Hour)}, "closed", "2026-05-08T11:00:00+02:00"},
		{validate.Terms{Hours: &hours.Schedule{Zone: zone}, LeadTime: new(time.Hour)}, "closed", ""},
		{validate.Terms{LeadTime: new(time.Hour), PausedUntil: &time.Time{}}, "paused", ""},
		{validate.Terms{LeadTime: new(time.Hour), PausedUntil: new(noon.Add(time.Hour))}, "", ""},
		{validate.Terms{LeadTime: new(time.Hour), PausedUntil: new(noon.Add(61 * time.Minute))}, "paused", "2026-05-01T15:01:00+02:00"},
		{validate.Terms{Hours: lunch, LeadTime: new(time.Minute), PausedUntil: new(noon.Add(2 * time.Hour))}, "paused", "2026-05-08T11:00:00+02:00"},
	} {
		reason, next := tc.terms.Accepts(noon)
		text := ""
		if !next.IsZero() {
			text = next.In(zone).Format(time.RFC3339)
		}
		if reason != tc.reason || text != tc.next {
			t.Errorf("%v: Accepts = %q, %q; want %q, %q", tc.terms, reason, text, tc.reason, tc.next)
		}
	}
}
