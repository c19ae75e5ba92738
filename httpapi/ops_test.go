package httpapi_test

import (
	"encoding/json"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	"larder/internal/upstream"
)

// runRow is a run in the format of the API.
type runRow struct {
	ID, Restaurant, Trigger, State string
	By                             []string
	Outcome, Error                 *string
	Force                          bool
	Version                        int
	FinishedAt                     *time.Time
}

const syncPath = "/v1/ops/restaurants/" + bistro + "/sync"

func TestManualSync(t *testing.T) { // policy S8
	t.Parallel()
	w := newFixture(t)
	w.schedule()
	ops := w.as(clientOps)
	var run runRow
	got := w.do(http.MethodPost, syncPath+"?wait=30s", "", ops...).is(t, http.StatusOK)
	got.into(t, &run)
	if run.State != "finished" || run.Trigger != "manual" || run.Outcome == nil || *run.Outcome != "unchanged" || run.FinishedAt == nil || !slices.Equal(run.By, []string{clientOps}) {
		t.Errorf("got %s", got.body)
	}
	if got.header.Get("Location") != "/v1/ops/runs/"+run.ID || got.header.Get("Cache-Control") != "no-store" {
		t.Errorf("Location %q, Cache-Control %q", got.header.Get("Location"), got.header.Get("Cache-Control"))
	}
	w.get(got.header.Get("Location"), ops...).is(t, http.StatusOK).into(t, &run)

	w.post(syncPath+"?wait=30", `{"force": true}`, ops...).is(t, http.StatusOK).into(t, &run)
	if !run.Force || *run.Outcome != "updated" || run.Version != 2 {
		t.Errorf("forced: got %+v", run)
	}
	w.do(http.MethodPost, "/v1/ops/restaurants/@main/sync?wait=30s", "", ops...).is(t, http.StatusOK).into(t, &run)
	if run.Restaurant != "@main" {
		t.Errorf("a connection's own menu: got %+v", run)
	}
	w.do(http.MethodPost, "/v1/ops/restaurants/"+empty+"/sync?wait=30s", "", ops...).is(t, http.StatusOK).into(t, &run)
	if *run.Outcome != "failed" || run.Error == nil {
		t.Errorf("a menu that cannot be had: got %+v", run)
	}
}

func TestManualSyncIsStartedOrJoined(t *testing.T) {
	t.Parallel()
	w := newFixture(t)
	hold := make(chan struct{})
	w.service.mu.Lock()
	w.service.hold = hold
	w.service.mu.Unlock()
	w.schedule()
	ops := w.as(clientOps)
	var first, second, third runRow
	w.do(http.MethodPost, syncPath, "", ops...).is(t, http.StatusAccepted).into(t, &first)
	if first.State == "finished" || first.Outcome != nil {
		t.Errorf("started: got %+v", first)
	}
	w.post(syncPath+"?wait=20ms", `{}`, ops...).is(t, http.StatusAccepted).into(t, &second)
	if second.ID != first.ID {
		t.Errorf("the second request began run %s beside %s", second.ID, first.ID)
	}
	close(hold)
	w.do(http.MethodPost, syncPath+"?wait=30s", "", ops...).is(t, http.StatusOK).into(t, &third)
	if third.State != "finished" {
		t.Errorf("waited for: got %+v", third)
	}
}

func TestManualSyncRefusals(t *testing.T) {
	t.Parallel()
	w := newFixture(t)
	ops := w.as(clientOps)
	for _, wait := range []string{"61s", "-1s", "soon", "3600", "-5"} {
		w.do(http.MethodPost, syncPath+"?wait="+wait, "", ops...).refused(t, http.StatusBadRequest, "invalid_parameter")
	}
	for _, body := range []string{`{"force": "yes"}`, `{"forced": true}`, `[]`, `true`, `{"force": null}`} {
		w.post(syncPath, body, ops...).refused(t, http.StatusBadRequest, "invalid_parameter")
	}
	w.post(syncPath, `{"force": true`, ops...).refused(t, http.StatusBadRequest, "malformed_json")
	w.do(http.MethodPost, syncPath, "force=true", append(ops, "Content-Type", formMedia)...).refused(t, http.StatusUnsupportedMediaType, "unsupported_media_type")
	w.do(http.MethodPost, "/v1/ops/restaurants/nowhere/sync", "", ops...).refused(t, http.StatusNotFound, "restaurant_not_found")
	w.do(http.MethodPost, "/v1/ops/restaurants/@nowhere/sync", "", ops...).refused(t, http.StatusNotFound, "restaurant_not_found")
	w.do(http.MethodPost, "/v1/ops/restaurants/@north/sync", "", ops...).refused(t, http.StatusNotFound, "restaurant_not_found") // stores none
	w.do(http.MethodPost, syncPath, "").refused(t, http.StatusUnauthorized, "unauthorized")
	w.do(http.MethodPost, syncPath, "", w.as(clientShop)...).refused(t, http.StatusForbidden, "forbidden")
}

func TestRuns(t *testing.T) {
	t.Parallel()
	w := newFixture(t)
	w.syncOnce(bistro)
	ops := w.as(clientOps)
	list := func(query string) (rows []runRow, next *string) {
		t.Helper()
		got := w.get("/v1/ops/runs"+query, ops...).is(t, http.StatusOK)
		var page struct {
			Result []runRow
			Next   *string
		}
		if err := json.Unmarshal(got.body, &page); err != nil {
			t.Fatal(err)
		}
		return page.Result, page.Next
	}
	all, next := list("")
	if len(all) != 4 || next != nil || all[0].Restaurant != bistro || *all[0].Outcome != "unchanged" {
		t.Errorf("got %+v", all)
	}
	if rows, _ := list("?restaurant=" + north); len(rows) != 1 || rows[0].Restaurant != north {
		t.Errorf("of one restaurant: got %+v", rows)
	}
	if rows, _ := list("?outcome=failed"); len(rows) != 1 || rows[0].Restaurant != empty {
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
		w.get("/v1/ops/runs"+query, ops...).refused(t, http.StatusBadRequest, code)
	}
	w.get("/v1/ops/runs?restaurant=nowhere", append(ops, "X-Request-Id", "r")...).is(t, http.StatusOK) // a restaurant that was configured earlier, perhaps
	w.get("/v1/ops/runs/nope", ops...).refused(t, http.StatusNotFound, "run_not_found")
	w.get("/v1/ops/runs/"+all[0].ID[:10]+strings.Repeat("0", 16), ops...).refused(t, http.StatusNotFound, "run_not_found")
}

func TestLint(t *testing.T) {
	t.Parallel()
	w := newFixture(t)
	ops := w.as(clientOps)
	var findings []struct {
		Code, Severity, Msg string
		IDs                 map[string]string
		Products            []string
	}
	w.service.setMenu(bistro, strings.Replace(fullMenu, `"schemeId": "s1"`, `"schemeId": "s9"`, 1))
	w.syncOnce(bistro)
	got := w.get("/v1/ops/restaurants/bistro/lint", ops...).is(t, http.StatusOK)
	got.into(t, &findings)
	dangling := slices.ContainsFunc(findings, func(f struct {
		Code, Severity, Msg string
		IDs                 map[string]string
		Products            []string
	},
	) bool {
		return f.IDs["scheme"] == "s9" && slices.Contains(f.Products, "p1") && f.Msg != "" && f.Severity != ""
	})
	if !dangling {
		t.Errorf("the missing scheme is not named: %s", got.body)
	}
	w.get("/v1/ops/restaurants/nowhere/lint", ops...).refused(t, http.StatusNotFound, "restaurant_not_found")
}

func TestRejectionReasons(t *testing.T) {
	t.Parallel()
	w := newFixture(t)
	w.get("/v1/rejection-reasons?connection=main").refused(t, http.StatusServiceUnavailable, "no_rejection_reasons")
	raw, err := json.Marshal([]upstream.Reason{{ID: "r1", Reason: "sold out", Type: "simple"}})
	if err != nil {
		t.Fatal(err)
	}
	if err := w.store.SaveReasons(t.Context(), "main", raw); err != nil {
		t.Fatal(err)
	}
	var reasons []upstream.Reason
	w.get("/v1/rejection-reasons?connection=main").is(t, http.StatusOK).into(t, &reasons)
	if len(reasons) != 1 || reasons[0].ID != "r1" {
		t.Errorf("got %+v", reasons)
	}
	several := w.get("/v1/rejection-reasons").refused(t, http.StatusBadRequest, "connection_required")
	if known, _ := several.Errors[0].Params["known"].([]any); len(known) != 2 {
		t.Errorf("known %v", several.Errors[0].Params)
	}
	w.get("/v1/rejection-reasons?connection=west").refused(t, http.StatusNotFound, "connection_not_found")
	w.get("/v1/rejection-reasons", w.as(clientShop)...).is(t, http.StatusOK) // limited to main: it need not select a connection
}

// A client with one connection sees nothing of other connections: not their restaurants, runs or
// reasons, nor whether they exist.
func TestIsolation(t *testing.T) {
	t.Parallel()
	w := newFixture(t)
	as := w.as(clientNorth)
	var all []runRow
	w.get("/v1/ops/runs", w.as(clientOps)...).into(t, &all)
	foreign := all[slices.IndexFunc(all, func(r runRow) bool { return r.Restaurant == bistro })].ID

	var rows []struct{ ID string }
	w.get("/v1/restaurants", as...).is(t, http.StatusOK).into(t, &rows)
	if len(rows) != 1 || rows[0].ID != north {
		t.Errorf("restaurants: got %+v, want %s alone", rows, north)
	}
	for _, path := range []string{
		"/v1/restaurants/bistro/menu", "/v1/restaurants/bistro/products", "/v1/restaurants/bistro/products/p1",
		"/v1/ops/restaurants/bistro/lint",
	} {
		got := w.get(path, as...).refused(t, http.StatusNotFound, "restaurant_not_found")
		if known, _ := got.Errors[0].Params["known"].([]any); len(known) != 1 || strings.Contains(got.Msg, "bistro") {
			t.Errorf("%s shows others: %v %s", path, known, got.Msg)
		}
		w.get(strings.Replace(path, bistro, north, 1), as...).is(t, http.StatusOK)
	}
	w.post(ordersPath, order(), append(key("k"), as...)...).refused(t, http.StatusNotFound, "restaurant_not_found")
	w.post(validatePath, order(), as...).refused(t, http.StatusNotFound, "restaurant_not_found")
	for _, id := range []string{bistro, "@main", "@north", "@north%2Freasons", "@north%2Fx"} { // north has no default menu
		got := w.do(http.MethodPost, "/v1/ops/restaurants/"+id+"/sync", "", as...).refused(t, http.StatusNotFound, "restaurant_not_found")
		if strings.Contains(got.Msg, bistro) {
			t.Errorf("sync of %s shows others: %s", id, got.Msg)
		}
		got = w.get("/v1/ops/restaurants/"+id+"/lint", as...).refused(t, http.StatusNotFound, "restaurant_not_found")
		if strings.Contains(got.Msg, bistro) {
			t.Errorf("lint of %s shows others: %s", id, got.Msg)
		}
	}
	w.get("/v1/ops/runs/"+foreign, as...).refused(t, http.StatusNotFound, "run_not_found")
	w.get("/v1/ops/runs?restaurant="+bistro, as...).refused(t, http.StatusNotFound, "restaurant_not_found")
	var runs []runRow
	w.get("/v1/ops/runs", as...).into(t, &runs)
	if len(runs) != 1 || runs[0].Restaurant != north {
		t.Errorf("runs: got %+v", runs)
	}
	w.get("/v1/rejection-reasons?connection=main", as...).refused(t, http.StatusNotFound, "connection_not_found")
	if len(w.service.received()) != 0 {
		t.Error("an order was sent")
	}
}
