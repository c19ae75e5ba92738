package validate_test

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"larder.local/internal/hours"
	"larder.local/internal/menu"
	"larder.local/internal/testkit/menutest"
	"larder.local/ordering/validate"
	"larder.local/ordering/violation"
)

// restricted checks a pickup of a soup at 12:00 UTC, 14:00 in the restaurant's time zone.
func restricted(t *testing.T, said hours.Availability, when string, catalogue *menu.Catalogue, isV1 bool) []menutest.Broken {
	t.Helper()
	validator := validate.New(validate.DefaultConfig(), menutest.Noon)
	validator.SetRestaurants([]validate.Restaurant{{ID: menutest.Restaurant, Location: time.FixedZone("", 2*60*60)}})
	validator.Availability = func(menu.RestaurantID) hours.Availability { return said }
	req := v1(t, `{`+soup+`,"expeditionType":"pickup","paymentTypeID":"cash",`+when+`}`)
	req.V1 = isV1
	if catalogue != nil {
		req.Catalogue = catalogue
	}
	order, err := validate.DecodeOrder(req.Input, nil)
	if err != nil {
		t.Fatal(err)
	}
	result, err := validator.Check(order, req)
	if err != nil {
		t.Fatal(err)
	}
	return menutest.BrokenIn(t, result.Violations)
}

// What operators say counts for the time at which an order may be ready, in both APIs. Each violation says until when.
func TestRestrictedOrders_O23(t *testing.T) {
	t.Parallel()
	noon := menutest.Noon()
	in := func(d time.Duration) time.Time { return noon.Add(d) }
	paused := func(until string) []menutest.Broken {
		return []menutest.Broken{{"/expectedAt", violation.RestaurantPaused, `{"until":` + until + `}`}}
	}
	at := func(d time.Duration) string { return `"expectedAt":"` + in(d).Format(time.RFC3339) + `"` }
	for name, tc := range map[string]struct {
		said hours.Availability
		when string
		want []menutest.Broken
	}{
		"a pause without an end": {hours.Availability{hours.PausePickup: {At: noon}}, at(50 * time.Hour), paused("null")},
		"before its end":         {hours.Availability{hours.PausePickup: {At: noon, Until: in(3 * time.Hour)}}, at(2 * time.Hour), paused(`"2026-05-01T17:00:00+02:00"`)},
		"soonest before its end": {hours.Availability{hours.PausePickup: {At: noon, Until: in(3 * time.Hour)}}, `"soonest":true`, paused(`"2026-05-01T17:00:00+02:00"`)},
		"busy beyond its end": {
			hours.Availability{hours.PausePickup: {At: noon, Until: in(3 * time.Hour)}, hours.Busy: {At: noon, Minutes: 300}},
			at(2 * time.Hour),
			paused(`"2026-05-01T19:00:00+02:00"`),
		},
		"at its end":        {hours.Availability{hours.PausePickup: {At: noon, Until: in(2 * time.Hour)}}, at(2 * time.Hour), nil},
		"of the other type": {hours.Availability{hours.PauseDelivery: {At: noon}}, at(2 * time.Hour), nil},
		"ended":             {hours.Availability{hours.PausePickup: {At: noon, EndedAt: noon}}, at(2 * time.Hour), nil},
		"busy": {
			hours.Availability{hours.Busy: {At: noon, Minutes: 180}},
			at(2 * time.Hour),
			[]menutest.Broken{{"/expectedAt", violation.TooSoon, `{"earliest":"2026-05-01T17:00:00+02:00"}`}},
		},
		"busy, within a minute":               {hours.Availability{hours.Busy: {At: noon, Minutes: 121}}, at(2 * time.Hour), nil},
		"busy, less than the usual lead time": {hours.Availability{hours.Busy: {At: noon, Minutes: 5}}, at(2 * time.Hour), nil},
		"too soon, and the pause ends later": {
			hours.Availability{hours.PausePickup: {At: noon, Until: in(20 * time.Minute)}, hours.Busy: {At: noon, Minutes: 180}},
			at(30 * time.Minute),
			[]menutest.Broken{{"/expectedAt", violation.TooSoon, `{"earliest":"2026-05-01T17:00:00+02:00"}`}},
		},
	} {
		for _, isV1 := range []bool{true, false} {
			if diff := cmp.Diff(tc.want, restricted(t, tc.said, tc.when, nil, isV1), cmpopts.EquateEmpty()); diff != "" {
				t.Errorf("%s, v1 %t: %s", name, isV1, diff)
			}
		}
	}
}

// A snoozed dish is refused with the time of its return, unless the ordering service has stopped it too.
func TestSnoozedDish_O23(t *testing.T) {
	t.Parallel()
	until := menutest.Noon().Add(3 * time.Hour)
	for name, tc := range map[string]struct {
		stops  menu.Stops
		until  time.Time
		params string
	}{
		"until a time":    {menu.Stops{}, until, `{"id":"soup","name":"Soup","until":"2026-05-01T17:00:00+02:00"}`},
		"without an end":  {menu.Stops{}, time.Time{}, `{"id":"soup","name":"Soup"}`},
		"stopped as well": {menu.Stops{Products: []string{"soup"}}, until, `{"id":"soup","name":"Soup"}`},
	} {
		content := menutest.Compile(t, menutest.Card, menu.DefaultSettings()).Content
		snoozed := menu.WithSnoozed(content, tc.stops, map[string]time.Time{"soup": tc.until, "no such dish": until})
		for _, isV1 := range []bool{true, false} {
			want := []menutest.Broken{{"/dishList/0", violation.DishUnavailable, tc.params}}
			if diff := cmp.Diff(want, restricted(t, nil, `"soonest":true`, snoozed, isV1)); diff != "" {
				t.Errorf("%s, v1 %t: %s", name, isV1, diff)
			}
		}
		if diff := cmp.Diff(tc.stops, menu.Unsnoozed(snoozed).Stops(), cmpopts.EquateEmpty()); diff != "" {
			t.Errorf("%s: the stops without snoozes: %s", name, diff)
		}
	}
}
