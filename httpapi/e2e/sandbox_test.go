package e2e_test

import (
	"bytes"
	"encoding/json"
	"net/http"
	"strconv"
	"testing"
	"time"

	"larder.local/httpapi"
	"larder.local/internal/sandbox"
	"larder.local/internal/testkit/apitest"
	"larder.local/internal/testkit/menutest"
	"larder.local/internal/upstream"
)

// The complete path with a real ordering service in one process: its menu is synced and served,
// both sides check its orders with the same result, and its faults are recognized.
func TestAgainstTheSandbox(t *testing.T) {
	t.Parallel()
	service := sandbox.New(sandbox.Config{})
	t.Cleanup(service.Close)
	base := apitest.Serve(t, service.Handler())
	raw := sandbox.Bistro(apitest.Bistro, "")
	service.SetMenu(apitest.Bistro, raw)
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
	w := apitest.New(t, func(p *apitest.Plan) { p.HTTP.Rate, p.Unsynced = httpapi.RateConfig{}, true })
	pulled, err := client.MenuView(t.Context(), apitest.Bistro, upstream.Validator{}, 0)
	if err != nil {
		t.Fatal(err)
	}
	w.Service.SetMenu(apitest.Bistro, string(pulled.Body))
	w.SyncOnce(apitest.Bistro)
	w.Service.AnswerCreate(func(body []byte) (upstream.Answer, error) { return apitest.Create(t.Context(), client, body) })

	orders, err := menutest.NewOrderGenerator(raw, apitest.Bistro, 1)
	if err != nil {
		t.Fatal(err)
	}
	shop := w.As(apitest.ClientShop)
	for i := range 30 {
		body := orders.Next(menutest.OrderOptions{
			Lines:       1 + i%4,
			Delivery:    i%2 == 0,
			ExternalIDs: i%3 == 0,
			ExpectedAt:  time.Now().Add(2 * time.Hour),
		})
		var result struct {
			Valid bool
			Total json.Number
		}
		checked := w.Post(apitest.ValidatePath, string(body), shop...).Is(t, http.StatusOK)
		checked.Into(t, &result)
		if !result.Valid {
			t.Fatalf("order %d: %s\n%s", i, body, checked.Body)
		}
		got := w.Post(apitest.OrdersPath, string(body), append(apitest.Key(strconv.Itoa(i)), shop...)...).Is(t, http.StatusCreated)
		var placed struct {
			OrderID string
			Total   json.Number
		}
		got.Into(t, &placed)
		var kept struct{ Total json.Number }
		apitest.Do(t, http.MethodGet, base+"/sandbox/orders/"+placed.OrderID, "").Is(t, http.StatusOK).Into(t, &kept)
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
		apitest.Do(t, http.MethodPut, base+"/sandbox/faults", test.faults, "Content-Type", "application/json").Is(t, http.StatusOK)
		got := w.Post(apitest.OrdersPath, string(orders.Next(menutest.OrderOptions{})), append(apitest.Key(name), shop...)...)
		if problem := got.Refused(t, test.status, test.code); len(problem.Ref) != 26 {
			t.Errorf("%s: ref %q", name, problem.Ref)
		}
		if test.status == 502 && !bytes.Contains(got.Body, []byte("we are closed")) {
			t.Errorf("%s: the service's words are not inside: %s", name, got.Body)
		}
	}
}
