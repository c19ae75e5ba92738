package httpapi_test

import (
	"encoding/json"
	"net/http"
	"strconv"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/redis/go-redis/v9"

	"larder/cache"
)

// auditRow is an entry of the audit log.
type auditRow struct {
	ID, At, Client, Via, Action, RequestID          string
	Connection, Restaurant, Run, Batch, Ref, Detail *string
	RestaurantName                                  *string
	Version                                         *int64
}

func (w *fixture) auditOf(query string, headers ...string) (rows []auditRow, next *string) {
	w.t.Helper()
	got := w.get("/v1/ops/audit"+query, headers...).is(w.t, http.StatusOK)
	var page struct {
		Result []auditRow
		Next   *string
	}
	if err := json.Unmarshal(got.body, &page); err != nil || page.Result == nil {
		w.t.Fatalf("%v in %s", err, got.body)
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
	k := newOrderFixture(t)
	k.schedule()
	ref := k.lost("1")
	signedIn := k.signIn(clientOps)
	run := runRow{}
	k.do(http.MethodPost, syncPath+"?wait=30s", "", signedIn...).is(t, http.StatusOK).into(t, &run)
	k.post(syncPath+"?wait=30s", `{"force": true}`, signedIn...).is(t, http.StatusOK)
	k.post(rollbackPath, `{"version": 1}`, signedIn...).is(t, http.StatusOK)
	k.do(http.MethodDelete, holdPath+"?wait=30s", "", signedIn...).is(t, http.StatusOK)
	k.post("/v1/ops/orders/"+ref+"/resolve", `{"operation": "create", "outcome": "not_done", "note": "never came"}`, signedIn...).is(t, http.StatusOK)
	k.do(http.MethodPost, "/v1/ops/sync", "", k.as(clientNorth)...).is(t, http.StatusAccepted)
	k.post("/v1/ops/sync", `{"force": true}`, k.ops...).is(t, http.StatusAccepted)
	k.do(http.MethodPost, "/v1/ops/restaurants/nowhere/sync", "", signedIn...).refused(t, http.StatusNotFound, "restaurant_not_found")
	k.post(rollbackPath, `{"version": 99}`, signedIn...).refused(t, http.StatusNotFound, "version_not_found")
	k.post(sessionPath, signInBody(clientOps, "wrong")).refused(t, http.StatusUnauthorized, "unauthorized")
	k.do(http.MethodDelete, sessionPath, "", signedIn...).is(t, http.StatusNoContent)

	rows, next := k.auditOf("", k.ops...)
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
	rows, _ = k.auditOf("", k.as(clientNorth)...)
	if diff := cmp.Diff([]string{"sync_all by north via token"}, auditLines(rows)); diff != "" {
		t.Errorf("what north sees (-want +got):\n%s", diff)
	}
	for query, want := range map[string]int{
		"?action=force": 1, "?client=north": 1, "?restaurant=" + bistro: 5, "?restaurant=nowhere": 0, "?action=sync&client=north": 0,
	} {
		if rows, _ := k.auditOf(query, k.ops...); len(rows) != want {
			t.Errorf("%s: %v, want %d", query, auditLines(rows), want)
		}
	}
	var paged []string
	for query := "?limit=2"; query != ""; {
		rows, next := k.auditOf(query, k.ops...)
		paged = append(paged, auditLines(rows)...)
		if query = ""; next != nil {
			query = "?limit=2&cursor=" + *next
		}
	}
	if diff := cmp.Diff(want, paged); diff != "" {
		t.Errorf("page by page (-want +got):\n%s", diff)
	}
	for _, query := range []string{"?action=dance", "?limit=0", "?cursor=%21", "?cursor=bm9wZQ", "?cursor=MS0"} {
		k.get("/v1/ops/audit"+query, k.ops...).refused(t, http.StatusBadRequest, "invalid_parameter")
	}
	k.get("/v1/ops/audit").refused(t, http.StatusUnauthorized, "unauthorized")
}

// An entry has the name of its restaurant if the caller may see the restaurant.
func TestAudit_RestaurantName(t *testing.T) {
	t.Parallel()
	w := newFixture(t)
	key := cache.NewKeys(w.redis.Prefix()).OpsAudit()
	for _, restaurant := range []string{`"` + bistro + `"`, `"@main"`, `"removed"`, `null`, `"` + north + `"`} {
		text := `{"at": "2026-01-02T03:04:05.000Z", "client": "north", "via": "token", "action": "sync", "restaurant": ` + restaurant + `}`
		if err := w.redis.NoRetry().XAdd(t.Context(), &redis.XAddArgs{Stream: key, Values: []any{"d", text}}).Err(); err != nil {
			t.Fatal(err)
		}
	}
	for client, want := range map[string][]string{
		clientOps:   {"The " + north, "", "", "", "The " + bistro},
		clientNorth: {"The " + north, "", "", "", ""}, // its own action, of a restaurant that it does not see
	} {
		rows, _ := w.auditOf("", w.as(client)...)
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

// Entries that cannot be decoded are skipped. Older entries are still listed, each once.
func TestAuditBeyondUnreadableEntries(t *testing.T) {
	t.Parallel()
	w := newFixture(t)
	const readable = 1100
	key := cache.NewKeys(w.redis.Prefix()).OpsAudit()
	write := func(pipe redis.Pipeliner, text string) {
		pipe.XAdd(t.Context(), &redis.XAddArgs{Stream: key, Values: []any{"d", text}})
	}
	_, err := w.redis.NoRetry().Pipelined(t.Context(), func(pipe redis.Pipeliner) error {
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
		rows, next := w.auditOf(query, w.as(clientOps)...)
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
