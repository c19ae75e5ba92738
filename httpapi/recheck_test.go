package httpapi_test

import (
	"encoding/json"
	"net/http"
	"strings"
	"testing"

	menusync "larder/sync"
)

// newSyncedFixture returns a fixture whose menus come from its sandbox, with a running scheduler.
func newSyncedFixture(t *testing.T) *orderFixture {
	t.Helper()
	k := newOrderFixture(t, func(p *plan) {
		main, _ := p.services["main"].(*sandboxService)
		p.unsynced = true
		p.runner = func(deps *menusync.Deps) { deps.Connections[0].Source = main.Client }
	})
	k.syncOnce(bistro)
	k.schedule()
	return k
}

// The service stops a dish that larder's menu still offers. The first guest already reads which dish it is, nothing was
// placed, and the key is free (policy O18).
func TestRefusalThatTheNewMenuExplains(t *testing.T) {
	t.Parallel()
	k := newSyncedFixture(t)
	run := k.post("/v1/ops/restaurants/"+bistro+"/sync?wait=30s", "", k.ops...) // the scheduler runs
	run.is(t, http.StatusOK)
	stop := func(stopped string) {
		t.Helper()
		do(t, http.MethodPatch, k.main.base+"/sandbox/stop-list/"+bistro, `{"p1":`+stopped+`}`, "Content-Type", "application/json").is(t, http.StatusOK)
	}
	stop("true")
	headers := append(key("first"), k.shop...)
	got := k.post(ordersPath, order(), headers...)
	problem := got.refused(t, http.StatusUnprocessableEntity, "validation_failed")
	if len(problem.Errors) != 1 || problem.Errors[0].Code != "dish_unavailable" || problem.Errors[0].Path != "/dishList/0" || !strings.Contains(problem.Msg, "nothing was placed") {
		t.Errorf("got %s", got.body)
	}
	if orders := k.main.has(); len(orders) != 0 {
		t.Errorf("the service has %+v", orders)
	}
	one := k.opsOrder(problem.Ref)
	if one.State != "refused" || len(one.Calls) != 1 || one.Calls[0].Answer == nil {
		t.Errorf("the record is %+v", one)
	}
	if again := k.post(ordersPath, order(), headers...).refused(t, http.StatusUnprocessableEntity, "validation_failed"); again.Ref != "" {
		t.Errorf("the key is not free: %+v", again)
	}
	k.get("/v1/orders?key=first", k.shop...).refused(t, http.StatusNotFound, "order_not_found")
	if metric := `larder_orders_total{operation="create",outcome="refused"} 1`; !strings.Contains(string(k.get("/metrics").body), metric) {
		t.Errorf("the metrics lack %s", metric)
	}
	var runs []struct{ By []string }
	k.get("/v1/ops/runs?restaurant="+bistro+"&limit=1", k.ops...).is(t, http.StatusOK).into(t, &runs)
	if len(runs) != 1 || len(runs[0].By) != 1 || runs[0].By[0] != "(order)" {
		t.Errorf("the last run: %+v", runs)
	}
	stop("false")
	k.post("/v1/ops/restaurants/"+bistro+"/sync?wait=30s", "", k.ops...).is(t, http.StatusOK)
	k.post(ordersPath, order(), headers...).is(t, http.StatusCreated)
}

// A refusal that the new menu does not explain stays 502, with the service's own errors. The compatible API passes the
// response on, whatever the menu has.
func TestRefusalThatTheNewMenuDoesNotExplain(t *testing.T) {
	t.Parallel()
	k := newSyncedFixture(t)
	k.post("/v1/ops/restaurants/"+bistro+"/sync?wait=30s", "", k.ops...).is(t, http.StatusOK)
	const said = `{"code":"closed","msg":"we are closed","requestId":"u","errors":["why"]}`
	text, err := json.Marshal(said)
	if err != nil {
		t.Fatal(err)
	}
	k.main.fault(http.MethodPost, `"do":"status","status":422,"body":`+string(text))
	got := k.post(ordersPath, order(), append(key("first"), k.shop...)...)
	got.refused(t, http.StatusBadGateway, "upstream_refused")
	if !strings.Contains(string(got.body), `"errors":["why"]`) {
		t.Errorf("got %s", got.body)
	}
	do(t, http.MethodPatch, k.main.base+"/sandbox/stop-list/"+bistro, `{"p1":true}`, "Content-Type", "application/json").is(t, http.StatusOK)
	k.main.fault(http.MethodPost, `"do":"status","status":422,"body":`+string(text))
	compat := k.post("/orders/api/v1/orders", with(`"restaurantID": "bistro"`), append(key("second"), k.shop...)...)
	if compat.status != http.StatusUnprocessableEntity || string(compat.body) != said {
		t.Errorf("the compatible API: %d %s", compat.status, compat.body)
	}
}
