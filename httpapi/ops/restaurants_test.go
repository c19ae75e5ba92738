package ops_test

import (
	"encoding/json"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"larder.local/internal/menu"
	"larder.local/internal/testkit/apitest"
	"larder.local/sync/runlog"
)

// opsRow is a restaurant in the operators' list.
type opsRow struct {
	ID, Name, Connection string
	Version              *int64
	States               []string
	Freshness            struct {
		Schedule                               string
		AgeSeconds, EverySeconds, StaleSeconds *float64
		NextAt                                 *time.Time
	}
	Hold    *string
	LastRun *apitest.RunRow
}

func opsRows(w *apitest.Fixture, query string, headers ...string) (rows []opsRow, next *string) {
	w.T.Helper()
	got := w.Get("/v1/ops/restaurants"+query, headers...).Is(w.T, http.StatusOK)
	var page struct {
		Result []opsRow
		Next   *string
	}
	if err := json.Unmarshal(got.Body, &page); err != nil || page.Result == nil {
		w.T.Fatalf("%v in %s", err, got.Body)
	}
	return page.Result, page.Next
}

func idsOf(rows []opsRow) []string {
	ids := []string{}
	for _, row := range rows {
		ids = append(ids, row.ID)
	}
	return ids
}

func TestOpsRestaurants(t *testing.T) {
	t.Parallel()
	w := apitest.New(t)
	w.Service.SetMenu(apitest.North, `{"name": "x", "products": []}`) // quarantined by the guard
	if run := w.SyncOnce(apitest.North); run.Outcome != runlog.OutcomeQuarantined {
		t.Fatalf("synced: %+v", run)
	}
	if _, err := w.Runner.Rollback(t.Context(), apitest.Bistro, runlog.Rollback{Version: 1, Hold: "released"}, "ops", 0); err != nil {
		t.Fatal(err)
	}
	if err := w.Replica.Poll(t.Context()); err != nil { // the states in the list come from memory
		t.Fatal(err)
	}
	ops := w.As(apitest.ClientOps)
	rows, next := opsRows(w, "", ops...)
	if next != nil || len(rows) != 3 {
		t.Fatalf("got %+v, next %v", rows, next)
	}
	states := map[string][]string{}
	for _, row := range rows {
		states[row.ID] = row.States
	}
	if diff := cmp.Diff(map[string][]string{apitest.Bistro: {"held"}, apitest.North: {"quarantined"}, apitest.Empty: {"missing"}}, states); diff != "" {
		t.Errorf("states (-want +got):\n%s", diff)
	}
	fresh := rows[0].Freshness
	if fresh.Schedule != "@every 24h" || fresh.AgeSeconds == nil || *fresh.AgeSeconds > 60 || fresh.EverySeconds == nil || *fresh.EverySeconds != 86400 ||
		fresh.StaleSeconds == nil || *fresh.StaleSeconds != 3*86400 || fresh.NextAt == nil || !fresh.NextAt.After(time.Now()) {
		t.Errorf("freshness %+v", fresh)
	}
	if rows[1].ID != apitest.Empty || rows[1].Freshness.AgeSeconds != nil {
		t.Errorf("a menu that is not there: %+v", rows[1])
	}
	for query, want := range map[string][]string{
		"?state=attention": {apitest.Empty, apitest.North}, "?state=missing": {apitest.Empty}, "?state=quarantined": {apitest.North}, "?state=held": {apitest.Bistro},
		"?state=ok": {}, "?state=failed": {}, "?state=stale": {}, "?q=north": {apitest.North}, "?q=THE&connection=main": {apitest.Bistro, apitest.Empty},
		"?connection=nowhere": {}, "?state=attention&connection=north": {apitest.North},
	} {
		if rows, _ := opsRows(w, query, ops...); !slices.Equal(idsOf(rows), want) {
			t.Errorf("%s: %v, want %v", query, idsOf(rows), want)
		}
	}
	if rows, next := opsRows(w, "?limit=1&state=attention", ops...); !slices.Equal(idsOf(rows), []string{apitest.Empty}) || next == nil {
		t.Errorf("the first page: %v, %v", idsOf(rows), next)
	} else if rows, next = opsRows(w, "?limit=1&state=attention&cursor="+*next, ops...); !slices.Equal(idsOf(rows), []string{apitest.North}) || next != nil {
		t.Errorf("the second page: %v, %v", idsOf(rows), next)
	}
	if rows, _ := opsRows(w, "", w.As(apitest.ClientNorth)...); !slices.Equal(idsOf(rows), []string{apitest.North}) {
		t.Errorf("a client of one connection sees %v", idsOf(rows))
	}
	for _, query := range []string{"?state=lost", "?limit=0", "?cursor=%21", "?q=" + strings.Repeat("x", 201)} {
		w.Get("/v1/ops/restaurants"+query, ops...).Refused(t, http.StatusBadRequest, "invalid_parameter")
	}
}

func TestOpsRestaurant(t *testing.T) {
	t.Parallel()
	w := apitest.New(t)
	ops := w.As(apitest.ClientOps)
	var one opsRow
	w.Get(apitest.OpsBistro, ops...).Is(t, http.StatusOK).Into(t, &one)
	if one.ID != apitest.Bistro || one.Name != "The bistro" || one.LastRun == nil || *one.LastRun.Outcome != "updated" || one.Hold != nil || len(one.States) != 0 {
		t.Errorf("got %+v", one)
	}
	one = opsRow{}
	w.Get("/v1/ops/restaurants/"+apitest.Empty, ops...).Is(t, http.StatusOK).Into(t, &one)
	if one.Version != nil || one.LastRun == nil || *one.LastRun.Outcome != "failed" || one.LastRun.Error == nil {
		t.Errorf("without a menu: %+v", one)
	}
	one = opsRow{}
	w.Get("/v1/ops/restaurants/@main", ops...).Is(t, http.StatusOK).Into(t, &one)
	if one.ID != "@main" || one.Connection != "main" {
		t.Errorf("a connection's own menu: %+v", one)
	}
	w.Get("/v1/ops/restaurants/nowhere", ops...).Refused(t, http.StatusNotFound, "restaurant_not_found")
}

func TestOpsSummary(t *testing.T) {
	t.Parallel()
	k := apitest.NewOrders(t)
	k.LostOrder("1")
	var got struct {
		Restaurants       int
		States            map[string]int
		UnknownOrders     *int
		MoreUnknownOrders bool
	}
	k.Get("/v1/ops/summary", k.Ops...).Is(t, http.StatusOK).Into(t, &got)
	if got.Restaurants == 0 || got.UnknownOrders == nil || *got.UnknownOrders != 1 || got.MoreUnknownOrders || got.States["ok"]+got.States["attention"] != got.Restaurants || len(got.States) != 8 {
		t.Errorf("got %+v", got)
	}
	got.Restaurants, got.UnknownOrders = 0, nil
	k.Get("/v1/ops/summary", k.As(apitest.ClientNorth)...).Is(t, http.StatusOK).Into(t, &got)
	if got.Restaurants != 1 || *got.UnknownOrders != 0 {
		t.Errorf("a client of one connection: %+v", got)
	}
	for query, want := range map[string]int{"?q=BISTRO": 1, "?q=the": 3, "?q=the+north": 1, "?q=nowhere": 0} {
		k.Get("/v1/ops/summary"+query, k.Ops...).Is(t, http.StatusOK).Into(t, &got)
		if got.Restaurants != want || got.States["ok"]+got.States["attention"] != want {
			t.Errorf("%s: %+v, want %d", query, got, want)
		}
	}
	k.Get("/v1/ops/summary?q="+strings.Repeat("x", 201), k.Ops...).Refused(t, http.StatusBadRequest, "invalid_parameter")
}

// A comparison names dishes and shows both values.
func TestVersionChanges(t *testing.T) {
	t.Parallel()
	w := apitest.New(t)
	raw := strings.Replace(apitest.KitchenMenu("205", "true"), `"name": "Twin B"`, `"name": "Twin C"`, 1)
	raw = strings.Replace(raw, `{"id": "p5", "externalId": "e5"`, `{"id": "p6", "externalId": "e6"`, 1)
	w.PublishAgain(raw)
	ops := w.As(apitest.ClientOps)
	type dish struct{ ID, Name string }
	type field struct {
		Field         string
		Before, After any
	}
	type changed struct {
		ID, Name string
		Fields   []field
	}
	var got struct {
		From, To       int64
		Counts         map[string]int
		Added, Removed []dish
		Changed        []changed
		Availability   []menu.Availability
	}
	w.Get(versionsPath+"/1/changes", ops...).Is(t, http.StatusOK).Into(t, &got)
	if got.From != 1 || got.To != 2 || got.Counts["added"] != 1 || got.Counts["changed"] != 2 {
		t.Errorf("got %+v", got)
	}
	if diff := cmp.Diff([]dish{{"p6", "Stopped pie"}}, got.Added); diff != "" {
		t.Errorf("added (-want +got):\n%s", diff)
	}
	if diff := cmp.Diff([]dish{{"p5", "Stopped pie"}}, got.Removed); diff != "" {
		t.Errorf("removed (-want +got):\n%s", diff)
	}
	want := []changed{
		{"p1", "Margherita", []field{{"price", 199.9, 205.0}}},
		{"p4", "Twin C", []field{{"name", "Twin B", "Twin C"}}},
	}
	if diff := cmp.Diff(want, got.Changed); diff != "" {
		t.Errorf("changed (-want +got):\n%s", diff)
	}
	if diff := cmp.Diff([]menu.Availability{{ID: "p3", Available: false}}, got.Availability); diff != "" {
		t.Errorf("availability (-want +got):\n%s", diff)
	}
	got.From, got.To, got.Added = 0, 0, nil
	w.Get(versionsPath+"/2/changes?to=1", ops...).Is(t, http.StatusOK).Into(t, &got)
	if diff := cmp.Diff([]dish{{"p5", "Stopped pie"}}, got.Added); diff != "" || got.From != 2 || got.To != 1 {
		t.Errorf("the other way round: %d to %d (-want +got):\n%s", got.From, got.To, diff)
	}
	w.Get(versionsPath+"/99/changes", ops...).Refused(t, http.StatusNotFound, "version_not_found")
	w.Get(versionsPath+"/1/changes?to=99", ops...).Refused(t, http.StatusNotFound, "version_not_found")
	w.Get(versionsPath+"/0/changes", ops...).Refused(t, http.StatusBadRequest, "invalid_parameter")
	w.Get(versionsPath+"/1/changes?to=x", ops...).Refused(t, http.StatusBadRequest, "invalid_parameter")
}
