package audit_test

import (
	"encoding/json"
	"fmt"
	"net/http"
	"strconv"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/redis/go-redis/v9"

	"larder.local/cache"
	"larder.local/internal/menu"
	"larder.local/internal/testkit/apitest"
)

// auditRow is an entry of the audit log.
type auditRow struct {
	ID, At, Client, Via, Action, RequestID          string
	Connection, Restaurant, Run, Batch, Ref, Detail *string
	RestaurantName                                  *string
	Version                                         *int64
}

func auditOf(w *apitest.Fixture, query string, headers ...string) (rows []auditRow, next *string) {
	w.T.Helper()
	got := w.Get("/v1/ops/audit"+query, headers...).Is(w.T, http.StatusOK)
	var page struct {
		Result []auditRow
		Next   *string
	}
	if err := json.Unmarshal(got.Body, &page); err != nil || page.Result == nil {
		w.T.Fatalf("%v in %s", err, got.Body)
	}
	return page.Result, page.Next
}

// auditLines returns one line per row.
func auditLines(rows []auditRow) []string {
	lines := []string{}
	for _, row := range rows {
		line := row.Action + " by " + row.Client + " via " + row.Via
		if row.Restaurant != nil {
			line += " of " + *row.Restaurant
		}
		if row.Version != nil {
			line += " to " + strconv.FormatInt(*row.Version, 10)
		}
		if row.Detail != nil {
			line += " (" + *row.Detail + ")"
		}
		lines = append(lines, line)
	}
	return lines
}

// Every action of an operator is in the audit log with its client, in order. Rejected actions are
// not.
func TestAudit(t *testing.T) {
	t.Parallel()
	k := apitest.NewOrders(t)
	k.Schedule()
	ref := k.LostOrder("1")
	signedIn := k.SignIn(apitest.ClientOps)
	run := apitest.RunRow{}
	k.Do(http.MethodPost, apitest.SyncPath+"?wait=30s", "", signedIn...).Is(t, http.StatusOK).Into(t, &run)
	k.Post(apitest.SyncPath+"?wait=30s", `{"force": true}`, signedIn...).Is(t, http.StatusOK)
	k.Post(apitest.RollbackPath, `{"version": 1}`, signedIn...).Is(t, http.StatusOK)
	k.Do(http.MethodDelete, apitest.HoldPath+"?wait=30s", "", signedIn...).Is(t, http.StatusOK)
	k.Post("/v1/ops/orders/"+ref+"/resolve", `{"operation": "create", "outcome": "not_done", "note": "never came"}`, signedIn...).Is(t, http.StatusOK)
	k.Do(http.MethodPost, "/v1/ops/sync", "", k.As(apitest.ClientNorth)...).Is(t, http.StatusAccepted)
	k.Post("/v1/ops/sync", `{"force": true}`, k.Ops...).Is(t, http.StatusAccepted)
	k.Do(http.MethodPost, "/v1/ops/restaurants/nowhere/sync", "", signedIn...).Refused(t, http.StatusNotFound, "restaurant_not_found")
	k.Post(apitest.RollbackPath, `{"version": 99}`, signedIn...).Refused(t, http.StatusNotFound, "version_not_found")
	k.Post(apitest.SessionPath, apitest.SignInBody(apitest.ClientOps, "wrong")).Refused(t, http.StatusUnauthorized, "unauthorized")
	k.Do(http.MethodDelete, apitest.SessionPath, "", signedIn...).Is(t, http.StatusNoContent)

	rows, next := auditOf(k.Fixture, "", k.Ops...)
	want := []string{
		"sign_out by ops via session",
		"force_all by ops via token",
		"sync_all by north via token",
		"resolve by ops via session of bistro (create: not_done)",
		"release by ops via session of bistro",
		"rollback by ops via session of bistro to 1 (hold: next_change)",
		"force by ops via session of bistro",
		"sync by ops via session of bistro",
		"sign_in by ops via session",
	}
	if diff := cmp.Diff(want, auditLines(rows)); diff != "" || next != nil {
		t.Errorf("next %v (-want +got):\n%s", next, diff)
	}
	synced := rows[7]
	if synced.Run == nil || *synced.Run != run.ID || synced.At == "" || synced.RequestID == "" || rows[3].Ref == nil || *rows[3].Ref != ref || rows[1].Batch == nil {
		t.Errorf("a sync %+v, a resolution %+v, a batch %+v", synced, rows[3], rows[1])
	}
	// The connection is that of the action, or null for all connections or none.
	if of := synced.Connection; of == nil || *of != "main" {
		t.Errorf("a sync is of connection %v", of)
	}
	if of := rows[2].Connection; of == nil || *of != "north" {
		t.Errorf("north's sync_all is of connection %v", of)
	}
	if rows[1].Connection != nil || rows[8].Connection != nil {
		t.Errorf("force_all is of connection %v, sign_in of %v, want null", rows[1].Connection, rows[8].Connection)
	}
	// A client with one connection sees the entries of that connection and its own entries.
	rows, _ = auditOf(k.Fixture, "", k.As(apitest.ClientNorth)...)
	if diff := cmp.Diff([]string{"sync_all by north via token"}, auditLines(rows)); diff != "" {
		t.Errorf("what north sees (-want +got):\n%s", diff)
	}
	for query, want := range map[string]int{
		"?action=force": 1, "?client=north": 1, "?restaurant=" + apitest.Bistro: 5, "?restaurant=nowhere": 0, "?action=sync&client=north": 0,
	} {
		if rows, _ := auditOf(k.Fixture, query, k.Ops...); len(rows) != want {
			t.Errorf("%s: %v, want %d", query, auditLines(rows), want)
		}
	}
	var paged []string
	for query := "?limit=2"; query != ""; {
		rows, next := auditOf(k.Fixture, query, k.Ops...)
		paged = append(paged, auditLines(rows)...)
		if query = ""; next != nil {
			query = "?limit=2&cursor=" + *next
		}
	}
	if diff := cmp.Diff(want, paged); diff != "" {
		t.Errorf("page by page (-want +got):\n%s", diff)
	}
	for _, query := range []string{"?action=dance", "?limit=0", "?cursor=%21", "?cursor=bm9wZQ", "?cursor=MS0"} {
		k.Get("/v1/ops/audit"+query, k.Ops...).Refused(t, http.StatusBadRequest, "invalid_parameter")
	}
	k.Get("/v1/ops/audit").Refused(t, http.StatusUnauthorized, "unauthorized")
}

// An entry has the name of its restaurant if the caller may see the restaurant.
func TestAudit_RestaurantName(t *testing.T) {
	t.Parallel()
	w := apitest.New(t)
	key := cache.NewKeys(w.Redis.Prefix()).OpsAudit()
	for _, restaurant := range []string{`"` + apitest.Bistro + `"`, `"@main"`, `"removed"`, `null`, `"` + apitest.North + `"`} {
		text := `{"at": "2026-01-02T03:04:05.000Z", "client": "north", "via": "token", "action": "sync", "restaurant": ` + restaurant + `}`
		if err := w.Redis.NoRetry().XAdd(t.Context(), &redis.XAddArgs{Stream: key, Values: []any{"d", text}}).Err(); err != nil {
			t.Fatal(err)
		}
	}
	for client, want := range map[string][]string{
		apitest.ClientOps:   {"The " + apitest.North, "", "", "", "The " + apitest.Bistro},
		apitest.ClientNorth: {"The " + apitest.North, "", "", "", ""}, // its own action, of a restaurant that it does not see
	} {
		rows, _ := auditOf(w, "", w.As(client)...)
		names := make([]string, len(rows))
		for i, row := range rows {
			if row.RestaurantName != nil {
				names[i] = *row.RestaurantName
			}
		}
		if diff := cmp.Diff(want, names); diff != "" {
			t.Errorf("client %s (-want +got):\n%s", client, diff)
		}
	}
}

// The time of an entry is that of its id. A period has all pages, and combines with the other filters.
func TestAuditOfADay(t *testing.T) {
	t.Parallel()
	w := apitest.New(t)
	key := cache.NewKeys(w.Redis.Prefix()).OpsAudit()
	day := time.Date(2026, 11, 20, 0, 0, 0, 0, time.UTC)
	for _, at := range []time.Time{day.Add(-1e6), day, day.Add(time.Hour), day.Add(24*time.Hour - 1e6), day.Add(24 * time.Hour)} {
		for i, client := range []string{"anna", "ben"} {
			text := `{"at": "` + menu.FormatTime(at) + `", "client": "` + client + `", "via": "token", "action": "sync"}`
			add := &redis.XAddArgs{Stream: key, ID: fmt.Sprintf("%d-%d", at.UnixMilli(), i+1), Values: []any{"d", text}}
			if err := w.Redis.NoRetry().XAdd(t.Context(), add).Err(); err != nil {
				t.Fatal(err)
			}
		}
	}
	ops := w.As(apitest.ClientOps)
	all := func(query string) (found []string) {
		for cursor := ""; ; {
			rows, next := auditOf(w, "?limit=1&"+query+cursor, ops...)
			for _, row := range rows {
				found = append(found, row.Client+" "+row.At)
			}
			if next == nil {
				return found
			}
			cursor = "&cursor=" + *next
		}
	}
	const from, to = "from=2026-11-20T00:00:00Z", "to=2026-11-21T00:00:00Z"
	want := []string{"ben 2026-11-20T23:59:59.999Z", "ben 2026-11-20T01:00:00.000Z", "ben 2026-11-20T00:00:00.000Z"}
	if diff := cmp.Diff(want, all(from+"&"+to+"&client=ben&action=sync")); diff != "" {
		t.Errorf("the day of ben (-want +got):\n%s", diff)
	}
	for query, want := range map[string]int{from: 8, to: 8, "from=2026-11-20T03:00:00%2B03:00&" + to: 6, "from=2026-11-22T00:00:00Z": 0} {
		if got := all(query); len(got) != want {
			t.Errorf("%s: %v, want %d", query, got, want)
		}
	}
	for _, query := range []string{"from=yesterday", "to=2026-11-20", "to=1970-01-01T00:00:00Z", from + "&to=2026-11-20T00:00:00Z"} {
		w.Get("/v1/ops/audit?"+query, ops...).Refused(t, http.StatusBadRequest, "invalid_parameter")
	}
}

// Entries that cannot be decoded are skipped. Older entries are still listed, each once.
func TestAuditBeyondUnreadableEntries(t *testing.T) {
	t.Parallel()
	w := apitest.New(t)
	const readable = 1100
	key := cache.NewKeys(w.Redis.Prefix()).OpsAudit()
	write := func(pipe redis.Pipeliner, text string) {
		pipe.XAdd(t.Context(), &redis.XAddArgs{Stream: key, Values: []any{"d", text}})
	}
	_, err := w.Redis.NoRetry().Pipelined(t.Context(), func(pipe redis.Pipeliner) error {
		for i := range readable {
			write(pipe, `{"at": "2026-01-02T03:04:05.000Z", "client": "ops", "via": "token", "action": "sync", "detail": "`+strconv.Itoa(i)+`"}`)
			if i%200 == 0 {
				write(pipe, `{"action": 1}`)
			}
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	want := readable
	for query := "?limit=500"; query != ""; {
		rows, next := auditOf(w, query, w.As(apitest.ClientOps)...)
		for _, row := range rows {
			if want--; row.Detail == nil || *row.Detail != strconv.Itoa(want) {
				t.Fatalf("%+v, want the entry %d", row, want)
			}
		}
		if query = ""; next != nil {
			query = "?limit=500&cursor=" + *next
		}
	}
	if want != 0 {
		t.Errorf("%d entries are not listed", want)
	}
}
