package httpapi_test

import (
	"bytes"
	"encoding/json"
	"net/http"
	"strconv"
	"testing"
	"time"

	"larder/httpapi"
	"larder/internal/sandbox"
	"larder/internal/testkit/menutest"
	"larder/internal/upstream"
)

// The complete path with a real ordering service in one process: its menu is synced and served,
// both sides check its orders with the same result, and its faults are recognized.
func TestAgainstTheSandbox(t *testing.T) {
	t.Parallel()
	service := sandbox.New(sandbox.Config{})
	t.Cleanup(service.Close)
	base := serve(t, service.Handler())
	raw := sandbox.Bistro(bistro, "")
	service.SetMenu(bistro, raw)
	cfg := upstream.Config{
		Name:         "main",
		BaseURL:      base,
		AuthURL:      base,
		ClientID:     "demo",
		ClientSecret: "demo-secret",
	}
	cfg.SetDefaults()
	client, err := upstream.New(cfg, upstream.Deps{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(client.Close)
	w := newFixture(t, func(p *plan) { p.cfg.Rate, p.unsynced = httpapi.RateConfig{}, true })
	pulled, err := client.MenuView(t.Context(), bistro, upstream.Validator{}, 0)
	if err != nil {
		t.Fatal(err)
	}
	w.service.setMenu(bistro, string(pulled.Body))
	w.syncOnce(bistro)
	w.service.answerCreate(func(body []byte) (upstream.Created, error) { return client.CreateOrder(t.Context(), body) })

	orders, err := menutest.NewOrderGenerator(raw, bistro, 1)
	if err != nil {
		t.Fatal(err)
	}
	shop := w.as(clientShop)
	for i := range 30 {
		body := orders.Next(menutest.OrderOptions{
			Lines:       1 + i%4,
			Delivery:    i%2 == 0,
			ExternalIDs: i%3 == 0,
			ExpectedAt:  time.Now().Add(time.Hour),
		})
		var result struct {
			Valid bool
			Total json.Number
		}
		checked := w.post(validatePath, string(body), shop...).is(t, http.StatusOK)
		checked.into(t, &result)
		if !result.Valid {
			t.Fatalf("order %d: %s\n%s", i, body, checked.body)
		}
		got := w.post(ordersPath, string(body), append(key(strconv.Itoa(i)), shop...)...).is(t, http.StatusCreated)
		var placed struct {
			OrderID string
			Total   json.Number
		}
		got.into(t, &placed)
		var kept struct{ Total json.Number }
		do(t, http.MethodGet, base+"/sandbox/orders/"+placed.OrderID, "").is(t, http.StatusOK).into(t, &kept)
		if placed.Total != result.Total || placed.Total != kept.Total {
			t.Errorf("order %d: total %s when checked, %s when placed, %s at the service", i, result.Total, placed.Total, kept.Total)
		}
	}

	fault := func(do string) string {
		return `[{"match":{"method":"POST","path":"/orders/api/v1/orders"},"times":1,` + do + `}]`
	}
	for name, test := range map[string]struct {
		faults string
		status int
		code   string
	}{
		"refused":         {fault(`"do":"status","status":422,"body":"{\"code\":\"closed\",\"msg\":\"we are closed\",\"requestId\":\"u\",\"errors\":null}"`), 502, "upstream_refused"},
		"reset after":     {fault(`"do":"execute_then_reset"`), 504, "order_outcome_unknown"},
		"an HTML 500":     {fault(`"do":"html","status":500`), 504, "order_outcome_unknown"},
		"half an answer":  {fault(`"do":"truncate","after":5`), 504, "order_outcome_unknown"},
		"garbage for 201": {fault(`"do":"garbage"`), 504, "order_outcome_unknown"},
	} {
		do(t, http.MethodPut, base+"/sandbox/faults", test.faults, "Content-Type", "application/json").is(t, http.StatusOK)
		got := w.post(ordersPath, string(orders.Next(menutest.OrderOptions{})), append(key(name), shop...)...)
		if problem := got.refused(t, test.status, test.code); len(problem.Ref) != 26 {
			t.Errorf("%s: ref %q", name, problem.Ref)
		}
		if test.status == 502 && !bytes.Contains(got.body, []byte("we are closed")) {
			t.Errorf("%s: the service's words are not inside: %s", name, got.body)
		}
	}
}
