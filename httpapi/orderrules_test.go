package httpapi_test

import (
	"net/http"
	"slices"
	"strings"
	"testing"
)

// guestOrder is order with a guest's phone number.
func guestOrder() string {
	return strings.Replace(order(), "{", `{"guest": {"phone": "+351 220 000 000"}, `, 1)
}

// O19: a guest's order needs a phone number, also for a pickup, when it is checked and when it is placed. An order with a
// token does not.
func TestGuestsNeedAPhone_O19(t *testing.T) {
	t.Parallel()
	const page, long = "https://shop.example", "0123456789abcdefghijkl"
	k := newOrderFixture(t, func(p *plan) {
		p.auth.PublicOrders.Enabled, p.auth.PublicOrders.Origins = true, []string{page}
	})
	for body, want := range map[string]string{
		order(): "field_required /guest/phone",
		strings.Replace(guestOrder(), "+351 220 000 000", "00000", 1):            "phone_invalid /guest/phone",
		strings.Replace(guestOrder(), "+351 220 000 000", "1234567890123456", 1): "phone_invalid /guest/phone",
	} {
		for name, got := range map[string]reply{
			"placed": k.post(ordersPath, body, append(key(long), "Origin", page)...), "checked": k.post(validatePath, body, "Origin", page),
		} {
			if list := got.violations(t); !slices.Equal(list, []string{want}) {
				t.Errorf("%s by a guest: %v, want %s: %s", name, list, want, body)
			}
		}
		for name, got := range map[string]reply{
			"from another page": k.post(validatePath, body, "Origin", "https://other.example"), "with a token": k.post(validatePath, body, append(k.shop, "Origin", page)...),
		} {
			if list := got.violations(t); len(list) > 0 {
				t.Errorf("checked %s: %v, want nothing", name, list)
			}
		}
	}
	if sent := k.main.has(); len(sent) != 0 {
		t.Errorf("%d orders reached the ordering service", len(sent))
	}
	k.post(ordersPath, guestOrder(), append(key(long), "Origin", page)...).is(t, http.StatusCreated)
	k.post(ordersPath, order(), append(key("with-a-token"), k.shop...)...).is(t, http.StatusCreated)
}

// O5 and O19: what forms send for an empty field is accepted on both APIs and not sent. The rest is a violation on both.
func TestEmptyNumbersAndSpellings(t *testing.T) {
	t.Parallel()
	tw := newCompatFixture(t)
	with := func(more string) string { return strings.Replace(order(), "{", "{"+more+", ", 1) }
	empty := with(`"restaurantID": "` + bistro + `", "changeFrom": 0, "persons": 0`)
	tw.post(createPath, empty, tw.shop...).is(t, http.StatusCreated)
	tw.post(ordersPath, empty, append(key("empty"), tw.shop...)...).is(t, http.StatusCreated)
	for _, raw := range tw.behind.raws() {
		if strings.Contains(raw, "changeFrom") || strings.Contains(raw, "persons") {
			t.Errorf("sent %s", raw)
		}
	}
	for more, want := range map[string]string{
		`"restaurantID": "` + bistro + `", "restaurantId": "` + second + `"`: "limit_exceeded /restaurantId",
		`"restaurantID": "` + second + `", "restaurantId": "` + bistro + `"`: "limit_exceeded /restaurantId",
		`"restaurantID": "` + bistro + `", "restaurantId": "elsewhere"`:      "limit_exceeded /restaurantId",
		`"restaurantID": "` + bistro + `", "persons": -1`:                    "value_not_allowed /persons",
		`"restaurantID": "` + bistro + `", "address": {"lat": 91}`:           "value_not_allowed /address/lat",
		`"restaurantID": "` + bistro + `", "changeFrom": 0.01`:               "change_too_small /changeFrom",
	} {
		for api, got := range map[string]reply{
			"v1": tw.post(ordersPath, with(more), append(key("wrong"), tw.shop...)...), "compatible": tw.post(createPath, with(more), tw.shop...),
		} {
			if list := got.violations(t); got.status != http.StatusUnprocessableEntity || !slices.Contains(list, want) {
				t.Errorf("%s: %s: status %d, %v, want %s", api, more, got.status, list, want)
			}
		}
	}
	if raws := tw.behind.raws(); len(raws) != 2 {
		t.Errorf("%d orders reached the ordering service, want 2", len(raws))
	}
}
