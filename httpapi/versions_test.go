package httpapi_test

import (
	"encoding/json"
	"net/http"
	"strings"
	"testing"
	"time"

	"larder/cache"
	"larder/internal/menu"
	"larder/internal/sandbox"
	"larder/internal/testkit/redistest"
	"larder/internal/upstream"
	menusync "larder/sync"
	"larder/sync/runlog"
)

const (
	opsBistro    = "/v1/ops/restaurants/" + bistro
	versionsPath = opsBistro + "/versions"
	rollbackPath = opsBistro + "/rollback"
	holdPath     = opsBistro + "/hold"
)

type versionRow struct {
	Version       int64
	Name, Content string
	SyncedAt      time.Time
	Counts        menu.Counts
	Bytes         int
	Current, Held bool
	Hold          *string
}

// versions returns the version list.
func (w *fixture) versions(query string) (rows []versionRow, next *string) {
	w.t.Helper()
	got := w.get(versionsPath+query, w.as(clientOps)...).is(w.t, http.StatusOK)
	var page struct {
		Result []versionRow
		Next   *string
	}
	if err := json.Unmarshal(got.body, &page); err != nil {
		w.t.Fatal(err)
	}
	return page.Result, page.Next
}

// kitchenMenu returns the menu of the bistro with another price and stop list.
func kitchenMenu(price, stop string) string {
	raw := strings.Replace(fullMenu, "199.90", price, 1)
	return strings.Replace(raw, `"name": "Twin A", "price": 10}`, `"name": "Twin A", "price": 10, "isContainInStopList": `+stop+`}`, 1)
}

// publishes publishes the ordering service's next menu and syncs it.
func (w *fixture) publishes(raw string) {
	w.t.Helper()
	w.service.setMenu(bistro, raw)
	if run := w.syncOnce(bistro); run.Outcome != runlog.OutcomeUpdated {
		w.t.Fatalf("synced: %s %s, want updated", run.Outcome, run.Error)
	}
}

// price returns the price of p1 in the storefront's menu, and whether p3 is available.
func (w *fixture) price() (string, bool) {
	w.t.Helper()
	var product struct {
		Price     json.Number
		Available bool
	}
	w.get("/v1/restaurants/"+bistro+"/products/p3").is(w.t, http.StatusOK).into(w.t, &product)
	available := product.Available
	w.get("/v1/restaurants/"+bistro+"/products/p1").is(w.t, http.StatusOK).into(w.t, &product)
	return product.Price.String(), available
}

func TestVersionsAreListed(t *testing.T) {
	t.Parallel()
	w := newFixture(t)
	w.publishes(kitchenMenu("200", "[]"))
	w.publishes(kitchenMenu("200", "true")) // in place of version 2
	rows, next := w.versions("")
	if len(rows) != 2 || next != nil || rows[0].Version != 3 || rows[1].Version != 1 || !rows[0].Current || rows[1].Current {
		t.Fatalf("got %+v", rows)
	}
	if row := rows[0]; row.Held || row.Hold != nil || row.Counts != (menu.Counts{
		Categories: 2,
		Products:   5,
		Available:  3,
		Orderable:  3,
	}) ||
		row.Bytes < 500 || row.Content == rows[1].Content || row.Name != "The bistro" || time.Since(row.SyncedAt) > time.Minute {
		t.Errorf("got %+v", row)
	}
	first, next := w.versions("?limit=1")
	if len(first) != 1 || next == nil {
		t.Fatalf("first page %+v", first)
	}
	if second, end := w.versions("?limit=1&cursor=" + *next); len(second) != 1 || second[0].Version != 1 || end != nil {
		t.Errorf("second page %+v", second)
	}
	ops := w.as(clientOps)
	for query, code := range map[string]string{"?limit=0": "invalid_parameter", "?cursor=x": "invalid_parameter", "?cursor=eA": "invalid_parameter"} {
		w.get(versionsPath+query, ops...).refused(t, http.StatusBadRequest, code)
	}
	w.get("/v1/ops/restaurants/"+empty+"/versions", ops...).refused(t, http.StatusServiceUnavailable, "no_catalogue")
	w.get("/v1/ops/restaurants/@main/versions", ops...).refused(t, http.StatusServiceUnavailable, "no_catalogue") // never synced
	for _, path := range []string{versionsPath, versionsPath + "/1/view"} {
		w.get(path).refused(t, http.StatusUnauthorized, "unauthorized")
		w.get(path, w.as(clientShop)...).refused(t, http.StatusForbidden, "forbidden")
		w.get(path, w.as(clientNorth)...).refused(t, http.StatusNotFound, "restaurant_not_found")
	}
}

// A version that is published between the two reads of a list is the current one in the list. A
// list always has exactly one current version.
func TestAVersionThatComesWhileTheyAreListed(t *testing.T) {
	t.Parallel()
	w := newFixture(t)
	w.publishes(kitchenMenu("200", "[]"))
	keys, client := cache.NewKeys(w.redis.Prefix()), w.redis.Client()
	status := client.HGetAll(t.Context(), keys.Current(bistro)).Val() // as the first read saw it
	w.publishes(kitchenMenu("200", "true"))                           // in place of version 2
	if err := client.HSet(t.Context(), keys.Current(bistro), status).Err(); err != nil {
		t.Fatal(err)
	}
	rows, _ := w.versions("")
	if len(rows) != 2 || rows[0].Version != 3 || !rows[0].Current || rows[1].Current {
		t.Errorf("got %+v, want version 3 current", rows)
	}
}

func TestAVersionIsShownAsPublished(t *testing.T) {
	t.Parallel()
	w := newFixture(t)
	w.publishes(kitchenMenu("200", "true"))
	ops := w.as(clientOps)
	for version, price := range map[string]string{"1": "199.90", "2": "200"} {
		got := w.get(versionsPath+"/"+version+"/view", ops...).is(t, http.StatusOK)
		view, err := menu.Decode(got.body)
		if err != nil || len(view.Products) != 5 || !strings.Contains(string(got.body), `"price":`+price) || got.header.Get("Cache-Control") != "no-store" {
			t.Errorf("version %s: %v in %s", version, err, got.body)
		}
	}
	w.get(versionsPath+"/7/view", ops...).refused(t, http.StatusNotFound, "version_not_found")
	w.get(versionsPath+"/x/view", ops...).refused(t, http.StatusBadRequest, "invalid_parameter")
}

// A rollback and a release over HTTP, with a real Redis and a real ordering service.
func TestRollbackOverTheSandbox(t *testing.T) { // policy S7a
	t.Parallel()
	service := sandbox.New(sandbox.Config{})
	t.Cleanup(service.Close)
	base := serve(t, service.Handler())
	service.SetMenu(bistro, []byte(fullMenu))
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
	w := newFixture(t, func(p *plan) {
		p.redis.URL, p.unsynced = redistest.Start(t).URL(), true
		p.runner = func(d *menusync.Deps) { d.Connections[0].Source = client }
	})
	w.syncOnce(bistro)
	w.schedule()
	ops := w.as(clientOps)
	publishes := func(raw, outcome string) {
		t.Helper()
		service.SetMenu(bistro, []byte(raw))
		var run runRow
		w.do(http.MethodPost, syncPath+"?wait=30s", "", ops...).is(t, http.StatusOK).into(t, &run)
		if run.Outcome == nil || *run.Outcome != outcome {
			t.Fatalf("synced: %+v, want %s", run, outcome)
		}
	}
	serves := func(price string, available, held bool) {
		t.Helper()
		if got, stock := w.price(); got != price || stock != available {
			t.Fatalf("the storefront has p1 for %s and p3 available %v, want %s, %v", got, stock, price, available)
		}
		var rows []struct{ Held bool }
		w.get("/v1/restaurants?q="+bistro).is(t, http.StatusOK).into(t, &rows)
		if len(rows) != 1 || rows[0].Held != held {
			t.Errorf("the list has held %+v, want %v", rows, held)
		}
	}
	publishes(kitchenMenu("1", `["bistro"]`), "updated")

	got := w.post(rollbackPath, `{"version": 1, "hold": "released"}`, ops...).is(t, http.StatusOK)
	var run struct {
		runRow
		Rollback struct {
			Version int
			Hold    string
		}
	}
	got.into(t, &run)
	if run.State != "finished" || *run.Outcome != "updated" || run.Version != 3 || run.By[0] != clientOps || run.Trigger != "manual" ||
		run.Rollback.Version != 1 || run.Rollback.Hold != "released" || got.header.Get("Location") != "/v1/ops/runs/"+run.ID {
		t.Errorf("got %s", got.body)
	}
	w.get(got.header.Get("Location"), ops...).is(t, http.StatusOK)
	serves("199.9", false, true) // the price of the old version with the current stop list
	publishes(kitchenMenu("1", `["bistro"]`), "unchanged")
	publishes(kitchenMenu("1", `[]`), "updated")
	serves("199.9", true, true)
	publishes(kitchenMenu("2", `[]`), "held")
	serves("199.9", true, true)
	rows, _ := w.versions("")
	if !rows[0].Held || *rows[0].Hold != "released" || rows[1].Held {
		t.Errorf("versions %+v", rows)
	}

	w.do(http.MethodDelete, holdPath+"?wait=30s", "", ops...).is(t, http.StatusOK).into(t, &run.runRow)
	if *run.Outcome != "updated" || run.By[0] != clientOps {
		t.Errorf("released: got %+v", run.runRow)
	}
	serves("2", true, false)
	w.do(http.MethodDelete, holdPath, "", ops...).is(t, http.StatusAccepted) // releases nothing, but syncs

	w.post(rollbackPath, `{"version": 4}`, ops...).is(t, http.StatusOK).into(t, &run)
	if run.Rollback.Hold != "next_change" {
		t.Errorf("got %+v, want next_change by default", run.Rollback)
	}
	serves("199.9", true, true)
	publishes(kitchenMenu("3", `[]`), "updated")
	serves("3", true, false)
}

func TestRollbackIsRefused(t *testing.T) {
	t.Parallel()
	w := newFixture(t)
	ops := w.as(clientOps)
	for _, body := range []string{
		`{}`, `[]`, `{"version": 0}`, `{"version": "1"}`, `{"version": 1.5}`, `{"version": null}`, `{"version": 1, "hold": "never"}`,
		`{"version": 1, "hold": null}`, `{"version": 1, "force": true}`,
	} {
		w.post(rollbackPath, body, ops...).refused(t, http.StatusBadRequest, "invalid_parameter")
	}
	w.post(rollbackPath, `{"version": 1`, ops...).refused(t, http.StatusBadRequest, "malformed_json")
	w.post(rollbackPath+"?wait=2h", `{"version": 1}`, ops...).refused(t, http.StatusBadRequest, "invalid_parameter")
	w.do(http.MethodDelete, holdPath+"?wait=2h", "", ops...).refused(t, http.StatusBadRequest, "invalid_parameter")
	unknown := w.post(rollbackPath, `{"version": 9}`, ops...).refused(t, http.StatusNotFound, "version_not_found")
	if unknown.Errors[0].Params["version"] != 9.0 {
		t.Errorf("got %+v", unknown)
	}
	w.post("/v1/ops/restaurants/"+empty+"/rollback", `{"version": 1}`, ops...).refused(t, http.StatusNotFound, "version_not_found")
	for _, who := range []struct {
		client, code string
		status       int
	}{{clientShop, "forbidden", http.StatusForbidden}, {clientNorth, "restaurant_not_found", http.StatusNotFound}} {
		w.post(rollbackPath, `{"version": 1}`, w.as(who.client)...).refused(t, who.status, who.code)
		w.do(http.MethodDelete, holdPath, "", w.as(who.client)...).refused(t, who.status, who.code)
	}
	w.post(rollbackPath, `{"version": 1}`).refused(t, http.StatusUnauthorized, "unauthorized")

	open := make(chan struct{})
	w.service.mu.Lock()
	w.service.hold = open
	w.service.mu.Unlock()
	w.schedule()
	var run runRow
	w.do(http.MethodPost, syncPath, "", ops...).is(t, http.StatusAccepted).into(t, &run)
	for run.State != "running" {
		w.get("/v1/ops/runs/"+run.ID, ops...).is(t, http.StatusOK).into(t, &run)
	}
	busy := w.post(rollbackPath+"?wait=1ms", `{"version": 1}`, ops...)
	busy.refused(t, http.StatusConflict, "sync_busy")
	if busy.header.Get("Retry-After") == "" {
		t.Error("no Retry-After")
	}
	close(open)
	w.post(rollbackPath, `{"version": 1}`, ops...).is(t, http.StatusOK)
}
