package httpapi_test

import (
	"net/http"
	"slices"
	"strings"
	"testing"

	"larder/httpapi/ratelimit"
)

// A guest's page may place orders and read their state, and nothing else (policy H3).
func TestGuests(t *testing.T) {
	t.Parallel()
	const page, long = "https://shop.example", "0123456789abcdefghijkl"
	k := newOrderFixture(t, func(p *plan) {
		p.auth.PublicOrders.Enabled, p.auth.PublicOrders.Origins = true, []string{page}
		p.ordering.AllowMissingKey = true // orders of others; a guest's order is found only by its key
	})
	origin := []string{"Origin", page}
	guest := func(more ...string) []string { return slices.Concat(origin, more) }
	k.post(ordersPath, guestOrder(), guest()...).refused(t, http.StatusBadRequest, "idempotency_key_required")
	body := guestOrder()
	first := k.post(ordersPath, body, guest(key(long)...)...).is(t, http.StatusCreated)
	same(t, first, k.post(ordersPath, body, guest(key(long)...)...))

	got := k.get("/v1/orders?key="+long, guest()...).is(t, http.StatusOK)
	want := `{"result":{"state":"placed","total":210.4,"orderID":"` + k.main.has()[0].OrderID + `","paid":false}}`
	if string(got.body) != want || got.header.Get("Cache-Control") != "no-store" || got.header.Get("Access-Control-Allow-Origin") != page {
		t.Errorf("got %s, want %s; %v", got.body, want, got.header)
	}
	if inHeader := k.get("/v1/orders", guest(key(long)...)...).is(t, http.StatusOK); string(inHeader.body) != want {
		t.Errorf("the key in the header: got %s, want %s", inHeader.body, want)
	}
	k.do(http.MethodHead, "/v1/orders?key="+long, "", guest()...).is(t, http.StatusOK)
	k.get("/v1/orders?key=short", guest()...).refused(t, http.StatusBadRequest, "invalid_parameter")
	k.get("/v1/orders?key=abcdefghijklmnopqrstuv", guest()...).refused(t, http.StatusNotFound, "order_not_found")
	k.get("/v1/orders?key="+long).refused(t, http.StatusUnauthorized, "unauthorized")
	k.get("/v1/orders?key="+long, "Origin", "https://evil.example").refused(t, http.StatusUnauthorized, "unauthorized")
	k.get("/v1/orders?key="+long, k.shop...).refused(t, http.StatusNotFound, "order_not_found") // a guest's key is not a client's key

	id := k.main.has()[0].OrderID
	for _, call := range [][3]string{
		{http.MethodGet, "/v1/orders/" + id, ""},
		{http.MethodPut, "/v1/orders/" + id + "/pay", payment},
		{http.MethodPut, "/v1/orders/" + id + "/complete", ""},
		{http.MethodPut, "/v1/orders/" + id + "/reject", reject},
		{http.MethodGet, "/v1/ops/orders", ""},
	} {
		k.do(call[0], call[1], call[2], guest(append(key(long), "Content-Type", "application/json")...)...).refused(t, http.StatusUnauthorized, "unauthorized")
	}
	for path, method := range map[string]string{ordersPath: "POST", "/v1/orders": "GET", "/v1/orders/events": "GET", "/v1/orders/" + id + "/pay": "PUT"} {
		preflight := k.do(http.MethodOptions, path, "", guest("Access-Control-Request-Method", method, "Access-Control-Request-Headers", "idempotency-key")...).is(t, http.StatusNoContent)
		if allowed := preflight.header.Get("Access-Control-Allow-Methods"); !strings.Contains(allowed, method) || preflight.header.Get("Access-Control-Allow-Origin") != page {
			t.Errorf("preflight of %s %s: %v", method, path, preflight.header)
		}
	}
	if exposed := got.header.Get("Access-Control-Expose-Headers"); !strings.Contains(exposed, "Idempotent-Replayed") {
		t.Errorf("a page cannot recognise a replay: %q", exposed)
	}
}

// Reads of a guest's page do not use up its limit for placing orders.
func TestGuestsAskWithoutEndAndStillPlace(t *testing.T) {
	t.Parallel()
	const page, long = "https://shop.example", "0123456789abcdefghijkl"
	k := newOrderFixture(t, func(p *plan) {
		p.auth.PublicOrders.Enabled, p.auth.PublicOrders.Origins = true, []string{page}
		p.auth.PublicOrders.Rate = ratelimit.Rate{Count: 1, Per: 3600e9}
		p.cfg.Rate.Validate = ratelimit.Rate{Count: 10, Per: 3600e9}
	})
	for range 10 {
		k.get("/v1/orders?key="+long, "Origin", page).refused(t, http.StatusNotFound, "order_not_found")
	}
	last := k.get("/v1/orders?key="+long, "Origin", page)
	last.refused(t, http.StatusTooManyRequests, "rate_limited")
	if last.header.Get("Retry-After") == "" {
		t.Error("429 without Retry-After")
	}
	k.post(ordersPath, guestOrder(), append(key(long), "Origin", page)...).is(t, http.StatusCreated)
	k.post(ordersPath, guestOrder(), append(key(long), "Origin", page)...).refused(t, http.StatusTooManyRequests, "rate_limited")
}
