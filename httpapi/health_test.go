package httpapi_test

import (
	"context"
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"larder/cache"
	"larder/httpapi/auth"
	"larder/internal/testkit/redistest"
)

type ready struct {
	Status string
	Parts  *struct {
		Redis, Journal, Catalogues struct {
			OK  bool
			Msg string
		}
		Connections map[string]struct {
			OK  bool
			Msg string
		}
	}
}

func (w *fixture) ready(status int) ready {
	w.t.Helper()
	got := w.get("/readyz?verbose").is(w.t, status)
	var state ready
	if err := json.Unmarshal(got.body, &state); err != nil {
		w.t.Fatal(err)
	}
	if got.header.Get("Cache-Control") != "no-store" {
		w.t.Errorf("readyz may be cached: %v", got.header)
	}
	return state
}

func TestReadyAfterTheStart(t *testing.T) {
	t.Parallel()
	w := newFixture(t, func(p *plan) { p.unsynced = true })
	w.get("/livez").is(t, http.StatusOK)
	if got := w.ready(http.StatusServiceUnavailable); got.Status != "unready" || got.Parts.Catalogues.OK {
		t.Errorf("before any menu: %+v", got)
	}
	w.syncOnce(bistro)
	if got := w.ready(http.StatusServiceUnavailable); got.Status != "unready" {
		t.Errorf("two restaurants have not been tried: %+v", got)
	}
	w.syncOnce(north)
	w.syncOnce(empty) // fails; a failed run counts as tried
	if got := w.ready(http.StatusOK); got.Status != "degraded" || !got.Parts.Redis.OK || got.Parts.Catalogues.OK || got.Parts.Catalogues.Msg != "no menu yet for 1 of 3 restaurants: The empty ("+empty+")" {
		t.Errorf("every restaurant was tried: %+v", got)
	}
	// The restaurant never had a menu. Only its run shows that the ordering service returned none.
	if got := w.ready(http.StatusOK).Parts.Connections; got["main"].OK || got["main"].Msg != "the last sync of 1 restaurant failed: The empty ("+empty+")" || !got["north"].OK {
		t.Errorf("the first sync of %s failed: connections %+v", empty, got)
	}
	if body := w.get("/readyz").is(t, http.StatusOK).body; string(body) != `{"status":"degraded"}` {
		t.Errorf("not verbose: %s", body)
	}
	w.service.setMenu(empty, fullMenu)
	w.syncOnce(empty)
	if got := w.ready(http.StatusOK); got.Status != "ok" || !got.Parts.Catalogues.OK || !got.Parts.Connections["main"].OK {
		t.Errorf("all is well: %+v", got)
	}
	w.service.setMenu(bistro, "")
	w.syncOnce(bistro)
	if err := w.replica.Poll(t.Context()); err != nil {
		t.Fatal(err)
	}
	if got := w.ready(http.StatusOK); got.Status != "degraded" || got.Parts.Connections["main"].OK || !got.Parts.Connections["north"].OK {
		t.Errorf("a sync failed: %+v", got)
	}
}

func TestReadyAfterHalfAMinuteWithOneMenu(t *testing.T) {
	t.Parallel()
	w := newFixture(t, func(p *plan) { p.unsynced = true })
	w.ahead(31 * time.Second)
	w.ready(http.StatusServiceUnavailable)
	w.syncOnce(bistro)
	w.ready(http.StatusOK)
}

// An instance is ready only when it has the signing key: otherwise it would answer 503 to the tokens of other
// instances if Redis became unreachable.
func TestReadyWithTheSigningKey(t *testing.T) { // policy H2
	t.Parallel()
	server := redistest.Start(t)
	const prefix = "larder"
	key := cache.NewKeys(prefix).SigningKey()
	if err := server.Client().LPush(t.Context(), key, "not a key").Err(); err != nil {
		t.Fatal(err)
	}
	w := newFixture(t, func(p *plan) { p.redis.URL, p.redis.Prefix = server.URL(), prefix })
	if got := w.ready(http.StatusServiceUnavailable); got.Status != "unready" || !got.Parts.Redis.OK {
		t.Errorf("without the key: %+v", got)
	}
	if err := server.Client().Del(t.Context(), key).Err(); err != nil {
		t.Fatal(err)
	}
	w.ahead(2 * time.Second) // after a failure, the key is read again after a second
	w.ready(http.StatusOK)
}

func TestReadyNamesVolatility(t *testing.T) { // policy O14
	t.Parallel()
	for volatile, ok := range map[bool]bool{true: true, false: false} {
		w := newFixture(t, func(p *plan) { p.ordering.AllowNonDurable = volatile })
		got := w.ready(http.StatusOK)
		if got.Parts.Journal.OK != ok || !strings.Contains(got.Parts.Journal.Msg, "ordering.allow_non_durable") || !strings.Contains(got.Parts.Redis.Msg, "embedded") {
			t.Errorf("allow_non_durable %v: %+v", volatile, got.Parts)
		}
	}
}

// A journal that could lose orders makes larder degraded only if a client may place orders.
func TestReadyCountsTheJournalWhereOrdersAreTaken(t *testing.T) {
	t.Parallel()
	all := func(p *plan) { p.ordering.AllowNonDurable = false }
	for name, test := range map[string]struct {
		change func(*plan)
		want   string
	}{
		"clients place": {all, "degraded"},
		"guests place": {func(p *plan) {
			all(p)
			readersOnly(p)
			p.auth.PublicOrders.Enabled, p.auth.PublicOrders.Origins = true, []string{"https://shop.example"}
		}, "degraded"},
		"nobody places":  {func(p *plan) { all(p); readersOnly(p) }, "ok"},
		"nothing is odd": {func(*plan) {}, "ok"},
	} {
		w := newFixture(t, func(p *plan) { p.unsynced = true }, test.change)
		w.service.setMenu(empty, fullMenu)
		for _, restaurant := range []string{bistro, north, empty} {
			w.syncOnce(restaurant)
		}
		if body := w.get("/readyz").is(t, http.StatusOK).body; string(body) != `{"status":"`+test.want+`"}` {
			t.Errorf("%s: %s, want %s", name, body, test.want)
		}
	}
}

// readersOnly keeps only the clients that may not place orders.
func readersOnly(p *plan) {
	p.auth.Clients = []auth.ClientConfig{{ID: clientRead, Secret: secretOf(clientRead), Scopes: []auth.Scope{"menu", "ops"}}}
}

// Without Redis, catalogues in memory are served as before, and /readyz reports the problem.
func TestReadsContinueWithoutRedis(t *testing.T) { // policy S5
	t.Parallel()
	server := redistest.Start(t)
	w := newFixture(t, func(p *plan) { p.redis.URL = server.URL() })
	paths := []string{menuPath, "/v1/restaurants/bistro/products", "/v1/restaurants/bistro/products/p1"}
	before := map[string]reply{}
	for _, path := range paths {
		before[path] = w.get(path).is(t, http.StatusOK)
	}
	if err := w.store.SaveReasons(t.Context(), "main", []byte(`[]`)); err != nil {
		t.Fatal(err)
	}
	w.get("/v1/rejection-reasons?connection=main").is(t, http.StatusOK)
	ops := w.as(clientOps)
	w.ready(http.StatusOK)

	server.Stop()
	for _, path := range paths {
		if got := w.get(path).is(t, http.StatusOK); string(got.body) != string(before[path].body) {
			t.Errorf("%s: another body without Redis", path)
		}
	}
	var rows []struct {
		ID      string
		Version *int
	}
	w.get("/v1/restaurants").is(t, http.StatusOK).into(t, &rows)
	if len(rows) != 3 || rows[0].Version == nil {
		t.Errorf("restaurants: %+v", rows)
	}
	w.get("/v1/rejection-reasons?connection=main").is(t, http.StatusOK)
	w.post(validatePath, order()).is(t, http.StatusOK)
	if got := w.ready(http.StatusOK); got.Status != "degraded" || got.Parts.Redis.OK || got.Parts.Redis.Msg != "does not answer: connection refused" || got.Parts.Journal.Msg != "Redis does not answer: connection refused" {
		t.Errorf("readyz: %+v", got)
	}
	for _, path := range []string{"/v1/ops/runs", "/v1/ops/restaurants/bistro/lint"} {
		got := w.get(path, ops...)
		got.refused(t, http.StatusServiceUnavailable, "storage_unavailable")
		if got.header.Get("Retry-After") == "" || strings.Contains(string(got.body), "127.0.0.1") {
			t.Errorf("%s: %v %s", path, got.header, got.body)
		}
	}
	w.do(http.MethodPost, syncPath, "", ops...).refused(t, http.StatusServiceUnavailable, "storage_unavailable")
	server.Restart() // empty, because Redis stores nothing on disk
	w.get("/v1/ops/runs", ops...).is(t, http.StatusOK)
	rows[0].Version = nil
	w.get("/v1/restaurants").is(t, http.StatusOK).into(t, &rows)
	if len(rows) != 3 || rows[0].Version == nil {
		t.Errorf("restaurants after Redis lost its data: %+v, want what is served", rows)
	}
}

// A Redis that hangs is harder to detect than one that is down, because no connection is refused.
func TestListsAreNotHeldUpByARedisThatHangs(t *testing.T) { // policy S5
	t.Parallel()
	server := redistest.Start(t)
	w := newFixture(t, func(p *plan) { p.redis.URL = server.URL() })
	if err := w.store.SaveReasons(t.Context(), "main", []byte(`[]`)); err != nil {
		t.Fatal(err)
	}
	paths := []string{"/v1/rejection-reasons?connection=main", "/v1/restaurants"}
	for _, path := range paths {
		w.get(path).is(t, http.StatusOK)
	}
	if err := server.Client().ClientPause(t.Context(), time.Hour).Err(); err != nil {
		t.Fatal(err)
	}
	redisTimeout := make(chan time.Duration, 1) // the reference
	go func() {
		begun := time.Now()
		_, _, _ = w.store.Reasons(t.Context(), "main")
		redisTimeout <- time.Since(begun)
	}()
	took := map[string]time.Duration{}
	for _, path := range paths {
		begun := time.Now()
		w.get(path).is(t, http.StatusOK)
		took[path] = time.Since(begun)
	}
	reference := <-redisTimeout
	for path, took := range took {
		if took > reference/4 {
			t.Errorf("%s: answered from memory after %v; a command of Redis fails after %v", path, took, reference)
		}
	}
}

// A client that disconnects does not cause an error of larder.
func TestALeftClientIsNoFailure(t *testing.T) {
	t.Parallel()
	w := newFixture(t, func(p *plan) { p.unsynced = true })
	ctx, leave := context.WithCancel(t.Context())
	leave()
	answer := httptest.NewRecorder()
	w.server.Handler().ServeHTTP(answer, httptest.NewRequestWithContext(ctx, http.MethodGet, "/v1/restaurants/"+bistro+"/menu", http.NoBody))
	if answer.Code != 499 {
		t.Errorf("got %d %s", answer.Code, answer.Body)
	}
	for _, entry := range w.logs.AllEntries() {
		if entry.Data["event"] == "http.request" {
			t.Errorf("logged as a failure: %v", entry.Data)
		}
	}
}
