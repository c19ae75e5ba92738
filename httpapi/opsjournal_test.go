package httpapi_test

import (
	"net/http"
	"strings"
	"testing"

	"larder/cache"
	"larder/httpapi"
)

// restore makes the Redis of a fixture forget the commits of connection main, as after the restore of a backup.
func (w *fixture) restore(t *testing.T) {
	t.Helper()
	state := cache.NewKeys(w.redis.Prefix()).JournalState("main")
	kept := w.redis.Client().HGetAll(t.Context(), state).Val()
	w.redis.Client().Del(t.Context(), state)
	if err := w.redis.Client().HSet(t.Context(), state, "epoch", kept["epoch"], "format", kept["format"]).Err(); err != nil {
		t.Fatal(err)
	}
}

// otherFormat changes the format of the records of a connection to that of another version of larder.
func (w *fixture) otherFormat(t *testing.T, connection string) {
	t.Helper()
	state := cache.NewKeys(w.redis.Prefix()).JournalState(connection)
	if err := w.redis.Client().HSet(t.Context(), state, "format", "4").Err(); err != nil {
		t.Fatal(err)
	}
}

// paused is a fixture whose Redis has lost the orders of connection main.
func paused(t *testing.T) *orderFixture {
	t.Helper()
	k := newOrderFixture(t)
	k.place("before")
	k.restore(t)
	k.post(ordersPath, order(), append(key("after"), k.shop...)...).refused(t, http.StatusServiceUnavailable, "journal_restored")
	return k
}

// TestJournalRestored_O14a: new orders of the connection are paused until an operator accepts the
// journal. Replays and changes are not paused. The audit log has the acceptance (policy O14a).
func TestJournalRestored_O14a(t *testing.T) {
	t.Parallel()
	k := paused(t)
	if sent := len(k.main.has()); sent != 1 {
		t.Errorf("%d orders were sent, want 1", sent)
	}
	got := k.post(ordersPath, order(), append(key("before"), k.shop...)...).is(t, http.StatusCreated)
	var one placed
	got.into(t, &one)
	if got.header.Get("Idempotent-Replayed") != "true" {
		t.Errorf("the order from before was not replayed: %v", got.header)
	}
	k.change(one.OrderID, "pay", payment).is(t, http.StatusOK)
	k.post("/v1/restaurants/"+north+"/orders", order(), append(key("k"), k.as(clientNorth)...)...).is(t, http.StatusCreated)

	k.post("/v1/ops/journal/accept?connection=main", "", k.shop...).refused(t, http.StatusForbidden, "forbidden")
	k.post("/v1/ops/journal/accept", "", k.ops...).refused(t, http.StatusBadRequest, "connection_required")
	k.post("/v1/ops/journal/accept?connection=east", "", k.ops...).refused(t, http.StatusNotFound, "connection_not_found")
	for _, want := range []string{`"accepted":true`, `"accepted":false`} {
		got := k.post("/v1/ops/journal/accept?connection=main", "", k.ops...).is(t, http.StatusOK)
		if !strings.Contains(string(got.body), want) || !strings.Contains(string(got.body), `"connection":"main"`) {
			t.Errorf("accepted: %s, want %s", got.body, want)
		}
	}
	k.place("after")
	audit := k.get("/v1/ops/audit?action=accept_restore", k.ops...).is(t, http.StatusOK)
	if strings.Count(string(audit.body), `"action":"accept_restore"`) != 1 {
		t.Errorf("the audit list has %s, want one acceptance", audit.body)
	}
}

// TestJournalRestored_SendAgain_O14a: an order with an unknown outcome is not sent again while new
// orders are paused, because another instance may have sent it again after the backup. Other
// resolutions are possible (policy O14a).
func TestJournalRestored_SendAgain_O14a(t *testing.T) {
	t.Parallel()
	k := newOrderFixture(t)
	var refs []string
	for _, name := range []string{"first", "second"} {
		k.main.fault(http.MethodPost, `"do":"execute_then_status","status":500`)
		refs = append(refs, k.post(ordersPath, order(), append(key(name), k.shop...)...).
			refused(t, http.StatusGatewayTimeout, "order_outcome_unknown").Ref)
	}
	k.restore(t)
	resolve := func(ref, outcome string) reply {
		return k.post("/v1/ops/orders/"+ref+"/resolve", `{"operation":"create","outcome":"`+outcome+`"}`, k.ops...)
	}
	resolve(refs[0], "send_again").refused(t, http.StatusServiceUnavailable, "journal_restored")
	if one := k.opsOrder(refs[0]); one.State != "unknown" || len(one.Calls) != 1 || one.Calls[0].Resolved != nil {
		t.Errorf("got %+v, want it unknown as before", one)
	}
	if sent := len(k.main.has()); sent != 2 {
		t.Errorf("%d orders were sent, want 2", sent)
	}
	resolve(refs[1], "not_done").is(t, http.StatusOK)
	k.post("/v1/ops/journal/accept?connection=main", "", k.ops...).is(t, http.StatusOK)
	resolve(refs[0], "send_again").is(t, http.StatusOK)
	if sent := len(k.main.has()); sent != 3 {
		t.Errorf("%d orders were sent, want 3", sent)
	}
}

// TestAcceptJournal_Body: the body may name the connection. Unknown fields are rejected, so that
// nobody accepts the journal of another connection by mistake.
func TestAcceptJournal_Body(t *testing.T) {
	t.Parallel()
	const path = "/v1/ops/journal/accept"
	two := paused(t)
	for body, code := range map[string]string{
		`{"connection":"east"}`:                      "connection_not_found",
		`{"connection":""}`:                          "connection_not_found",
		`{}`:                                         "connection_required",
		`{"connecton":"main"}`:                       "malformed_json",
		`{"Connection":"main"}`:                      "malformed_json",
		`{"connection":"main","restaurant":"x"}`:     "malformed_json",
		`{"connection":"main","connection":"north"}`: "malformed_json",
		`{"connection":null}`:                        "malformed_json",
		`{"connection":["main"]}`:                    "malformed_json",
		`[]`:                                         "malformed_json",
		`"main"`:                                     "malformed_json",
		`null`:                                       "malformed_json",
		`{"connection":"main"`:                       "malformed_json",
	} {
		status := http.StatusBadRequest
		if code == "connection_not_found" {
			status = http.StatusNotFound
		}
		two.post(path, body, two.ops...).refused(t, status, code)
	}
	two.post(path+"?connection=north", `{"connection":"main"}`, two.ops...).refused(t, http.StatusBadRequest, "invalid_parameter")
	two.do(http.MethodPost, path, `{"connection":"main"}`, two.ops...).refused(t, http.StatusUnsupportedMediaType, "unsupported_media_type")
	two.post(ordersPath, order(), append(key("after"), two.shop...)...).refused(t, http.StatusServiceUnavailable, "journal_restored")
	for _, step := range []struct{ query, body, accepted string }{
		{"", `{"connection":"main"}`, `"accepted":true`},
		{"?connection=main", `{"connection":"main"}`, `"accepted":false`},
		{"?connection=main", `{}`, `"accepted":false`},
	} {
		got := two.post(path+step.query, step.body, two.ops...).is(t, http.StatusOK)
		if !strings.Contains(string(got.body), step.accepted) || !strings.Contains(string(got.body), `"connection":"main"`) {
			t.Errorf("%+v: %s", step, got.body)
		}
	}

	one := newOrderFixture(t, func(p *plan) {
		p.deps = func(d *httpapi.Deps) { d.Connections = d.Connections[:1] }
	})
	one.post(path, `{"connection":"x"}`, one.ops...).refused(t, http.StatusNotFound, "connection_not_found")
	one.post(path, `{"connecton":"main"}`, one.ops...).refused(t, http.StatusBadRequest, "malformed_json")
	one.post(path, `{}`, one.ops...).is(t, http.StatusOK)
}

// TestReadyzNamesTheRule: readiness is decided per connection. The verbose response shows the rule
// for Redis replicas, or what is paused.
func TestReadyzNamesTheRule(t *testing.T) {
	t.Parallel()
	k := paused(t)
	for _, connection := range []string{"main", "north"} {
		if err := k.engine.Watch(t.Context(), connection); err != nil {
			t.Fatal(err)
		}
	}
	body := string(k.get("/readyz?verbose").is(t, http.StatusOK).body)
	for _, want := range []string{`"status":"degraded"`, "main: Redis was restored", "north: orders do not wait for a replica, because no replica of Redis has ever acknowledged"} {
		if !strings.Contains(body, want) {
			t.Errorf("readyz?verbose lacks %q: %s", want, body)
		}
	}
	metrics := string(k.get("/metrics", k.ops...).is(t, http.StatusOK).body)
	for _, want := range []string{
		`larder_journal_restored{connection="main"} 1`, `larder_journal_restored{connection="north"} 0`,
		`larder_orders_ready{connection="main"} 0`, `larder_orders_ready{connection="north"} 1`,
	} {
		if !strings.Contains(metrics, want) {
			t.Errorf("metrics lack %s", want)
		}
	}
	if _, err := k.engine.AcceptRestore(t.Context(), "main"); err != nil {
		t.Fatal(err)
	}
	if body := string(k.get("/readyz?verbose").is(t, http.StatusOK).body); strings.Contains(body, "restored") {
		t.Errorf("after the acceptance: %s", body)
	}
}
