package e2e_test

import (
	"net/http"
	"slices"
	"strings"
	"testing"

	"larder.local/internal/testkit/apitest"
)

// O19: a guest's order needs a phone number, also for a pickup, when it is checked and when it is placed. An order with a
// token does not.
func TestGuestsNeedAPhone_O19(t *testing.T) {
	t.Parallel()
	const page, long = "https://shop.example", "0123456789abcdefghijkl"
	k := apitest.NewOrders(t, func(p *apitest.Plan) {
		p.Auth.PublicOrders.Enabled, p.Auth.PublicOrders.Origins = true, []string{page}
	})
	for body, want := range map[string]string{
		apitest.Order(): "field_required /guest/phone",
		strings.Replace(apitest.GuestOrder(), "+351 220 000 000", "00000", 1):            "phone_invalid /guest/phone",
		strings.Replace(apitest.GuestOrder(), "+351 220 000 000", "1234567890123456", 1): "phone_invalid /guest/phone",
	} {
		for name, got := range map[string]apitest.Reply{
			"placed": k.Post(apitest.OrdersPath, body, append(apitest.Key(long), "Origin", page)...), "checked": k.Post(apitest.ValidatePath, body, "Origin", page),
		} {
			if list := got.Violations(t); !slices.Equal(list, []string{want}) {
				t.Errorf("%s by a guest: %v, want %s: %s", name, list, want, body)
			}
		}
		for name, got := range map[string]apitest.Reply{
			"from another page": k.Post(apitest.ValidatePath, body, "Origin", "https://other.example"), "with a token": k.Post(apitest.ValidatePath, body, append(k.Shop, "Origin", page)...),
		} {
			if list := got.Violations(t); len(list) > 0 {
				t.Errorf("checked %s: %v, want nothing", name, list)
			}
		}
	}
	if sent := k.Main.Orders(); len(sent) != 0 {
		t.Errorf("%d orders reached the ordering service", len(sent))
	}
	k.Post(apitest.OrdersPath, apitest.GuestOrder(), append(apitest.Key(long), "Origin", page)...).Is(t, http.StatusCreated)
	k.Post(apitest.OrdersPath, apitest.Order(), append(apitest.Key("with-a-token"), k.Shop...)...).Is(t, http.StatusCreated)
}

// O5 and O19: what forms send for an empty field is accepted on both APIs and not sent. The rest is a violation on both.
func TestEmptyNumbersAndSpellings(t *testing.T) {
	t.Parallel()
	tw := apitest.NewCompat(t)
	with := func(more string) string { return strings.Replace(apitest.Order(), "{", "{"+more+", ", 1) }
	empty := with(`"restaurantID": "` + apitest.Bistro + `", "changeFrom": 0, "persons": 0`)
	tw.Post(apitest.CreatePath, empty, tw.Shop...).Is(t, http.StatusCreated)
	tw.Post(apitest.OrdersPath, empty, append(apitest.Key("empty"), tw.Shop...)...).Is(t, http.StatusCreated)
	for _, raw := range tw.Behind.Raws() {
		if strings.Contains(raw, "changeFrom") || strings.Contains(raw, "persons") {
			t.Errorf("sent %s", raw)
		}
	}
	for more, want := range map[string]string{
		`"restaurantID": "` + apitest.Bistro + `", "restaurantId": "` + apitest.Second + `"`: "limit_exceeded /restaurantId",
		`"restaurantID": "` + apitest.Second + `", "restaurantId": "` + apitest.Bistro + `"`: "limit_exceeded /restaurantId",
		`"restaurantID": "` + apitest.Bistro + `", "restaurantId": "elsewhere"`:              "limit_exceeded /restaurantId",
		`"restaurantID": "` + apitest.Bistro + `", "persons": -1`:                            "value_not_allowed /persons",
		`"restaurantID": "` + apitest.Bistro + `", "address": {"lat": 91}`:                   "value_not_allowed /address/lat",
		`"restaurantID": "` + apitest.Bistro + `", "changeFrom": 0.01`:                       "change_too_small /changeFrom",
	} {
		for api, got := range map[string]apitest.Reply{
			"v1": tw.Post(apitest.OrdersPath, with(more), append(apitest.Key("wrong"), tw.Shop...)...), "compatible": tw.Post(apitest.CreatePath, with(more), tw.Shop...),
		} {
			if list := got.Violations(t); got.Status != http.StatusUnprocessableEntity || !slices.Contains(list, want) {
				t.Errorf("%s: %s: status %d, %v, want %s", api, more, got.Status, list, want)
			}
		}
	}
	if raws := tw.Behind.Raws(); len(raws) != 2 {
		t.Errorf("%d orders reached the ordering service, want 2", len(raws))
	}
}
