package e2e_test

import (
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/sirupsen/logrus"

	"larder.local/httpapi/ratelimit"
	"larder.local/httpapi/respond"
	"larder.local/internal/testkit/apitest"
)

// A call that gets no slot returns 503 upstream_busy with Retry-After on both APIs. It leaves no
// record, and its key can be used again (policy O8a).
func TestUpstreamBusy_O8a(t *testing.T) {
	t.Parallel()
	const page = "https://shop.example"
	w := apitest.New(t, func(p *apitest.Plan) {
		p.HTTP.Rate.Place = ratelimit.Rate{Count: 100, Per: time.Second}
		p.Auth.PublicOrders.Enabled, p.Auth.PublicOrders.Origins = true, []string{page}
	})
	shop := w.As(apitest.ClientShop)
	compatOrder := strings.Replace(apitest.Order(), "{", `{"restaurantID": "`+apitest.Bistro+`",`, 1)
	var placed struct{ OrderID string }
	w.Post(apitest.OrdersPath, apitest.Order(), append(apitest.Key("first"), shop...)...).Is(t, http.StatusCreated).Into(t, &placed)
	sent := len(w.Service.Received())

	w.Service.SetBusy(true)
	changes := "/v1/orders/" + placed.OrderID
	compat := apitest.CreatePath + "/" + placed.OrderID
	for name, send := range map[string]func() apitest.Reply{
		"create": func() apitest.Reply {
			return w.Post(apitest.OrdersPath, apitest.Order(), append(apitest.Key("k"), shop...)...)
		},
		"pay":      func() apitest.Reply { return w.Put(changes+"/pay", apitest.Payment, shop...) },
		"complete": func() apitest.Reply { return w.Put(changes+"/complete", "", shop...) },
		"reject":   func() apitest.Reply { return w.Put(changes+"/reject", apitest.Reject, shop...) },
		"compat create": func() apitest.Reply {
			return w.Post(apitest.CreatePath, compatOrder, append(apitest.Key("k2"), shop...)...)
		},
		"compat pay":      func() apitest.Reply { return w.Put(compat+"/pay", apitest.Payment, shop...) },
		"compat complete": func() apitest.Reply { return w.Put(compat+"/complete", "", shop...) },
		"compat reject":   func() apitest.Reply { return w.Put(compat+"/reject", apitest.Reject, shop...) },
		"guest": func() apitest.Reply {
			return w.Post(apitest.OrdersPath, apitest.GuestOrder(), append(apitest.Key("0123456789abcdefghijkl"), "Origin", page)...)
		},
	} {
		got := send()
		if strings.HasPrefix(name, "compat") {
			got.RefusedCompat(t, http.StatusServiceUnavailable, "upstream_busy")
		} else {
			got.Refused(t, http.StatusServiceUnavailable, "upstream_busy")
		}
		if got.Header.Get("Retry-After") != "6" {
			t.Errorf("%s: Retry-After %q, want 5.4s, rounded up", name, got.Header.Get("Retry-After"))
		}
		if got.Header.Get("Idempotent-Replayed") != "" {
			t.Errorf("%s: it was replayed", name)
		}
	}
	rejected := 0
	for _, entry := range w.Logs.AllEntries() {
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
	if requesters := w.Service.Requesters(); !slices.Contains(requesters, "(public) 127.0.0.1") || !slices.Contains(requesters, apitest.ClientShop) {
		t.Errorf("slots were asked for by %q, want each guest by its address", requesters)
	}
	w.Get("/v1/orders?key=k", shop...).Refused(t, http.StatusNotFound, "order_not_found")
	w.WaitMetric(`larder_orders_total{operation="create",outcome="busy"} 3`)

	w.Service.SetBusy(false)
	w.Post(apitest.OrdersPath, apitest.Order(), append(apitest.Key("k"), shop...)...).Is(t, http.StatusCreated)
	if got := len(w.Service.Received()); got != sent+1 {
		t.Errorf("%d orders reached the service, want 1", got-sent)
	}
}
