package httpapi_test

import (
	"fmt"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	"larder/httpapi/events"
)

const (
	guestPage = "https://shop.example"
	ownKey    = "0123456789abcdefghijkl"
)

// guestsOf lets the pages of guestPage place orders.
func guestsOf(p *plan) {
	p.auth.PublicOrders.Enabled, p.auth.PublicOrders.Origins = true, []string{guestPage}
}

func guestWith(k string) []string { return append(key(k), "Origin", guestPage) }

// followOrder opens the stream of an order.
func (k *orderFixture) followOrder(headers ...string) *feed {
	k.t.Helper()
	return openFeed(k.t, k.url+"/v1/orders/events", headers...)
}

// says waits for the next event and compares its data.
func (f *feed) says(format string, args ...any) {
	f.t.Helper()
	want := fmt.Sprintf(format, args...)
	if got := f.next(); got.name != "order.updated" || got.data != want {
		f.t.Fatalf("got %+v, want order.updated with %s", got, want)
	}
}

// A guest follows an order with an unknown outcome until an operator has resolved it, and until the
// order is paid and closed. Several streams of an order share the reads of the journal.
func TestAGuestFollowsAnOrder(t *testing.T) {
	t.Parallel()
	k := newOrderFixture(t, guestsOf)
	k.main.fault(http.MethodPost, `"do":"execute_then_reset"`)
	ref := k.post(ordersPath, guestOrder(), guestWith(ownKey)...).refused(t, http.StatusGatewayTimeout, "order_outcome_unknown").Ref
	first, second := k.followOrder(guestWith(ownKey)...), k.followOrder(guestWith(ownKey)...)
	for name, want := range map[string]string{
		"Content-Type": "text/event-stream", "Cache-Control": "no-store", "Access-Control-Allow-Origin": guestPage,
	} {
		if got := first.response.Header.Get(name); got != want {
			t.Errorf("%s: %q, want %q", name, got, want)
		}
	}
	all := []*feed{first, second}
	said := func(format string, args ...any) {
		t.Helper()
		for _, f := range all {
			f.says(format, args...)
		}
	}
	said(`{"state":"unknown","total":210.4,"orderID":null,"paid":false}`)
	id := k.main.has()[0].OrderID
	k.post("/v1/ops/orders/"+ref+"/resolve", `{"operation":"create","outcome":"done","orderID":"`+id+`"}`, k.ops...).is(t, http.StatusOK)
	said(`{"state":"placed","total":210.4,"orderID":"%s","paid":false}`, id)
	k.change(id, "pay", payment).is(t, http.StatusOK)
	said(`{"state":"placed","total":210.4,"orderID":"%s","paid":true}`, id)
	k.change(id, "complete", "").is(t, http.StatusOK)
	said(`{"state":"closed","total":210.4,"orderID":"%s","paid":true}`, id)
	for _, f := range all {
		f.over()
	}
	k.metric(`larder_event_streams_ended_total{kind="order",reason="final"} 2`)
	last := k.followOrder(guestWith(ownKey)...)
	last.says(`{"state":"closed","total":210.4,"orderID":"%s","paid":true}`, id)
	last.over()
}

// An order that an operator resolves as not placed ends its stream.
func TestAStreamEndsWithARefusedOrder(t *testing.T) {
	t.Parallel()
	k := newOrderFixture(t, guestsOf)
	k.main.fault(http.MethodPost, `"do":"reset_before"`)
	ref := k.post(ordersPath, guestOrder(), guestWith(ownKey)...).refused(t, http.StatusGatewayTimeout, "order_outcome_unknown").Ref
	f := k.followOrder(guestWith(ownKey)...)
	f.says(`{"state":"unknown","total":210.4,"orderID":null,"paid":false}`)
	k.post("/v1/ops/orders/"+ref+"/resolve", `{"operation":"create","outcome":"not_done"}`, k.ops...).is(t, http.StatusOK)
	f.says(`{"state":"refused","total":210.4,"orderID":null,"paid":false}`)
	f.over()
}

// Only the key's own client sees an order, and only with a valid key in the header.
func TestAForeignKeySeesNoOrder(t *testing.T) {
	t.Parallel()
	k := newOrderFixture(t, guestsOf)
	const path, shopKey = "/v1/orders/events", "the-shops-own-key-0123456789"
	k.post(ordersPath, guestOrder(), guestWith(ownKey)...).is(t, http.StatusCreated)
	p := k.place(shopKey)
	k.get(path, guestWith("abcdefghijklmnopqrstuv")...).refused(t, http.StatusNotFound, "order_not_found")
	k.get(path, guestWith(shopKey)...).refused(t, http.StatusNotFound, "order_not_found")
	k.get(path, slices.Concat(key(ownKey), k.shop)...).refused(t, http.StatusNotFound, "order_not_found")
	k.get(path, guestWith("short")...).refused(t, http.StatusBadRequest, "invalid_parameter")
	k.get(path, "Origin", guestPage).refused(t, http.StatusBadRequest, "invalid_parameter")
	k.get(path+"?key="+ownKey, "Origin", guestPage).refused(t, http.StatusBadRequest, "invalid_parameter") // no key in a URL
	k.get(path, key(ownKey)...).refused(t, http.StatusUnauthorized, "unauthorized")
	k.get(path, append(key(ownKey), "Origin", "https://evil.example")...).refused(t, http.StatusUnauthorized, "unauthorized")
	f := k.followOrder(append(key(shopKey), k.shop...)...)
	f.says(`{"state":"placed","total":210.4,"orderID":"%s","paid":false}`, p.OrderID)
	k.metric(`larder_event_streams{kind="order"} 1`)
	f.close()
	k.metric(`larder_event_streams{kind="order"} 0`)
}

// Streams of orders have the limits of all streams, but do not take those of an address's menus.
func TestOrderStreamsAreLimited(t *testing.T) { // policy H1
	t.Parallel()
	k := newOrderFixture(t, guestsOf, withEvents(func(c *events.Config) { c.PerAddress, c.Total = 2, 4 }))
	k.post(ordersPath, guestOrder(), guestWith(ownKey)...).is(t, http.StatusCreated)
	for range 2 {
		k.follow(bistro).next()
		k.followOrder(guestWith(ownKey)...).next()
	}
	limited := k.get("/v1/orders/events", guestWith(ownKey)...)
	limited.refused(t, http.StatusTooManyRequests, "rate_limited")
	if limited.header.Get("Retry-After") == "" {
		t.Error("429 without Retry-After")
	}
	many := newOrderFixture(t, guestsOf, withEvents(func(c *events.Config) { c.PerAddress, c.Total = 0, 1 }))
	many.follow(bistro).next()
	many.get("/v1/orders/events", guestWith(ownKey)...).refused(t, http.StatusServiceUnavailable, "streams_unavailable")
}

// A stream of an order ends with its token, and has heartbeats.
func TestAnOrderStreamEndsWithItsToken(t *testing.T) {
	t.Parallel()
	k := newOrderFixture(t, eager)
	k.place("k")
	token := k.as(clientShop)
	k.ahead(time.Hour - 2*time.Second)
	f := k.followOrder(append(key("k"), token...)...)
	if got := f.next(); !strings.HasPrefix(got.data, `{"state":"placed"`) {
		t.Errorf("got %+v", got)
	}
	f.beat()
	f.over()
	k.metric(`larder_event_streams_ended_total{kind="order",reason="expired"} 1`)
}
