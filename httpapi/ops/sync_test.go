package ops_test

import (
	"encoding/json"
	"net/http"
	"slices"
	"strings"
	"testing"

	"larder.local/internal/testkit/apitest"
	"larder.local/internal/upstream"
)

func TestManualSync(t *testing.T) { // policy S8
	t.Parallel()
	w := apitest.New(t)
	w.Schedule()
	ops := w.As(apitest.ClientOps)
	var run apitest.RunRow
	got := w.Do(http.MethodPost, apitest.SyncPath+"?wait=30s", "", ops...).Is(t, http.StatusOK)
	got.Into(t, &run)
	if run.State != "finished" || run.Trigger != "manual" || run.Outcome == nil || *run.Outcome != "unchanged" || run.FinishedAt == nil || !slices.Equal(run.By, []string{apitest.ClientOps}) {
		t.Errorf("got %s", got.Body)
	}
	if got.Header.Get("Location") != "/v1/ops/runs/"+run.ID || got.Header.Get("Cache-Control") != "no-store" {
		t.Errorf("Location %q, Cache-Control %q", got.Header.Get("Location"), got.Header.Get("Cache-Control"))
	}
	w.Get(got.Header.Get("Location"), ops...).Is(t, http.StatusOK).Into(t, &run)

	w.Post(apitest.SyncPath+"?wait=30", `{"force": true}`, ops...).Is(t, http.StatusOK).Into(t, &run)
	if !run.Force || *run.Outcome != "updated" || run.Version != 2 {
		t.Errorf("forced: got %+v", run)
	}
	w.Do(http.MethodPost, "/v1/ops/restaurants/@main/sync?wait=30s", "", ops...).Is(t, http.StatusOK).Into(t, &run)
	if run.Restaurant != "@main" {
		t.Errorf("a connection's own menu: got %+v", run)
	}
	w.Do(http.MethodPost, "/v1/ops/restaurants/"+apitest.Empty+"/sync?wait=30s", "", ops...).Is(t, http.StatusOK).Into(t, &run)
	if *run.Outcome != "failed" || run.Error == nil {
		t.Errorf("a menu that cannot be had: got %+v", run)
	}
}

func TestManualSyncIsStartedOrJoined(t *testing.T) {
	t.Parallel()
	w := apitest.New(t)
	hold := make(chan struct{})
	w.Service.Mu.Lock()
	w.Service.Hold = hold
	w.Service.Mu.Unlock()
	w.Schedule()
	ops := w.As(apitest.ClientOps)
	var first, second, third apitest.RunRow
	w.Do(http.MethodPost, apitest.SyncPath, "", ops...).Is(t, http.StatusAccepted).Into(t, &first)
	if first.State == "finished" || first.Outcome != nil {
		t.Errorf("started: got %+v", first)
	}
	w.Post(apitest.SyncPath+"?wait=20ms", `{}`, ops...).Is(t, http.StatusAccepted).Into(t, &second)
	if second.ID != first.ID {
		t.Errorf("the second request began run %s beside %s", second.ID, first.ID)
	}
	close(hold)
	w.Do(http.MethodPost, apitest.SyncPath+"?wait=30s", "", ops...).Is(t, http.StatusOK).Into(t, &third)
	if third.State != "finished" {
		t.Errorf("waited for: got %+v", third)
	}
}

func TestManualSyncRefusals(t *testing.T) {
	t.Parallel()
	w := apitest.New(t)
	ops := w.As(apitest.ClientOps)
	for _, wait := range []string{"61s", "-1s", "soon", "3600", "-5"} {
		w.Do(http.MethodPost, apitest.SyncPath+"?wait="+wait, "", ops...).Refused(t, http.StatusBadRequest, "invalid_parameter")
	}
	for _, body := range []string{`{"force": "yes"}`, `{"forced": true}`, `[]`, `true`, `{"force": null}`} {
		w.Post(apitest.SyncPath, body, ops...).Refused(t, http.StatusBadRequest, "invalid_parameter")
	}
	w.Post(apitest.SyncPath, `{"force": true`, ops...).Refused(t, http.StatusBadRequest, "malformed_json")
	w.Do(http.MethodPost, apitest.SyncPath, "force=true", append(ops, "Content-Type", apitest.FormMedia)...).Refused(t, http.StatusUnsupportedMediaType, "unsupported_media_type")
	w.Do(http.MethodPost, "/v1/ops/restaurants/nowhere/sync", "", ops...).Refused(t, http.StatusNotFound, "restaurant_not_found")
	w.Do(http.MethodPost, "/v1/ops/restaurants/@nowhere/sync", "", ops...).Refused(t, http.StatusNotFound, "restaurant_not_found")
	w.Do(http.MethodPost, "/v1/ops/restaurants/@north/sync", "", ops...).Refused(t, http.StatusNotFound, "restaurant_not_found") // stores none
	w.Do(http.MethodPost, apitest.SyncPath, "").Refused(t, http.StatusUnauthorized, "unauthorized")
	w.Do(http.MethodPost, apitest.SyncPath, "", w.As(apitest.ClientShop)...).Refused(t, http.StatusForbidden, "forbidden")
}

func TestRuns(t *testing.T) {
	t.Parallel()
	w := apitest.New(t)
	w.SyncOnce(apitest.Bistro)
	ops := w.As(apitest.ClientOps)
	list := func(query string) (rows []apitest.RunRow, next *string) {
		t.Helper()
		got := w.Get("/v1/ops/runs"+query, ops...).Is(t, http.StatusOK)
		var page struct {
			Result []apitest.RunRow
			Next   *string
		}
		if err := json.Unmarshal(got.Body, &page); err != nil {
			t.Fatal(err)
		}
		return page.Result, page.Next
	}
	all, next := list("")
	if len(all) != 4 || next != nil || all[0].Restaurant != apitest.Bistro || *all[0].Outcome != "unchanged" {
		t.Errorf("got %+v", all)
	}
	if rows, _ := list("?restaurant=" + apitest.North); len(rows) != 1 || rows[0].Restaurant != apitest.North {
		t.Errorf("of one restaurant: got %+v", rows)
	}
	if rows, _ := list("?outcome=failed"); len(rows) != 1 || rows[0].Restaurant != apitest.Empty {
		t.Errorf("failed: got %+v", rows)
	}
	first, next := list("?limit=3")
	if len(first) != 3 || next == nil {
		t.Fatalf("first page: got %+v, %v", first, next)
	}
	if last, end := list("?limit=3&cursor=" + *next); len(last) != 1 || end != nil || last[0].ID != all[3].ID {
		t.Errorf("second page: got %+v, %v", last, end)
	}
	for query, code := range map[string]string{
		"?outcome=fine": "invalid_parameter", "?limit=0": "invalid_parameter", "?cursor=%21": "invalid_parameter", "?cursor=zzz": "invalid_parameter",
	} {
		w.Get("/v1/ops/runs"+query, ops...).Refused(t, http.StatusBadRequest, code)
	}
	w.Get("/v1/ops/runs?restaurant=nowhere", append(ops, "X-Request-Id", "r")...).Is(t, http.StatusOK) // a restaurant that was configured earlier, perhaps
	w.Get("/v1/ops/runs/nope", ops...).Refused(t, http.StatusNotFound, "run_not_found")
	w.Get("/v1/ops/runs/"+all[0].ID[:10]+strings.Repeat("0", 16), ops...).Refused(t, http.StatusNotFound, "run_not_found")
}

func TestLint(t *testing.T) {
	t.Parallel()
	w := apitest.New(t)
	ops := w.As(apitest.ClientOps)
	var findings []struct {
		Code, Severity, Msg string
		IDs                 map[string]string
		Products            []string
	}
	w.Service.SetMenu(apitest.Bistro, strings.Replace(apitest.FullMenu, `"schemeId": "s1"`, `"schemeId": "s9"`, 1))
	w.SyncOnce(apitest.Bistro)
	got := w.Get("/v1/ops/restaurants/bistro/lint", ops...).Is(t, http.StatusOK)
	got.Into(t, &findings)
	dangling := slices.ContainsFunc(findings, func(f struct {
		Code, Severity, Msg string
		IDs                 map[string]string
		Products            []string
	},
	) bool {
		return f.IDs["scheme"] == "s9" && slices.Contains(f.Products, "p1") && f.Msg != "" && f.Severity != ""
	})
	if !dangling {
		t.Errorf("the missing scheme is not named: %s", got.Body)
	}
	w.Get("/v1/ops/restaurants/nowhere/lint", ops...).Refused(t, http.StatusNotFound, "restaurant_not_found")
}

func TestRejectionReasons(t *testing.T) {
	t.Parallel()
	w := apitest.New(t)
	w.Get("/v1/rejection-reasons?connection=main").Refused(t, http.StatusServiceUnavailable, "no_rejection_reasons")
	raw, err := json.Marshal([]upstream.Reason{{ID: "r1", Reason: "sold out", Type: "simple"}})
	if err != nil {
		t.Fatal(err)
	}
	if err := w.Store.SaveReasons(t.Context(), "main", raw); err != nil {
		t.Fatal(err)
	}
	var reasons []upstream.Reason
	w.Get("/v1/rejection-reasons?connection=main").Is(t, http.StatusOK).Into(t, &reasons)
	if len(reasons) != 1 || reasons[0].ID != "r1" {
		t.Errorf("got %+v", reasons)
	}
	several := w.Get("/v1/rejection-reasons", w.As(apitest.ClientOps)...).Refused(t, http.StatusBadRequest, "connection_required")
	if known, _ := several.Errors[0].Params["known"].([]any); len(known) != 2 {
		t.Errorf("known %v", several.Errors[0].Params)
	}
	w.Get("/v1/rejection-reasons?connection=west").Refused(t, http.StatusNotFound, "connection_not_found")
	w.Get("/v1/rejection-reasons", w.As(apitest.ClientShop)...).Is(t, http.StatusOK) // limited to main: it need not select a connection
}

// A client with one connection sees nothing of other connections: not their restaurants, runs or
// reasons, nor whether they exist.
func TestIsolation(t *testing.T) {
	t.Parallel()
	w := apitest.New(t)
	as := w.As(apitest.ClientNorth)
	var all []apitest.RunRow
	w.Get("/v1/ops/runs", w.As(apitest.ClientOps)...).Into(t, &all)
	foreign := all[slices.IndexFunc(all, func(r apitest.RunRow) bool { return r.Restaurant == apitest.Bistro })].ID

	var rows []struct{ ID string }
	w.Get("/v1/restaurants", as...).Is(t, http.StatusOK).Into(t, &rows)
	if len(rows) != 1 || rows[0].ID != apitest.North {
		t.Errorf("restaurants: got %+v, want %s alone", rows, apitest.North)
	}
	for _, path := range []string{
		"/v1/restaurants/bistro/menu", "/v1/restaurants/bistro/products", "/v1/restaurants/bistro/products/p1",
		"/v1/ops/restaurants/bistro/lint",
	} {
		got := w.Get(path, as...).Refused(t, http.StatusNotFound, "restaurant_not_found")
		if known, _ := got.Errors[0].Params["known"].([]any); len(known) != 1 || strings.Contains(got.Msg, "bistro") {
			t.Errorf("%s shows others: %v %s", path, known, got.Msg)
		}
		w.Get(strings.Replace(path, apitest.Bistro, apitest.North, 1), as...).Is(t, http.StatusOK)
	}
	w.Post(apitest.OrdersPath, apitest.Order(), append(apitest.Key("k"), as...)...).Refused(t, http.StatusNotFound, "restaurant_not_found")
	w.Post(apitest.ValidatePath, apitest.Order(), as...).Refused(t, http.StatusNotFound, "restaurant_not_found")
	for _, id := range []string{apitest.Bistro, "@main", "@north", "@north%2Freasons", "@north%2Fx"} { // north has no default menu
		got := w.Do(http.MethodPost, "/v1/ops/restaurants/"+id+"/sync", "", as...).Refused(t, http.StatusNotFound, "restaurant_not_found")
		if strings.Contains(got.Msg, apitest.Bistro) {
			t.Errorf("sync of %s shows others: %s", id, got.Msg)
		}
		got = w.Get("/v1/ops/restaurants/"+id+"/lint", as...).Refused(t, http.StatusNotFound, "restaurant_not_found")
		if strings.Contains(got.Msg, apitest.Bistro) {
			t.Errorf("lint of %s shows others: %s", id, got.Msg)
		}
	}
	w.Get("/v1/ops/runs/"+foreign, as...).Refused(t, http.StatusNotFound, "run_not_found")
	w.Get("/v1/ops/runs?restaurant="+apitest.Bistro, as...).Refused(t, http.StatusNotFound, "restaurant_not_found")
	var runs []apitest.RunRow
	w.Get("/v1/ops/runs", as...).Into(t, &runs)
	if len(runs) != 1 || runs[0].Restaurant != apitest.North {
		t.Errorf("runs: got %+v", runs)
	}
	w.Get("/v1/rejection-reasons?connection=main", as...).Refused(t, http.StatusNotFound, "connection_not_found")
	if len(w.Service.Received()) != 0 {
		t.Error("an order was sent")
	}
}
