package orders_test

import (
	"context"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"larder.local/httpapi"
	"larder.local/httpapi/ratelimit"
	"larder.local/internal/testkit/apitest"
	"larder.local/internal/testkit/redistest"
	"larder.local/ordering"
)

// hasty makes the outcome of a call unknown soon after its start, but not before a busy machine has sent it.
func hasty(p *apitest.Plan) {
	p.Ordering.InFlightGrace, p.Ordering.PlaceTimeout = time.Millisecond, time.Second
}

// swept sweeps until the outcome of the order with the key is unknown.
func swept(k *apitest.OrderFixture, under string) shown {
	k.T.Helper()
	ctx, cancel := context.WithTimeout(k.T.Context(), 20*time.Second)
	defer cancel()
	for {
		if err := k.Engine.Sweep(ctx); err != nil {
			k.T.Fatal(err)
		}
		if record := recordOf(k.T, k.Get("/v1/orders?key="+under, k.Shop...)); record.State == "unknown" {
			return record
		}
	}
}

// The outcome of a call without a result is unknown after its time limit, as after a crash. A
// result that arrives later replaces it (policy O12).
func TestALateEndingCounts_O12(t *testing.T) {
	t.Parallel()
	k := apitest.NewOrders(t, hasty)
	k.Main.Patient = true // only this time limit applies here
	open := k.Main.Shut()
	defer open()
	body := apitest.Order()
	answer := k.Later(body, append(apitest.Key("late"), k.Shop...)...)
	<-k.Main.Arrived
	record := swept(k, "late")
	if diff := cmp.Diff([]string{"create - - unknown - -"}, record.callLines(t)); diff != "" {
		t.Errorf("swept (-want +got):\n%s", diff)
	}
	k.Post(apitest.OrdersPath, body, append(apitest.Key("late"), k.Shop...)...).RefusedReplay(t, http.StatusGatewayTimeout, "order_outcome_unknown")
	open()
	first := answer().Is(t, http.StatusCreated)
	apitest.SameReplay(t, first, k.Post(apitest.OrdersPath, body, append(apitest.Key("late"), k.Shop...)...))
	if record := recordOf(t, k.Get("/v1/orders?key=late", k.Shop...)); record.State != "placed" || record.OrderID == nil {
		t.Errorf("got %+v", record)
	}
	if metric := `larder_order_events_total{event="timed_out"} 1`; !strings.Contains(string(k.Get("/metrics").Body), metric) {
		t.Errorf("the metrics lack %s", metric)
	}
}

// An operator's resolution is kept if a later result contradicts it. Both are shown.
func TestAContradictionIsShown_O12(t *testing.T) {
	t.Parallel()
	k := apitest.NewOrders(t, hasty)
	k.Main.Patient = true
	open := k.Main.Shut()
	defer open()
	body := apitest.Order()
	answer := k.Later(body, append(apitest.Key("late"), k.Shop...)...)
	<-k.Main.Arrived
	ref := swept(k, "late").Ref
	resolved := recordOf(t, k.Post("/v1/ops/orders/"+ref+"/resolve", `{"operation":"create","outcome":"not_done"}`, k.Ops...))
	if diff := cmp.Diff([]string{"create - - unknown - -", "create - - refused - ops"}, resolved.callLines(t)); diff != "" {
		t.Errorf("resolved (-want +got):\n%s", diff)
	}
	open()
	late := answer()
	p := late.Refused(t, http.StatusGatewayTimeout, "order_outcome_unknown")
	if p.Ref != ref || !strings.Contains(p.Msg, "the ordering service has confirmed it since") {
		t.Errorf("got %s", late.Body)
	}
	k.Post(apitest.OrdersPath, body, append(apitest.Key("late"), k.Shop...)...).RefusedReplay(t, http.StatusGatewayTimeout, "order_outcome_unknown")
	if one := opsOrderOf(k, ref); one.State != "refused" || one.Calls[0].Contradicted == nil || *one.Calls[0].Contradicted != "done" {
		t.Errorf("got %+v", one)
	} else if found := one.Calls[0].FoundOrderID; found == nil || *found != k.Main.Orders()[0].OrderID {
		t.Errorf("found order %v, want that of the service", found)
	}
	if metric := `larder_order_events_total{event="outcome_conflict"} 1`; !strings.Contains(string(k.Get("/metrics").Body), metric) {
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
			w := apitest.New(t, func(p *apitest.Plan) { p.Redis.URL, p.Ordering.AllowNonDurable = server.URL(), false })
			journal := w.Ready(http.StatusOK).Parts.Journal
			got := w.Post(apitest.OrdersPath, apitest.Order(), append(apitest.Key("k"), w.As(apitest.ClientShop)...)...)
			if test.setting == "" {
				got.Is(t, http.StatusCreated)
				if !journal.OK || journal.Msg != "" {
					t.Errorf("readyz: %+v", journal)
				}
				return
			}
			refused := got.Refused(t, http.StatusServiceUnavailable, "journal_unavailable")
			if strings.Contains(string(got.Body), "ordering.") || got.Header.Get("Retry-After") != "60" {
				t.Errorf("got %s, Retry-After %q; want a text for clients, 60", refused.Msg, got.Header.Get("Retry-After"))
			}
			if journal.OK || !strings.Contains(journal.Msg, test.setting) {
				t.Errorf("readyz: %+v, want %q", journal, test.setting)
			}
			if sent := w.Service.Received(); len(sent) != 0 {
				t.Error("an order was sent")
			}
		})
	}
}

// Changes of orders have their own rate limit.
func TestChangesAreLimited(t *testing.T) {
	t.Parallel()
	k := apitest.NewOrders(t, func(p *apitest.Plan) { p.HTTP.Rate.Place = ratelimit.Rate{Count: 2, Per: time.Hour} })
	p := k.Place("k")
	k.Change(p.OrderID, "pay", apitest.Payment).Is(t, http.StatusOK)
	k.Change(p.OrderID, "complete", "").Is(t, http.StatusOK)
	last := k.Change(p.OrderID, "complete", "")
	if last.Refused(t, http.StatusTooManyRequests, "rate_limited"); last.Header.Get("Retry-After") == "" {
		t.Error("429 without Retry-After")
	}
	k.Place("another")
}

// Orders without a key are all different orders, if orders without a key are allowed.
func TestOrdersWithoutAKey(t *testing.T) {
	t.Parallel()
	k := apitest.NewOrders(t, func(p *apitest.Plan) { p.Ordering.AllowMissingKey = true })
	for range 2 {
		k.Post(apitest.OrdersPath, apitest.Order(), k.Shop...).Is(t, http.StatusCreated)
	}
	k.Post(apitest.OrdersPath, apitest.Order(), append(apitest.Key(""), k.Shop...)...).Refused(t, http.StatusBadRequest, "idempotency_key_required")
	if orders := k.Main.Orders(); len(orders) != 2 {
		t.Errorf("the service has %d orders, want 2", len(orders))
	}
}

var _ httpapi.Orders = (*ordering.Orders)(nil)
