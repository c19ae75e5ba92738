package httpapi_test

import (
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/sirupsen/logrus"

	"larder/httpapi/ratelimit"
	"larder/httpapi/respond"
)

// A call that gets no slot returns 503 upstream_busy with Retry-After on both APIs. It leaves no
// record, and its key can be used again (policy O8a).
func TestUpstreamBusy_O8a(t *testing.T) {
	t.Parallel()
	const page = "https://shop.example"
	w := newFixture(t, func(p *plan) {
		p.cfg.Rate.Place = ratelimit.Rate{Count: 100, Per: time.Second}
		p.auth.PublicOrders.Enabled, p.auth.PublicOrders.Origins = true, []string{page}
	})
	shop := w.as(clientShop)
	compatOrder := strings.Replace(order(), "{", `{"restaurantID": "`+bistro+`",`, 1)
	var placed struct{ OrderID string }
	w.post(ordersPath, order(), append(key("first"), shop...)...).is(t, http.StatusCreated).into(t, &placed)
	sent := len(w.service.received())

	w.service.setBusy(true)
	changes := "/v1/orders/" + placed.OrderID
	compat := createPath + "/" + placed.OrderID
	for name, send := range map[string]func() reply{
		"create":          func() reply { return w.post(ordersPath, order(), append(key("k"), shop...)...) },
		"pay":             func() reply { return w.put(changes+"/pay", payment, shop...) },
		"complete":        func() reply { return w.put(changes+"/complete", "", shop...) },
		"reject":          func() reply { return w.put(changes+"/reject", reject, shop...) },
		"compat create":   func() reply { return w.post(createPath, compatOrder, append(key("k2"), shop...)...) },
		"compat pay":      func() reply { return w.put(compat+"/pay", payment, shop...) },
		"compat complete": func() reply { return w.put(compat+"/complete", "", shop...) },
		"compat reject":   func() reply { return w.put(compat+"/reject", reject, shop...) },
		"guest": func() reply {
			return w.post(ordersPath, guestOrder(), append(key("0123456789abcdefghijkl"), "Origin", page)...)
		},
	} {
		got := send()
		if strings.HasPrefix(name, "compat") {
			got.refusedCompat(t, http.StatusServiceUnavailable, "upstream_busy")
		} else {
			got.refused(t, http.StatusServiceUnavailable, "upstream_busy")
		}
		if got.header.Get("Retry-After") != "6" {
			t.Errorf("%s: Retry-After %q, want 5.4s, rounded up", name, got.header.Get("Retry-After"))
		}
		if got.header.Get("Idempotent-Replayed") != "" {
			t.Errorf("%s: it was replayed", name)
		}
	}
	rejected := 0
	for _, entry := range w.logs.AllEntries() {
		if entry.Data["event"] != "http.request" || entry.Data["status"] != http.StatusServiceUnavailable {
			continue
		}
		rejected++
		if entry.Level != logrus.WarnLevel || entry.Data["code"] != respond.CodeUpstreamBusy {
			t.Errorf("logged at level %v: %v, want a warning with the code", entry.Level, entry.Data)
		}
	}
	if rejected != 9 {
		t.Errorf("%d lines of rejected requests, want 9", rejected)
	}
	if requesters := w.service.requesters(); !slices.Contains(requesters, "(public) 127.0.0.1") || !slices.Contains(requesters, clientShop) {
		t.Errorf("slots were asked for by %q, want each guest by its address", requesters)
	}
	w.get("/v1/orders?key=k", shop...).refused(t, http.StatusNotFound, "order_not_found")
	w.metric(`larder_orders_total{operation="create",outcome="busy"} 3`)

	w.service.setBusy(false)
	w.post(ordersPath, order(), append(key("k"), shop...)...).is(t, http.StatusCreated)
	if got := len(w.service.received()); got != sent+1 {
		t.Errorf("%d orders reached the service, want 1", got-sent)
	}
}
