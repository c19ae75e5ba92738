package orders_test

import (
	"encoding/json"
	"net/http"
	"strings"
	"testing"

	"larder.local/internal/testkit/apitest"
	menusync "larder.local/sync"
)

// newSyncedFixture returns a fixture whose menus come from its sandbox, with a running scheduler.
func newSyncedFixture(t *testing.T) *apitest.OrderFixture {
	t.Helper()
	k := apitest.NewOrders(t, func(p *apitest.Plan) {
		main, _ := p.Services["main"].(*apitest.Sandbox)
		p.Unsynced = true
		p.Sync = func(deps *menusync.Deps) { deps.Connections[0].Source = main.Client }
	})
	k.SyncOnce(apitest.Bistro)
	k.Schedule()
	return k
}

// The service stops a dish that larder's menu still offers. The first guest already reads which dish it is, nothing was
// placed, and the key is free (policy O18).
func TestRefusalThatTheNewMenuExplains(t *testing.T) {
	t.Parallel()
	k := newSyncedFixture(t)
	run := k.Post("/v1/ops/restaurants/"+apitest.Bistro+"/sync?wait=30s", "", k.Ops...) // the scheduler runs
	run.Is(t, http.StatusOK)
	stop := func(stopped string) {
		t.Helper()
		apitest.Do(t, http.MethodPatch, k.Main.Base+"/sandbox/stop-list/"+apitest.Bistro, `{"p1":`+stopped+`}`, "Content-Type", "application/json").Is(t, http.StatusOK)
	}
	stop("true")
	headers := append(apitest.Key("first"), k.Shop...)
	got := k.Post(apitest.OrdersPath, apitest.Order(), headers...)
	problem := got.Refused(t, http.StatusUnprocessableEntity, "validation_failed")
	if len(problem.Errors) != 1 || problem.Errors[0].Code != "dish_unavailable" || problem.Errors[0].Path != "/dishList/0" || !strings.Contains(problem.Msg, "nothing was placed") {
		t.Errorf("got %s", got.Body)
	}
	if orders := k.Main.Orders(); len(orders) != 0 {
		t.Errorf("the service has %+v", orders)
	}
	one := opsOrderOf(k, problem.Ref)
	if one.State != "refused" || len(one.Calls) != 1 || one.Calls[0].Answer == nil {
		t.Errorf("the record is %+v", one)
	}
	if again := k.Post(apitest.OrdersPath, apitest.Order(), headers...).Refused(t, http.StatusUnprocessableEntity, "validation_failed"); again.Ref != "" {
		t.Errorf("the key is not free: %+v", again)
	}
	k.Get("/v1/orders?key=first", k.Shop...).Refused(t, http.StatusNotFound, "order_not_found")
	if metric := `larder_orders_total{operation="create",outcome="refused"} 1`; !strings.Contains(string(k.Get("/metrics").Body), metric) {
		t.Errorf("the metrics lack %s", metric)
	}
	var runs []struct{ By []string }
	k.Get("/v1/ops/runs?restaurant="+apitest.Bistro+"&limit=1", k.Ops...).Is(t, http.StatusOK).Into(t, &runs)
	if len(runs) != 1 || len(runs[0].By) != 1 || runs[0].By[0] != "(order)" {
		t.Errorf("the last run: %+v", runs)
	}
	stop("false")
	k.Post("/v1/ops/restaurants/"+apitest.Bistro+"/sync?wait=30s", "", k.Ops...).Is(t, http.StatusOK)
	k.Post(apitest.OrdersPath, apitest.Order(), headers...).Is(t, http.StatusCreated)
}

// A refusal that the new menu does not explain stays 502, with the service's own errors. The compatible API passes the
// response on, whatever the menu has.
func TestRefusalThatTheNewMenuDoesNotExplain(t *testing.T) {
	t.Parallel()
	k := newSyncedFixture(t)
	k.Post("/v1/ops/restaurants/"+apitest.Bistro+"/sync?wait=30s", "", k.Ops...).Is(t, http.StatusOK)
	const said = `{"code":"closed","msg":"we are closed","requestId":"u","errors":["why"]}`
	text, err := json.Marshal(said)
	if err != nil {
		t.Fatal(err)
	}
	k.Main.Fault(http.MethodPost, `"do":"status","status":422,"body":`+string(text))
	got := k.Post(apitest.OrdersPath, apitest.Order(), append(apitest.Key("first"), k.Shop...)...)
	got.Refused(t, http.StatusBadGateway, "upstream_refused")
	if !strings.Contains(string(got.Body), `"errors":["why"]`) {
		t.Errorf("got %s", got.Body)
	}
	apitest.Do(t, http.MethodPatch, k.Main.Base+"/sandbox/stop-list/"+apitest.Bistro, `{"p1":true}`, "Content-Type", "application/json").Is(t, http.StatusOK)
	k.Main.Fault(http.MethodPost, `"do":"status","status":422,"body":`+string(text))
	compat := k.Post("/orders/api/v1/orders", apitest.POSOrderWith(`"restaurantID": "bistro"`), append(apitest.Key("second"), k.Shop...)...)
	if compat.Status != http.StatusUnprocessableEntity || string(compat.Body) != said {
		t.Errorf("the compatible API: %d %s", compat.Status, compat.Body)
	}
}
