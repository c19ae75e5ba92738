package orders_test

import (
	"net/http"
	"strings"
	"testing"

	"larder.local/httpapi"
	"larder.local/internal/testkit/apitest"
)

// paused is a fixture whose Redis has lost the orders of connection main.
func paused(t *testing.T) *apitest.OrderFixture {
	t.Helper()
	k := apitest.NewOrders(t)
	k.Place("before")
	k.RestoreRedis(t)
	k.Post(apitest.OrdersPath, apitest.Order(), append(apitest.Key("after"), k.Shop...)...).Refused(t, http.StatusServiceUnavailable, "journal_restored")
	return k
}

// TestJournalRestored_O14a: orders of the connection and their changes are paused until an operator accepts the
// journal. Replays continue. The audit log has the acceptance (policy O14a).
func TestJournalRestored_O14a(t *testing.T) {
	t.Parallel()
	k := paused(t)
	if sent := len(k.Main.Orders()); sent != 1 {
		t.Errorf("%d orders were sent, want 1", sent)
	}
	got := k.Post(apitest.OrdersPath, apitest.Order(), append(apitest.Key("before"), k.Shop...)...).Is(t, http.StatusCreated)
	var one apitest.Placed
	got.Into(t, &one)
	if got.Header.Get("Idempotent-Replayed") != "true" {
		t.Errorf("the order from before was not replayed: %v", got.Header)
	}
	compatible := "/orders/api/v1/orders/" + one.OrderID
	if err := k.Engine.Watch(t.Context(), "main"); err != nil { // as each second
		t.Fatal(err)
	}
	for _, refused := range []apitest.Reply{
		k.Get("/v1/orders/"+one.OrderID, k.Shop...), k.Get("/v1/orders?key=before", k.Shop...),
		k.Change(one.OrderID, "pay", apitest.Payment), k.Change(one.OrderID, "complete", ""), k.Put(compatible+"/pay", apitest.Payment, k.Shop...),
	} {
		if refused.Status != http.StatusServiceUnavailable || !strings.Contains(string(refused.Body), "journal_restored") {
			t.Errorf("a change or a read while paused: %d %s, want 503", refused.Status, refused.Body)
		}
	}
	k.Post("/v1/restaurants/"+apitest.North+"/orders", apitest.Order(), append(apitest.Key("k"), k.As(apitest.ClientNorth)...)...).Is(t, http.StatusCreated)

	k.Post("/v1/ops/journal/accept?connection=main", "", k.Shop...).Refused(t, http.StatusForbidden, "forbidden")
	k.Post("/v1/ops/journal/accept", "", k.Ops...).Refused(t, http.StatusBadRequest, "connection_required")
	k.Post("/v1/ops/journal/accept?connection=east", "", k.Ops...).Refused(t, http.StatusNotFound, "connection_not_found")
	for _, want := range []string{`"accepted":true`, `"accepted":false`} {
		got := k.Post("/v1/ops/journal/accept?connection=main", "", k.Ops...).Is(t, http.StatusOK)
		if !strings.Contains(string(got.Body), want) || !strings.Contains(string(got.Body), `"connection":"main"`) {
			t.Errorf("accepted: %s, want %s", got.Body, want)
		}
	}
	k.Get("/v1/orders/"+one.OrderID, k.Shop...).Is(t, http.StatusOK)
	k.Place("after")
	k.Change(one.OrderID, "pay", apitest.Payment).Is(t, http.StatusOK)
	audit := k.Get("/v1/ops/audit?action=accept_restore", k.Ops...).Is(t, http.StatusOK)
	if strings.Count(string(audit.Body), `"action":"accept_restore"`) != 1 {
		t.Errorf("the audit list has %s, want one acceptance", audit.Body)
	}
}

// TestEmptyJournal_O14a: Redis has lost all orders of the connection. Nothing acknowledged is sent again, and larder does
// not say of an order without a record that it does not exist.
func TestEmptyJournal_O14a(t *testing.T) {
	t.Parallel()
	k := apitest.NewOrders(t)
	one := k.Place("first")
	sameKey := append(apitest.Key("second"), k.Shop...)
	compatible := "/orders/api/v1/orders/" + one.OrderID + "/pay"
	k.Put(compatible, apitest.Payment, sameKey...).Is(t, http.StatusOK)
	k.EmptyJournal(t)

	notFound := func(got apitest.Reply, status int, code string) {
		t.Helper()
		if got.Status != status || !strings.Contains(string(got.Body), code) {
			t.Errorf("got %d %s; want %d %s", got.Status, got.Body, status, code)
		}
	}
	notFound(k.Put(compatible, apitest.Payment, sameKey...), http.StatusServiceUnavailable, "journal_restored")
	notFound(k.Change(one.OrderID, "pay", apitest.Payment), http.StatusServiceUnavailable, "journal_restored")
	notFound(k.Change(one.OrderID, "complete", ""), http.StatusServiceUnavailable, "journal_restored")
	notFound(k.Get("/v1/orders/"+one.OrderID, k.Shop...), http.StatusServiceUnavailable, "journal_restored")
	notFound(k.Get("/v1/orders?key=first", k.Shop...), http.StatusServiceUnavailable, "journal_restored")
	notFound(k.Get("/v1/ops/orders/"+one.Ref, k.Ops...), http.StatusServiceUnavailable, "journal_restored")
	resolve := func() apitest.Reply {
		return k.Post("/v1/ops/orders/"+one.Ref+"/resolve", `{"operation":"pay","outcome":"not_done"}`, k.Ops...)
	}
	notFound(resolve(), http.StatusServiceUnavailable, "journal_restored")
	if err := k.Engine.Watch(t.Context(), "main"); err != nil { // as each second
		t.Fatal(err)
	}
	for path, want := range map[string]string{
		"/v1/ops/orders?state=unknown": `"result":[],"next":null,"unreadable":[],"paused":["main"]`,
		"/v1/ops/summary":              `"paused":["main"]`,
	} {
		if got := k.Get(path, k.Ops...).Is(t, http.StatusOK); !strings.Contains(string(got.Body), want) {
			t.Errorf("%s: %s, want %s", path, got.Body, want)
		}
	}
	if got := k.Main.Orders(); len(got) != 1 || len(got[0].Payments) != 1 {
		t.Errorf("the service has %+v; want one order with one payment", got)
	}
	k.Post("/v1/ops/journal/accept?connection=main", "", k.Ops...).Is(t, http.StatusOK)
	notFound(k.Get("/v1/orders/"+one.OrderID, k.Shop...), http.StatusNotFound, "order_not_found")
	notFound(k.Change(one.OrderID, "pay", apitest.Payment), http.StatusNotFound, "order_not_found")
	notFound(resolve(), http.StatusNotFound, "order_not_found")
}

// TestLostOrderOfOneConnection_O14a: while one of a client's connections may have lost an order, the order of another
// connection with the same orderID may not be the one that is meant.
func TestLostOrderOfOneConnection_O14a(t *testing.T) {
	t.Parallel()
	k := apitest.NewOrders(t)
	k.Place("first")
	var placed apitest.Placed
	for _, key := range []string{"k1", "k2"} { // the second orderID is one of connection north only
		headers := append(apitest.Key(key), k.As(apitest.ClientNorth)...)
		k.Post("/v1/restaurants/"+apitest.North+"/orders", apitest.Order(), headers...).Is(t, http.StatusCreated).Into(t, &placed)
	}
	k.Get("/v1/orders/"+placed.OrderID, k.Ops...).Is(t, http.StatusOK)
	k.RestoreRedis(t)
	k.Get("/v1/orders?key=any", k.Shop...).Refused(t, http.StatusServiceUnavailable, "journal_restored")
	k.Get("/v1/orders/"+placed.OrderID, k.Ops...).Refused(t, http.StatusServiceUnavailable, "journal_restored")
	k.Get("/v1/orders/"+placed.OrderID+"?connection=north", k.Ops...).Is(t, http.StatusOK)
}

// TestJournalRestored_SendAgain_O14a: an order with an unknown outcome is not sent again while
// orders are paused, because another instance may have sent it again after the backup. Other
// resolutions are possible (policy O14a).
func TestJournalRestored_SendAgain_O14a(t *testing.T) {
	t.Parallel()
	k := apitest.NewOrders(t)
	var refs []string
	for _, name := range []string{"first", "second"} {
		k.Main.Fault(http.MethodPost, `"do":"execute_then_status","status":500`)
		refs = append(refs, k.Post(apitest.OrdersPath, apitest.Order(), append(apitest.Key(name), k.Shop...)...).
			Refused(t, http.StatusGatewayTimeout, "order_outcome_unknown").Ref)
	}
	k.RestoreRedis(t)
	resolve := func(ref, outcome string) apitest.Reply {
		return k.Post("/v1/ops/orders/"+ref+"/resolve", `{"operation":"create","outcome":"`+outcome+`"}`, k.Ops...)
	}
	resolve(refs[0], "send_again").Refused(t, http.StatusServiceUnavailable, "journal_restored")
	if one := opsOrderOf(k, refs[0]); one.State != "unknown" || len(one.Calls) != 1 || one.Calls[0].Resolved != nil {
		t.Errorf("got %+v, want it unknown as before", one)
	}
	if sent := len(k.Main.Orders()); sent != 2 {
		t.Errorf("%d orders were sent, want 2", sent)
	}
	resolve(refs[1], "not_done").Is(t, http.StatusOK)
	k.Post("/v1/ops/journal/accept?connection=main", "", k.Ops...).Is(t, http.StatusOK)
	resolve(refs[0], "send_again").Is(t, http.StatusOK)
	if sent := len(k.Main.Orders()); sent != 3 {
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
		two.Post(path, body, two.Ops...).Refused(t, status, code)
	}
	two.Post(path+"?connection=north", `{"connection":"main"}`, two.Ops...).Refused(t, http.StatusBadRequest, "invalid_parameter")
	two.Do(http.MethodPost, path, `{"connection":"main"}`, two.Ops...).Refused(t, http.StatusUnsupportedMediaType, "unsupported_media_type")
	two.Post(apitest.OrdersPath, apitest.Order(), append(apitest.Key("after"), two.Shop...)...).Refused(t, http.StatusServiceUnavailable, "journal_restored")
	for _, step := range []struct{ query, body, accepted string }{
		{"", `{"connection":"main"}`, `"accepted":true`},
		{"?connection=main", `{"connection":"main"}`, `"accepted":false`},
		{"?connection=main", `{}`, `"accepted":false`},
	} {
		got := two.Post(path+step.query, step.body, two.Ops...).Is(t, http.StatusOK)
		if !strings.Contains(string(got.Body), step.accepted) || !strings.Contains(string(got.Body), `"connection":"main"`) {
			t.Errorf("%+v: %s", step, got.Body)
		}
	}

	one := apitest.NewOrders(t, func(p *apitest.Plan) {
		p.Deps = func(d *httpapi.Deps) { d.Connections = d.Connections[:1] }
	})
	one.Post(path, `{"connection":"x"}`, one.Ops...).Refused(t, http.StatusNotFound, "connection_not_found")
	one.Post(path, `{"connecton":"main"}`, one.Ops...).Refused(t, http.StatusBadRequest, "malformed_json")
	one.Post(path, `{}`, one.Ops...).Is(t, http.StatusOK)
}

// TestReadyzNamesTheRule: readiness is decided per connection. The verbose response shows the rule
// for Redis replicas, or what is paused.
func TestReadyzNamesTheRule(t *testing.T) {
	t.Parallel()
	k := paused(t)
	for _, connection := range []string{"main", "north"} {
		if err := k.Engine.Watch(t.Context(), connection); err != nil {
			t.Fatal(err)
		}
	}
	body := string(k.Get("/readyz?verbose").Is(t, http.StatusOK).Body)
	for _, want := range []string{`"status":"degraded"`, "main: Redis was restored", "north: orders do not wait for a replica, because no replica of Redis has ever acknowledged"} {
		if !strings.Contains(body, want) {
			t.Errorf("readyz?verbose lacks %q: %s", want, body)
		}
	}
	metrics := string(k.Get("/metrics", k.Ops...).Is(t, http.StatusOK).Body)
	for _, want := range []string{
		`larder_journal_restored{connection="main"} 1`, `larder_journal_restored{connection="north"} 0`,
		`larder_orders_ready{connection="main"} 0`, `larder_orders_ready{connection="north"} 1`,
	} {
		if !strings.Contains(metrics, want) {
			t.Errorf("metrics lack %s", want)
		}
	}
	if _, err := k.Engine.AcceptRestore(t.Context(), "main"); err != nil {
		t.Fatal(err)
	}
	if body := string(k.Get("/readyz?verbose").Is(t, http.StatusOK).Body); strings.Contains(body, "restored") {
		t.Errorf("after the acceptance: %s", body)
	}
}
