package ops_test

import (
	"encoding/json"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"larder.local/cache"
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
	LastRunAt *time.Time
	Cause     *string
	Hold      *string
	LastRun   *apitest.RunRow
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

// The list is sorted on the server, page by page, and a row has the end of its last run and the cause of a failure.
func TestOpsRestaurantsSorted(t *testing.T) {
	t.Parallel()
	w := apitest.New(t, func(p *apitest.Plan) { p.Unsynced = true })
	last := time.Time{}
	syncLater := func(id string) runlog.Run { // requested in a later millisecond than the one before ended
		run := w.SyncOnce(id)
		for !time.UnixMilli(runlog.IDTime(run.ID)).After(last) {
			run = w.SyncOnce(id)
		}
		last = run.FinishedAt
		return run
	}
	first := syncLater(apitest.North) // the oldest menu, and the latest run
	syncLater(apitest.Bistro)
	missing := syncLater(apitest.Empty)
	w.Service.SetMenu(apitest.North, `{"name": "x", "products": []}`)
	refused := syncLater(apitest.North)
	if err := w.Replica.Poll(t.Context()); err != nil {
		t.Fatal(err)
	}
	ops := w.As(apitest.ClientOps)
	for order, want := range map[string][]string{
		"name":     {apitest.Bistro, apitest.Empty, apitest.North},
		"state":    {apitest.Empty, apitest.North, apitest.Bistro},
		"age":      {apitest.Empty, apitest.North, apitest.Bistro},
		"last-run": {apitest.North, apitest.Empty, apitest.Bistro},
	} {
		var ids []string
		for query := "?limit=1&sort=" + order; query != ""; {
			rows, next := opsRows(w, query, ops...)
			if ids, query = append(ids, idsOf(rows)...), ""; next != nil {
				query = "?limit=1&sort=" + order + "&cursor=" + *next
			}
		}
		if !slices.Equal(ids, want) {
			t.Errorf("sort=%s: %v, want %v", order, ids, want)
		}
	}
	rows, _ := opsRows(w, "?sort=state&state=quarantined", ops...)
	if len(rows) != 1 || rows[0].Cause == nil || *rows[0].Cause != refused.Error || !rows[0].LastRunAt.After(first.FinishedAt) {
		t.Errorf("the quarantined one: %+v, want %q", rows, refused.Error)
	}
	rows, _ = opsRows(w, "", ops...)
	if rows[0].Cause != nil || rows[0].LastRunAt == nil || rows[1].Cause == nil || *rows[1].Cause != missing.Error {
		t.Errorf("got %+v, want no cause, then %q", rows, missing.Error)
	}
	w.Service.SetMenu(apitest.North, apitest.FullMenu)
	w.SyncOnce(apitest.North)
	if rows, _ = opsRows(w, "?q=north", ops...); rows[0].Cause != nil || len(rows[0].States) != 0 {
		t.Errorf("after a good run: %+v", rows)
	}
	w.Get("/v1/ops/restaurants?sort=size", ops...).Refused(t, http.StatusBadRequest, "invalid_parameter")
}

// The changes of all menus are listed by time, each with two versions that can be compared. Changes of stop lists are not
// listed, and do not break the comparison.
func TestChangesOfAllMenus(t *testing.T) {
	t.Parallel()
	w := apitest.New(t)
	w.PublishAgain(apitest.KitchenMenu("205", "[]"))
	w.PublishAgain(apitest.KitchenMenu("205", "true")) // in place of version 2
	w.PublishAgain(apitest.KitchenMenu("210", "true"))
	type row struct {
		Run struct {
			apitest.RunRow
			From *int64
		}
		RestaurantName *string
	}
	changes := func(query string, headers ...string) (lines []string) {
		t.Helper()
		for cursor := ""; ; {
			var page struct {
				Result []row
				Next   *string
			}
			got := w.Get("/v1/ops/changes"+query+cursor, headers...).Is(t, http.StatusOK)
			if err := json.Unmarshal(got.Body, &page); err != nil {
				t.Fatal(err)
			}
			for _, one := range page.Result {
				line := *one.RestaurantName + " to " + strconv.Itoa(one.Run.Version)
				if one.Run.From != nil {
					line += " from " + strconv.FormatInt(*one.Run.From, 10)
				}
				lines = append(lines, line)
			}
			if page.Next == nil {
				return lines
			}
			cursor = "&cursor=" + *page.Next
		}
	}
	ops := w.As(apitest.ClientOps)
	got := changes("?limit=1", ops...)
	if want := []string{"The bistro to 4 from 3", "The bistro to 2 from 1"}; len(got) != 4 || !slices.Equal(got[:2], want) {
		t.Errorf("got %v, want %v and the first versions of two restaurants", got, want)
	}
	if got := changes("?limit=9", w.As(apitest.ClientNorth)...); !slices.Equal(got, []string{"The north-1 to 1"}) {
		t.Errorf("a client of one connection sees %v", got)
	}
	now := time.Now().UTC()
	for query, want := range map[string]int{
		"?from=" + now.Add(-time.Hour).Format(time.RFC3339) + "&to=" + now.Add(time.Hour).Format(time.RFC3339): 4,
		"?to=" + now.Add(-time.Hour).Format(time.RFC3339):                                                      0,
		"?from=" + now.Add(time.Hour).Format(time.RFC3339):                                                     0,
	} {
		if got := changes(query, ops...); len(got) != want {
			t.Errorf("%s: %v, want %d", query, got, want)
		}
	}
	w.Get("/v1/ops/changes?from=yesterday", ops...).Refused(t, http.StatusBadRequest, "invalid_parameter")
	w.Get("/v1/ops/changes").Refused(t, http.StatusUnauthorized, "unauthorized")

	if err := w.Redis.Client().Del(t.Context(), cache.NewKeys(w.Redis.Prefix()).Record(apitest.Bistro, 2)).Err(); err != nil {
		t.Fatal(err) // as ten minutes after it was replaced
	}
	var compared struct {
		From, To int64
		Counts   map[string]int
	}
	w.Get(versionsPath+"/1/changes?to=2", ops...).Is(t, http.StatusOK).Into(t, &compared)
	if compared.From != 1 || compared.To != 3 || compared.Counts["changed"] != 1 {
		t.Errorf("compared: %+v, want version 3 in place of 2", compared)
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
	if got.Restaurants == 0 || got.UnknownOrders == nil || *got.UnknownOrders != 1 || got.MoreUnknownOrders || got.States["ok"]+got.States["attention"] != got.Restaurants || len(got.States) != 9 {
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
