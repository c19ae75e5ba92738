package orders_test

import (
	"net/http"
	"slices"
	"strings"
	"testing"

	"larder.local/httpapi/ratelimit"
	"larder.local/internal/testkit/apitest"
)

// A guest's page may place orders and read their state, and nothing else (policy H3).
func TestGuests(t *testing.T) {
	t.Parallel()
	const page, long = "https://shop.example", "0123456789abcdefghijkl"
	k := apitest.NewOrders(t, func(p *apitest.Plan) {
		p.Auth.PublicOrders.Enabled, p.Auth.PublicOrders.Origins = true, []string{page}
		p.Ordering.AllowMissingKey = true // orders of others; a guest's order is found only by its key
	})
	origin := []string{"Origin", page}
	guest := func(more ...string) []string { return slices.Concat(origin, more) }
	k.Post(apitest.OrdersPath, apitest.GuestOrder(), guest()...).Refused(t, http.StatusBadRequest, "idempotency_key_required")
	body := apitest.GuestOrder()
	first := k.Post(apitest.OrdersPath, body, guest(apitest.Key(long)...)...).Is(t, http.StatusCreated)
	apitest.SameReplay(t, first, k.Post(apitest.OrdersPath, body, guest(apitest.Key(long)...)...))

	got := k.Get("/v1/orders?key="+long, guest()...).Is(t, http.StatusOK)
	want := `{"result":{"state":"placed","total":210.4,"orderID":"` + k.Main.Orders()[0].OrderID + `","paid":false}}`
	if string(got.Body) != want || got.Header.Get("Cache-Control") != "no-store" || got.Header.Get("Access-Control-Allow-Origin") != page {
		t.Errorf("got %s, want %s; %v", got.Body, want, got.Header)
	}
	if inHeader := k.Get("/v1/orders", guest(apitest.Key(long)...)...).Is(t, http.StatusOK); string(inHeader.Body) != want {
		t.Errorf("the key in the header: got %s, want %s", inHeader.Body, want)
	}
	k.Do(http.MethodHead, "/v1/orders?key="+long, "", guest()...).Is(t, http.StatusOK)
	k.Get("/v1/orders?key=short", guest()...).Refused(t, http.StatusBadRequest, "invalid_parameter")
	k.Get("/v1/orders?key=abcdefghijklmnopqrstuv", guest()...).Refused(t, http.StatusNotFound, "order_not_found")
	k.Get("/v1/orders?key="+long).Refused(t, http.StatusUnauthorized, "unauthorized")
	k.Get("/v1/orders?key="+long, "Origin", "https://evil.example").Refused(t, http.StatusUnauthorized, "unauthorized")
	k.Get("/v1/orders?key="+long, k.Shop...).Refused(t, http.StatusNotFound, "order_not_found") // a guest's key is not a client's key

	id := k.Main.Orders()[0].OrderID
	for _, call := range [][3]string{
		{http.MethodGet, "/v1/orders/" + id, ""},
		{http.MethodPut, "/v1/orders/" + id + "/pay", apitest.Payment},
		{http.MethodPut, "/v1/orders/" + id + "/complete", ""},
		{http.MethodPut, "/v1/orders/" + id + "/reject", apitest.Reject},
		{http.MethodGet, "/v1/ops/orders", ""},
	} {
		k.Do(call[0], call[1], call[2], guest(append(apitest.Key(long), "Content-Type", "application/json")...)...).Refused(t, http.StatusUnauthorized, "unauthorized")
	}
	for path, method := range map[string]string{apitest.OrdersPath: "POST", "/v1/orders": "GET", "/v1/orders/events": "GET", "/v1/orders/" + id + "/pay": "PUT"} {
		preflight := k.Do(http.MethodOptions, path, "", guest("Access-Control-Request-Method", method, "Access-Control-Request-Headers", "idempotency-key")...).Is(t, http.StatusNoContent)
		if allowed := preflight.Header.Get("Access-Control-Allow-Methods"); !strings.Contains(allowed, method) || preflight.Header.Get("Access-Control-Allow-Origin") != page {
			t.Errorf("preflight of %s %s: %v", method, path, preflight.Header)
		}
	}
	if exposed := got.Header.Get("Access-Control-Expose-Headers"); !strings.Contains(exposed, "Idempotent-Replayed") {
		t.Errorf("a page cannot recognise a replay: %q", exposed)
	}
}

// Reads of a guest's page do not use up its limit for placing orders.
func TestGuestsAskWithoutEndAndStillPlace(t *testing.T) {
	t.Parallel()
	const page, long = "https://shop.example", "0123456789abcdefghijkl"
	k := apitest.NewOrders(t, func(p *apitest.Plan) {
		p.Auth.PublicOrders.Enabled, p.Auth.PublicOrders.Origins = true, []string{page}
		p.Auth.PublicOrders.Rate = ratelimit.Rate{Count: 1, Per: 3600e9}
		p.HTTP.Rate.Validate = ratelimit.Rate{Count: 10, Per: 3600e9}
	})
	for range 10 {
		k.Get("/v1/orders?key="+long, "Origin", page).Refused(t, http.StatusNotFound, "order_not_found")
	}
	last := k.Get("/v1/orders?key="+long, "Origin", page)
	last.Refused(t, http.StatusTooManyRequests, "rate_limited")
	if last.Header.Get("Retry-After") == "" {
		t.Error("429 without Retry-After")
	}
	k.Post(apitest.OrdersPath, apitest.GuestOrder(), append(apitest.Key(long), "Origin", page)...).Is(t, http.StatusCreated)
	k.Post(apitest.OrdersPath, apitest.GuestOrder(), append(apitest.Key(long), "Origin", page)...).Refused(t, http.StatusTooManyRequests, "rate_limited")
}
