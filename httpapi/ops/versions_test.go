package ops_test

import (
	"encoding/json"
	"net/http"
	"strings"
	"testing"
	"time"

	"larder.local/cache"
	"larder.local/internal/menu"
	"larder.local/internal/sandbox"
	"larder.local/internal/testkit/apitest"
	"larder.local/internal/testkit/redistest"
	"larder.local/internal/upstream"
	menusync "larder.local/sync"
)

const (
	versionsPath = apitest.OpsBistro + "/versions"
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

// versionsOf returns the version list.
func versionsOf(w *apitest.Fixture, query string) (rows []versionRow, next *string) {
	w.T.Helper()
	got := w.Get(versionsPath+query, w.As(apitest.ClientOps)...).Is(w.T, http.StatusOK)
	var page struct {
		Result []versionRow
		Next   *string
	}
	if err := json.Unmarshal(got.Body, &page); err != nil {
		w.T.Fatal(err)
	}
	return page.Result, page.Next
}

// priceOf returns the price of p1 in the storefront's menu, and whether p3 is available.
func priceOf(w *apitest.Fixture) (string, bool) {
	w.T.Helper()
	var product struct {
		Price     json.Number
		Available bool
	}
	w.Get("/v1/restaurants/"+apitest.Bistro+"/products/p3").Is(w.T, http.StatusOK).Into(w.T, &product)
	available := product.Available
	w.Get("/v1/restaurants/"+apitest.Bistro+"/products/p1").Is(w.T, http.StatusOK).Into(w.T, &product)
	return product.Price.String(), available
}

func TestVersionsAreListed(t *testing.T) {
	t.Parallel()
	w := apitest.New(t)
	w.PublishAgain(apitest.KitchenMenu("200", "[]"))
	w.PublishAgain(apitest.KitchenMenu("200", "true")) // in place of version 2
	rows, next := versionsOf(w, "")
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
	first, next := versionsOf(w, "?limit=1")
	if len(first) != 1 || next == nil {
		t.Fatalf("first page %+v", first)
	}
	if second, end := versionsOf(w, "?limit=1&cursor="+*next); len(second) != 1 || second[0].Version != 1 || end != nil {
		t.Errorf("second page %+v", second)
	}
	ops := w.As(apitest.ClientOps)
	for query, code := range map[string]string{"?limit=0": "invalid_parameter", "?cursor=x": "invalid_parameter", "?cursor=eA": "invalid_parameter"} {
		w.Get(versionsPath+query, ops...).Refused(t, http.StatusBadRequest, code)
	}
	w.Get("/v1/ops/restaurants/"+apitest.Empty+"/versions", ops...).Refused(t, http.StatusServiceUnavailable, "no_catalogue")
	w.Get("/v1/ops/restaurants/@main/versions", ops...).Refused(t, http.StatusServiceUnavailable, "no_catalogue") // never synced
	for _, path := range []string{versionsPath, versionsPath + "/1/view"} {
		w.Get(path).Refused(t, http.StatusUnauthorized, "unauthorized")
		w.Get(path, w.As(apitest.ClientShop)...).Refused(t, http.StatusForbidden, "forbidden")
		w.Get(path, w.As(apitest.ClientNorth)...).Refused(t, http.StatusNotFound, "restaurant_not_found")
	}
}

// A version that is published between the two reads of a list is the current one in the list. A
// list always has exactly one current version.
func TestAVersionThatComesWhileTheyAreListed(t *testing.T) {
	t.Parallel()
	w := apitest.New(t)
	w.PublishAgain(apitest.KitchenMenu("200", "[]"))
	keys, client := cache.NewKeys(w.Redis.Prefix()), w.Redis.Client()
	status := client.HGetAll(t.Context(), keys.Current(apitest.Bistro)).Val() // as the first read saw it
	w.PublishAgain(apitest.KitchenMenu("200", "true"))                        // in place of version 2
	if err := client.HSet(t.Context(), keys.Current(apitest.Bistro), status).Err(); err != nil {
		t.Fatal(err)
	}
	rows, _ := versionsOf(w, "")
	if len(rows) != 2 || rows[0].Version != 3 || !rows[0].Current || rows[1].Current {
		t.Errorf("got %+v, want version 3 current", rows)
	}
}

func TestAVersionIsShownAsPublished(t *testing.T) {
	t.Parallel()
	w := apitest.New(t)
	w.PublishAgain(apitest.KitchenMenu("200", "true"))
	ops := w.As(apitest.ClientOps)
	for version, price := range map[string]string{"1": "199.90", "2": "200"} {
		got := w.Get(versionsPath+"/"+version+"/view", ops...).Is(t, http.StatusOK)
		view, err := menu.Decode(got.Body)
		if err != nil || len(view.Products) != 5 || !strings.Contains(string(got.Body), `"price":`+price) || got.Header.Get("Cache-Control") != "no-store" {
			t.Errorf("version %s: %v in %s", version, err, got.Body)
		}
	}
	w.Get(versionsPath+"/7/view", ops...).Refused(t, http.StatusNotFound, "version_not_found")
	w.Get(versionsPath+"/x/view", ops...).Refused(t, http.StatusBadRequest, "invalid_parameter")
}

// A rollback and a release over HTTP, with a real Redis and a real ordering service.
func TestRollbackOverTheSandbox(t *testing.T) { // policy S7a
	t.Parallel()
	service := sandbox.New(sandbox.Config{})
	t.Cleanup(service.Close)
	base := apitest.Serve(t, service.Handler())
	service.SetMenu(apitest.Bistro, []byte(apitest.FullMenu))
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
	w := apitest.New(t, func(p *apitest.Plan) {
		p.Redis.URL, p.Unsynced = redistest.Start(t).URL(), true
		p.Sync = func(d *menusync.Deps) { d.Connections[0].Source = client }
	})
	w.SyncOnce(apitest.Bistro)
	w.Schedule()
	ops := w.As(apitest.ClientOps)
	publishes := func(raw, outcome string) {
		t.Helper()
		service.SetMenu(apitest.Bistro, []byte(raw))
		var run apitest.RunRow
		w.Do(http.MethodPost, apitest.SyncPath+"?wait=30s", "", ops...).Is(t, http.StatusOK).Into(t, &run)
		if run.Outcome == nil || *run.Outcome != outcome {
			t.Fatalf("synced: %+v, want %s", run, outcome)
		}
	}
	serves := func(price string, available, held bool) {
		t.Helper()
		if got, stock := priceOf(w); got != price || stock != available {
			t.Fatalf("the storefront has p1 for %s and p3 available %v, want %s, %v", got, stock, price, available)
		}
		var rows []struct{ Held bool }
		w.Get("/v1/restaurants?q="+apitest.Bistro).Is(t, http.StatusOK).Into(t, &rows)
		if len(rows) != 1 || rows[0].Held != held {
			t.Errorf("the list has held %+v, want %v", rows, held)
		}
	}
	publishes(apitest.KitchenMenu("1", `["bistro"]`), "updated")

	got := w.Post(apitest.RollbackPath, `{"version": 1, "hold": "released"}`, ops...).Is(t, http.StatusOK)
	var run struct {
		apitest.RunRow
		Rollback struct {
			Version int
			Hold    string
		}
	}
	got.Into(t, &run)
	if run.State != "finished" || *run.Outcome != "updated" || run.Version != 3 || run.By[0] != apitest.ClientOps || run.Trigger != "manual" ||
		run.Rollback.Version != 1 || run.Rollback.Hold != "released" || got.Header.Get("Location") != "/v1/ops/runs/"+run.ID {
		t.Errorf("got %s", got.Body)
	}
	w.Get(got.Header.Get("Location"), ops...).Is(t, http.StatusOK)
	serves("199.9", false, true) // the price of the old version with the current stop list
	publishes(apitest.KitchenMenu("1", `["bistro"]`), "unchanged")
	publishes(apitest.KitchenMenu("1", `[]`), "updated")
	serves("199.9", true, true)
	publishes(apitest.KitchenMenu("2", `[]`), "held")
	serves("199.9", true, true)
	rows, _ := versionsOf(w, "")
	if !rows[0].Held || *rows[0].Hold != "released" || rows[1].Held {
		t.Errorf("versions %+v", rows)
	}

	w.Do(http.MethodDelete, apitest.HoldPath+"?wait=30s", "", ops...).Is(t, http.StatusOK).Into(t, &run.RunRow)
	if *run.Outcome != "updated" || run.By[0] != apitest.ClientOps {
		t.Errorf("released: got %+v", run.RunRow)
	}
	serves("2", true, false)
	w.Do(http.MethodDelete, apitest.HoldPath, "", ops...).Is(t, http.StatusAccepted) // releases nothing, but syncs

	w.Post(apitest.RollbackPath, `{"version": 4}`, ops...).Is(t, http.StatusOK).Into(t, &run)
	if run.Rollback.Hold != "next_change" {
		t.Errorf("got %+v, want next_change by default", run.Rollback)
	}
	serves("199.9", true, true)
	publishes(apitest.KitchenMenu("3", `[]`), "updated")
	serves("3", true, false)
}

func TestRollbackIsRefused(t *testing.T) {
	t.Parallel()
	w := apitest.New(t)
	ops := w.As(apitest.ClientOps)
	for _, body := range []string{
		`{}`, `[]`, `{"version": 0}`, `{"version": "1"}`, `{"version": 1.5}`, `{"version": null}`, `{"version": 1, "hold": "never"}`,
		`{"version": 1, "hold": null}`, `{"version": 1, "force": true}`,
	} {
		w.Post(apitest.RollbackPath, body, ops...).Refused(t, http.StatusBadRequest, "invalid_parameter")
	}
	w.Post(apitest.RollbackPath, `{"version": 1`, ops...).Refused(t, http.StatusBadRequest, "malformed_json")
	w.Post(apitest.RollbackPath+"?wait=2h", `{"version": 1}`, ops...).Refused(t, http.StatusBadRequest, "invalid_parameter")
	w.Do(http.MethodDelete, apitest.HoldPath+"?wait=2h", "", ops...).Refused(t, http.StatusBadRequest, "invalid_parameter")
	unknown := w.Post(apitest.RollbackPath, `{"version": 9}`, ops...).Refused(t, http.StatusNotFound, "version_not_found")
	if unknown.Errors[0].Params["version"] != 9.0 {
		t.Errorf("got %+v", unknown)
	}
	w.Post("/v1/ops/restaurants/"+apitest.Empty+"/rollback", `{"version": 1}`, ops...).Refused(t, http.StatusNotFound, "version_not_found")
	for _, who := range []struct {
		client, code string
		status       int
	}{{apitest.ClientShop, "forbidden", http.StatusForbidden}, {apitest.ClientNorth, "restaurant_not_found", http.StatusNotFound}} {
		w.Post(apitest.RollbackPath, `{"version": 1}`, w.As(who.client)...).Refused(t, who.status, who.code)
		w.Do(http.MethodDelete, apitest.HoldPath, "", w.As(who.client)...).Refused(t, who.status, who.code)
	}
	w.Post(apitest.RollbackPath, `{"version": 1}`).Refused(t, http.StatusUnauthorized, "unauthorized")

	open := make(chan struct{})
	w.Service.Mu.Lock()
	w.Service.Hold = open
	w.Service.Mu.Unlock()
	w.Schedule()
	var run apitest.RunRow
	w.Do(http.MethodPost, apitest.SyncPath, "", ops...).Is(t, http.StatusAccepted).Into(t, &run)
	for run.State != "running" {
		w.Get("/v1/ops/runs/"+run.ID, ops...).Is(t, http.StatusOK).Into(t, &run)
	}
	busy := w.Post(apitest.RollbackPath+"?wait=1ms", `{"version": 1}`, ops...)
	busy.Refused(t, http.StatusConflict, "sync_busy")
	if busy.Header.Get("Retry-After") == "" {
		t.Error("no Retry-After")
	}
	close(open)
	w.Post(apitest.RollbackPath, `{"version": 1}`, ops...).Is(t, http.StatusOK)
}
