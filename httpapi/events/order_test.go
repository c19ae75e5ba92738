package events_test

import (
	"fmt"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	"larder.local/httpapi/events"
	"larder.local/internal/testkit/apitest"
)

const (
	guestPage = "https://shop.example"
	ownKey    = "0123456789abcdefghijkl"
)

// guestsOf lets the pages of guestPage place orders.
func guestsOf(p *apitest.Plan) {
	p.Auth.PublicOrders.Enabled, p.Auth.PublicOrders.Origins = true, []string{guestPage}
}

func guestWith(k string) []string { return append(apitest.Key(k), "Origin", guestPage) }

// followOrder opens the stream of an order.
func followOrder(k *apitest.OrderFixture, headers ...string) *apitest.Stream {
	k.T.Helper()
	return apitest.OpenStream(k.T, k.URL+"/v1/orders/events", headers...)
}

// wantState waits for the next event and compares its data.
func wantState(f *apitest.Stream, format string, args ...any) {
	f.T.Helper()
	want := fmt.Sprintf(format, args...)
	if got := f.Next(); got.Name != "order.updated" || got.Data != want {
		f.T.Fatalf("got %+v, want order.updated with %s", got, want)
	}
}

// A guest follows an order with an unknown outcome until an operator has resolved it, and until the
// order is paid and closed. Several streams of an order share the reads of the journal.
func TestAGuestFollowsAnOrder(t *testing.T) {
	t.Parallel()
	k := apitest.NewOrders(t, guestsOf)
	k.Main.Fault(http.MethodPost, `"do":"execute_then_reset"`)
	ref := k.Post(apitest.OrdersPath, apitest.GuestOrder(), guestWith(ownKey)...).Refused(t, http.StatusGatewayTimeout, "order_outcome_unknown").Ref
	first, second := followOrder(k, guestWith(ownKey)...), followOrder(k, guestWith(ownKey)...)
	for name, want := range map[string]string{
		"Content-Type": "text/event-stream", "Cache-Control": "no-store", "Access-Control-Allow-Origin": guestPage,
	} {
		if got := first.Response.Header.Get(name); got != want {
			t.Errorf("%s: %q, want %q", name, got, want)
		}
	}
	all := []*apitest.Stream{first, second}
	said := func(format string, args ...any) {
		t.Helper()
		for _, f := range all {
			wantState(f, format, args...)
		}
	}
	said(`{"state":"unknown","total":210.4,"orderID":null,"paid":false}`)
	id := k.Main.Orders()[0].OrderID
	k.Post("/v1/ops/orders/"+ref+"/resolve", `{"operation":"create","outcome":"done","orderID":"`+id+`"}`, k.Ops...).Is(t, http.StatusOK)
	said(`{"state":"placed","total":210.4,"orderID":"%s","paid":false}`, id)
	k.Change(id, "pay", apitest.Payment).Is(t, http.StatusOK)
	said(`{"state":"placed","total":210.4,"orderID":"%s","paid":true}`, id)
	k.Change(id, "complete", "").Is(t, http.StatusOK)
	said(`{"state":"closed","total":210.4,"orderID":"%s","paid":true}`, id)
	for _, f := range all {
		f.Over()
	}
	k.WaitMetric(`larder_event_streams_ended_total{kind="order",reason="final"} 2`)
	last := followOrder(k, guestWith(ownKey)...)
	wantState(last, `{"state":"closed","total":210.4,"orderID":"%s","paid":true}`, id)
	last.Over()
}

// A guest sees the text of a rejection on the v1 API, and neither the listed reason, nor an operator's note, nor the text of
// another program's rejection (policy O11).
func TestAGuestSeesWhyAnOrderWasRejected(t *testing.T) {
	t.Parallel()
	const reject = `{"rejectionReasonID": "5f0c8a52-0005-4b6e-9a51-1c6f0a7d2e05", "rejectionReasonText": " The oven is broken. "}`
	for name, tc := range map[string]struct{ path, body, fault, state, want string }{
		"a text":               {path: "/v1/orders/", body: reject, state: "rejected", want: `,"reason":"The oven is broken."`},
		"a listed reason":      {path: "/v1/orders/", body: apitest.Reject, state: "rejected"},
		"the compatible API":   {path: "/orders/api/v1/orders/", body: reject, state: "rejected"},
		"an unknown rejection": {path: "/v1/orders/", body: reject, fault: `"do":"execute_then_reset"`, state: "placed", want: `,"unknownChange":"reject"`},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			k := apitest.NewOrders(t, guestsOf)
			k.Post(apitest.OrdersPath, apitest.GuestOrder(), guestWith(ownKey)...).Is(t, http.StatusCreated)
			id := k.Main.Orders()[0].OrderID
			want, status := fmt.Sprintf(`{"state":"%s","total":210.4,"orderID":"%s","paid":false%s}`, tc.state, id, tc.want), http.StatusOK
			if tc.fault != "" {
				k.Main.Fault("reject", tc.fault)
				status = http.StatusGatewayTimeout
			}
			k.Do(http.MethodPut, tc.path+id+"/reject", tc.body, append(k.Shop, "Content-Type", "application/json")...).Is(t, status)
			stream := followOrder(k, guestWith(ownKey)...)
			wantState(stream, "%s", want)
			if got := k.Get("/v1/orders", guestWith(ownKey)...).Is(t, http.StatusOK); string(got.Body) != `{"result":`+want+"}" {
				t.Errorf("got %s, want %s", got.Body, want)
			}
			if tc.fault == "" {
				return
			}
			var record struct{ Ref string }
			k.Get("/v1/orders/"+id, k.Shop...).Is(t, http.StatusOK).Into(t, &record)
			k.Post("/v1/ops/orders/"+record.Ref+"/resolve", `{"operation":"reject","outcome":"done","note":"a bad guest"}`, k.Ops...).Is(t, http.StatusOK)
			wantState(stream, `{"state":"rejected","total":210.4,"orderID":"%s","paid":false,"reason":"The oven is broken."}`, id)
		})
	}
}

// An order that an operator resolves as not placed ends its stream.
func TestAStreamEndsWithARefusedOrder(t *testing.T) {
	t.Parallel()
	k := apitest.NewOrders(t, guestsOf)
	k.Main.Fault(http.MethodPost, `"do":"reset_before"`)
	ref := k.Post(apitest.OrdersPath, apitest.GuestOrder(), guestWith(ownKey)...).Refused(t, http.StatusGatewayTimeout, "order_outcome_unknown").Ref
	f := followOrder(k, guestWith(ownKey)...)
	wantState(f, `{"state":"unknown","total":210.4,"orderID":null,"paid":false}`)
	k.Post("/v1/ops/orders/"+ref+"/resolve", `{"operation":"create","outcome":"not_done"}`, k.Ops...).Is(t, http.StatusOK)
	wantState(f, `{"state":"refused","total":210.4,"orderID":null,"paid":false}`)
	f.Over()
}

// Only the key's own client sees an order, and only with a valid key in the header.
func TestAForeignKeySeesNoOrder(t *testing.T) {
	t.Parallel()
	k := apitest.NewOrders(t, guestsOf)
	const path, shopKey = "/v1/orders/events", "the-shops-own-key-0123456789"
	k.Post(apitest.OrdersPath, apitest.GuestOrder(), guestWith(ownKey)...).Is(t, http.StatusCreated)
	p := k.Place(shopKey)
	k.Get(path, guestWith("abcdefghijklmnopqrstuv")...).Refused(t, http.StatusNotFound, "order_not_found")
	k.Get(path, guestWith(shopKey)...).Refused(t, http.StatusNotFound, "order_not_found")
	k.Get(path, slices.Concat(apitest.Key(ownKey), k.Shop)...).Refused(t, http.StatusNotFound, "order_not_found")
	k.Get(path, guestWith("short")...).Refused(t, http.StatusBadRequest, "invalid_parameter")
	k.Get(path, "Origin", guestPage).Refused(t, http.StatusBadRequest, "invalid_parameter")
	k.Get(path+"?key="+ownKey, "Origin", guestPage).Refused(t, http.StatusBadRequest, "invalid_parameter") // no key in a URL
	k.Get(path, apitest.Key(ownKey)...).Refused(t, http.StatusUnauthorized, "unauthorized")
	k.Get(path, append(apitest.Key(ownKey), "Origin", "https://evil.example")...).Refused(t, http.StatusUnauthorized, "unauthorized")
	f := followOrder(k, append(apitest.Key(shopKey), k.Shop...)...)
	wantState(f, `{"state":"placed","total":210.4,"orderID":"%s","paid":false}`, p.OrderID)
	k.WaitMetric(`larder_event_streams{kind="order"} 1`)
	f.Close()
	k.WaitMetric(`larder_event_streams{kind="order"} 0`)
}

// Streams of orders have the limits of all streams, but do not take those of an address's menus.
func TestOrderStreamsAreLimited(t *testing.T) { // policy H1
	t.Parallel()
	k := apitest.NewOrders(t, guestsOf, apitest.WithEvents(func(c *events.Config) { c.PerAddress, c.Total = 2, 4 }))
	k.Post(apitest.OrdersPath, apitest.GuestOrder(), guestWith(ownKey)...).Is(t, http.StatusCreated)
	for range 2 {
		k.Follow(apitest.Bistro).Next()
		followOrder(k, guestWith(ownKey)...).Next()
	}
	limited := k.Get("/v1/orders/events", guestWith(ownKey)...)
	limited.Refused(t, http.StatusTooManyRequests, "rate_limited")
	if limited.Header.Get("Retry-After") == "" {
		t.Error("429 without Retry-After")
	}
	many := apitest.NewOrders(t, guestsOf, apitest.WithEvents(func(c *events.Config) { c.PerAddress, c.Total = 0, 1 }))
	many.Follow(apitest.Bistro).Next()
	many.Get("/v1/orders/events", guestWith(ownKey)...).Refused(t, http.StatusServiceUnavailable, "streams_unavailable")
}

// A stream of an order ends with its token, and has heartbeats.
func TestAnOrderStreamEndsWithItsToken(t *testing.T) {
	t.Parallel()
	k := apitest.NewOrders(t, apitest.Eager)
	k.Place("k")
	token := k.As(apitest.ClientShop)
	k.Ahead(time.Hour - 2*time.Second)
	f := followOrder(k, append(apitest.Key("k"), token...)...)
	if got := f.Next(); !strings.HasPrefix(got.Data, `{"state":"placed"`) {
		t.Errorf("got %+v", got)
	}
	f.Beat()
	f.Over()
	k.WaitMetric(`larder_event_streams_ended_total{kind="order",reason="expired"} 1`)
}
