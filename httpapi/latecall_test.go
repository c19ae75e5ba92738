package httpapi_test

import (
	"context"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"larder/httpapi"
	"larder/httpapi/ratelimit"
	"larder/internal/testkit/redistest"
	"larder/ordering"
)

// hasty makes the outcome of a call unknown soon after its start, but not before a busy machine has sent it.
func hasty(p *plan) {
	p.ordering.InFlightGrace, p.ordering.PlaceTimeout = time.Millisecond, time.Second
}

// swept sweeps until the outcome of the order with the key is unknown.
func (k *orderFixture) swept(under string) shown {
	k.t.Helper()
	ctx, cancel := context.WithTimeout(k.t.Context(), 20*time.Second)
	defer cancel()
	for {
		if err := k.engine.Sweep(ctx); err != nil {
			k.t.Fatal(err)
		}
		if record := k.get("/v1/orders?key="+under, k.shop...).record(k.t); record.State == "unknown" {
			return record
		}
	}
}

// The outcome of a call without a result is unknown after its time limit, as after a crash. A
// result that arrives later replaces it (policy O12).
func TestALateEndingCounts_O12(t *testing.T) {
	t.Parallel()
	k := newOrderFixture(t, hasty)
	k.main.patient = true // only this time limit applies here
	open := k.main.shut()
	defer open()
	body := order()
	answer := k.later(body, append(key("late"), k.shop...)...)
	<-k.main.arrived
	record := k.swept("late")
	if diff := cmp.Diff([]string{"create - - unknown - -"}, record.callLines(t)); diff != "" {
		t.Errorf("swept (-want +got):\n%s", diff)
	}
	k.post(ordersPath, body, append(key("late"), k.shop...)...).refusedReplay(t, http.StatusGatewayTimeout, "order_outcome_unknown")
	open()
	first := answer().is(t, http.StatusCreated)
	same(t, first, k.post(ordersPath, body, append(key("late"), k.shop...)...))
	if record := k.get("/v1/orders?key=late", k.shop...).record(t); record.State != "placed" || record.OrderID == nil {
		t.Errorf("got %+v", record)
	}
	if metric := `larder_order_events_total{event="timed_out"} 1`; !strings.Contains(string(k.get("/metrics").body), metric) {
		t.Errorf("the metrics lack %s", metric)
	}
}

// An operator's resolution is kept if a later result contradicts it. Both are shown.
func TestAContradictionIsShown_O12(t *testing.T) {
	t.Parallel()
	k := newOrderFixture(t, hasty)
	k.main.patient = true
	open := k.main.shut()
	defer open()
	body := order()
	answer := k.later(body, append(key("late"), k.shop...)...)
	<-k.main.arrived
	ref := k.swept("late").Ref
	resolved := k.post("/v1/ops/orders/"+ref+"/resolve", `{"operation":"create","outcome":"not_done"}`, k.ops...).record(t)
	if diff := cmp.Diff([]string{"create - - unknown - -", "create - - refused - ops"}, resolved.callLines(t)); diff != "" {
		t.Errorf("resolved (-want +got):\n%s", diff)
	}
	open()
	late := answer()
	if p := late.refused(t, http.StatusBadGateway, "upstream_refused"); p.Ref != ref || !strings.Contains(p.Msg, "an operator recorded this outcome") {
		t.Errorf("got %s", late.body)
	}
	if one := k.opsOrder(ref); one.State != "refused" || one.Calls[0].Contradicted == nil || *one.Calls[0].Contradicted != "done" {
		t.Errorf("got %+v", one)
	}
	if metric := `larder_order_events_total{event="outcome_conflict"} 1`; !strings.Contains(string(k.get("/metrics").body), metric) {
		t.Errorf("the metrics lack %s", metric)
	}
}

// With a Redis that may lose data, orders are rejected, and /readyz shows the reason (policy O14).
func TestARedisThatMayForget(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		options []redistest.Option
		setting string
	}{
		"evicts":           {[]redistest.Option{redistest.AppendOnly(), redistest.Config("maxmemory-policy", "allkeys-lru")}, "ordering.allow_eviction"},
		"keeps no file":    {nil, "ordering.allow_non_durable"},
		"and all is right": {[]redistest.Option{redistest.AppendOnly()}, ""},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			server := redistest.Start(t, test.options...)
			w := newFixture(t, func(p *plan) { p.redis.URL, p.ordering.AllowNonDurable = server.URL(), false })
			journal := w.ready(http.StatusOK).Parts.Journal
			got := w.post(ordersPath, order(), append(key("k"), w.as(clientShop)...)...)
			if test.setting == "" {
				got.is(t, http.StatusCreated)
				if !journal.OK || journal.Msg != "" {
					t.Errorf("readyz: %+v", journal)
				}
				return
			}
			refused := got.refused(t, http.StatusServiceUnavailable, "journal_unavailable")
			if strings.Contains(string(got.body), "ordering.") || got.header.Get("Retry-After") != "60" {
				t.Errorf("got %s, Retry-After %q; want a text for clients, 60", refused.Msg, got.header.Get("Retry-After"))
			}
			if journal.OK || !strings.Contains(journal.Msg, test.setting) {
				t.Errorf("readyz: %+v, want %q", journal, test.setting)
			}
			if sent := w.service.received(); len(sent) != 0 {
				t.Error("an order was sent")
			}
		})
	}
}

// Changes of orders have their own rate limit.
func TestChangesAreLimited(t *testing.T) {
	t.Parallel()
	k := newOrderFixture(t, func(p *plan) { p.cfg.Rate.Place = ratelimit.Rate{Count: 2, Per: time.Hour} })
	p := k.place("k")
	k.change(p.OrderID, "pay", payment).is(t, http.StatusOK)
	k.change(p.OrderID, "complete", "").is(t, http.StatusOK)
	last := k.change(p.OrderID, "complete", "")
	if last.refused(t, http.StatusTooManyRequests, "rate_limited"); last.header.Get("Retry-After") == "" {
		t.Error("429 without Retry-After")
	}
	k.place("another")
}

// Orders without a key are all different orders, if orders without a key are allowed.
func TestOrdersWithoutAKey(t *testing.T) {
	t.Parallel()
	k := newOrderFixture(t, func(p *plan) { p.ordering.AllowMissingKey = true })
	for range 2 {
		k.post(ordersPath, order(), k.shop...).is(t, http.StatusCreated)
	}
	k.post(ordersPath, order(), append(key(""), k.shop...)...).refused(t, http.StatusBadRequest, "idempotency_key_required")
	if orders := k.main.has(); len(orders) != 2 {
		t.Errorf("the service has %d orders, want 2", len(orders))
	}
}

var _ httpapi.Orders = (*ordering.Orders)(nil)
