package httpapi_test

import (
	"context"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"larder.local/cache"
	"larder.local/httpapi/auth"
	"larder.local/internal/testkit/apitest"
	"larder.local/internal/testkit/redistest"
)

func TestReadyAfterTheStart(t *testing.T) {
	t.Parallel()
	w := newFixture(t, func(p *apitest.Plan) { p.Unsynced = true })
	w.Get("/livez").Is(t, http.StatusOK)
	if got := w.Ready(http.StatusServiceUnavailable); got.Status != "unready" || got.Parts.Catalogues.OK {
		t.Errorf("before any menu: %+v", got)
	}
	w.SyncOnce(apitest.Bistro)
	if got := w.Ready(http.StatusServiceUnavailable); got.Status != "unready" {
		t.Errorf("two restaurants have not been tried: %+v", got)
	}
	w.SyncOnce(apitest.North)
	w.SyncOnce(apitest.Empty) // fails; a failed run counts as tried
	poll(t, w)
	if got := w.Ready(http.StatusOK); got.Status != "degraded" || !got.Parts.Redis.OK || got.Parts.Catalogues.OK || got.Parts.Catalogues.Msg != "no menu yet for 1 of 3 restaurants: The empty ("+apitest.Empty+")" {
		t.Errorf("every restaurant was tried: %s %+v", got.Status, *got.Parts)
	}
	// The restaurant never had a menu. Only its run shows that the ordering service returned none.
	if got := w.Ready(http.StatusOK).Parts.Connections; got["main"].OK || got["main"].Msg != "the last sync of 1 restaurant failed: The empty ("+apitest.Empty+")" || !got["north"].OK {
		t.Errorf("the first sync of %s failed: connections %+v", apitest.Empty, got)
	}
	if body := w.Get("/readyz").Is(t, http.StatusOK).Body; string(body) != `{"status":"degraded"}` {
		t.Errorf("not verbose: %s", body)
	}
	w.Service.SetMenu(apitest.Empty, apitest.FullMenu)
	w.SyncOnce(apitest.Empty)
	poll(t, w)
	if got := w.Ready(http.StatusOK); got.Status != "ok" || !got.Parts.Catalogues.OK || !got.Parts.Connections["main"].OK {
		t.Errorf("all is well: %s %+v", got.Status, *got.Parts)
	}
	w.Service.SetMenu(apitest.Bistro, "")
	w.SyncOnce(apitest.Bistro)
	poll(t, w)
	if got := w.Ready(http.StatusOK); got.Status != "degraded" || got.Parts.Connections["main"].OK || !got.Parts.Connections["north"].OK {
		t.Errorf("a sync failed: %s %+v", got.Status, *got.Parts)
	}
}

func TestReadyAfterHalfAMinuteWithOneMenu(t *testing.T) {
	t.Parallel()
	w := newFixture(t, func(p *apitest.Plan) { p.Unsynced = true })
	w.Ahead(31 * time.Second)
	w.Ready(http.StatusServiceUnavailable)
	w.SyncOnce(apitest.Bistro)
	poll(t, w)
	w.Ready(http.StatusOK)
}

// poll makes the instance see what was published: it may learn it a moment after the end of the run.
// poll reads the versions in Redis, and outlasts the count of the catalogues, which is valid for ten times as long as it took.
func poll(t *testing.T, w *apitest.Fixture) {
	t.Helper()
	w.Ahead(5 * time.Second)
	if err := w.Replica.Poll(t.Context()); err != nil {
		t.Fatal(err)
	}
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
	w := newFixture(t, func(p *apitest.Plan) { p.Redis.URL, p.Redis.Prefix = server.URL(), prefix })
	if got := w.Ready(http.StatusServiceUnavailable); got.Status != "unready" || got.Parts.Redis.OK || !strings.Contains(got.Parts.Redis.Msg, "the signing keys cannot be read") {
		t.Errorf("without the key: %+v", got.Parts)
	}
	if err := server.Client().Del(t.Context(), key).Err(); err != nil {
		t.Fatal(err)
	}
	w.Ahead(2 * time.Second) // after a failure, the key is read again after a second
	w.Ready(http.StatusOK)
}

func TestReadyNamesVolatility(t *testing.T) { // policy O14
	t.Parallel()
	for volatile, ok := range map[bool]bool{true: true, false: false} {
		w := newFixture(t, func(p *apitest.Plan) { p.Ordering.AllowNonDurable = volatile })
		got := w.Ready(http.StatusOK)
		if got.Parts.Journal.OK != ok || !strings.Contains(got.Parts.Journal.Msg, "ordering.allow_non_durable") || !strings.Contains(got.Parts.Redis.Msg, "embedded") {
			t.Errorf("allow_non_durable %v: %+v", volatile, got.Parts)
		}
	}
}

// A journal that could lose orders makes larder degraded only if a client may place orders.
func TestReadyCountsTheJournalWhereOrdersAreTaken(t *testing.T) {
	t.Parallel()
	all := func(p *apitest.Plan) { p.Ordering.AllowNonDurable = false }
	for name, test := range map[string]struct {
		change func(*apitest.Plan)
		want   string
	}{
		"clients place": {all, "degraded"},
		"guests place": {func(p *apitest.Plan) {
			all(p)
			readersOnly(p)
			p.Auth.PublicOrders.Enabled, p.Auth.PublicOrders.Origins = true, []string{"https://shop.example"}
		}, "degraded"},
		"nobody places":  {func(p *apitest.Plan) { all(p); readersOnly(p) }, "ok"},
		"nothing is odd": {func(*apitest.Plan) {}, "ok"},
	} {
		w := newFixture(t, func(p *apitest.Plan) { p.Unsynced = true }, test.change)
		w.Service.SetMenu(apitest.Empty, apitest.FullMenu)
		for _, restaurant := range []string{apitest.Bistro, apitest.North, apitest.Empty} {
			w.SyncOnce(restaurant)
		}
		if body := w.Get("/readyz").Is(t, http.StatusOK).Body; string(body) != `{"status":"`+test.want+`"}` {
			t.Errorf("%s: %s, want %s", name, body, test.want)
		}
	}
}

// readersOnly keeps only the clients that may not place orders.
func readersOnly(p *apitest.Plan) {
	p.Auth.Clients = []auth.ClientConfig{{ID: apitest.ClientRead, Secret: apitest.Secret(apitest.ClientRead), Scopes: []auth.Scope{"menu", "ops"}}}
}

// Without Redis, catalogues in memory are served as before, and /readyz reports the problem.
func TestReadsContinueWithoutRedis(t *testing.T) { // policy S5
	t.Parallel()
	server := redistest.Start(t)
	w := newFixture(t, func(p *apitest.Plan) { p.Redis.URL = server.URL() })
	paths := []string{apitest.MenuPath, "/v1/restaurants/bistro/products", "/v1/restaurants/bistro/products/p1"}
	before := map[string]apitest.Reply{}
	for _, path := range paths {
		before[path] = w.Get(path).Is(t, http.StatusOK)
	}
	if err := w.Store.SaveReasons(t.Context(), "main", []byte(`[]`)); err != nil {
		t.Fatal(err)
	}
	w.Get("/v1/rejection-reasons?connection=main").Is(t, http.StatusOK)
	ops := w.As(apitest.ClientOps)
	w.Ready(http.StatusOK)
	if err := w.Replica.Poll(t.Context()); err != nil {
		t.Fatal(err)
	}

	server.Stop()
	for _, path := range paths {
		if got := w.Get(path).Is(t, http.StatusOK); string(got.Body) != string(before[path].Body) {
			t.Errorf("%s: another body without Redis", path)
		}
	}
	var rows []struct {
		ID      string
		Version *int
	}
	w.Get("/v1/restaurants").Is(t, http.StatusOK).Into(t, &rows)
	if len(rows) != 3 || rows[0].Version == nil {
		t.Errorf("restaurants: %+v", rows)
	}
	w.Get("/v1/rejection-reasons?connection=main").Is(t, http.StatusOK)
	w.Post(apitest.ValidatePath, apitest.Order()).Is(t, http.StatusOK)
	if got := w.Ready(http.StatusOK); got.Status != "degraded" || got.Parts.Redis.OK || got.Parts.Redis.Msg != "does not answer: connection refused" || got.Parts.Journal.Msg != "Redis does not answer: connection refused" {
		t.Errorf("readyz: %+v", got)
	}
	for _, path := range []string{"/v1/ops/runs", "/v1/ops/restaurants/bistro/lint"} {
		got := w.Get(path, ops...)
		got.Refused(t, http.StatusServiceUnavailable, "storage_unavailable")
		if got.Header.Get("Retry-After") == "" || strings.Contains(string(got.Body), "127.0.0.1") {
			t.Errorf("%s: %v %s", path, got.Header, got.Body)
		}
	}
	w.Do(http.MethodPost, apitest.SyncPath, "", ops...).Refused(t, http.StatusServiceUnavailable, "storage_unavailable")
	server.Restart() // empty, because Redis stores nothing on disk
	w.Get("/v1/ops/runs", ops...).Is(t, http.StatusOK)
	rows[0].Version = nil
	w.Get("/v1/restaurants").Is(t, http.StatusOK).Into(t, &rows)
	if len(rows) != 3 || rows[0].Version == nil {
		t.Errorf("restaurants after Redis lost its data: %+v, want what is served", rows)
	}
}

// A Redis that hangs is harder to detect than one that is down, because no connection is refused.
func TestListsAreNotHeldUpByARedisThatHangs(t *testing.T) { // policy S5
	t.Parallel()
	server := redistest.Start(t)
	w := newFixture(t, func(p *apitest.Plan) { p.Redis.URL = server.URL() })
	if err := w.Store.SaveReasons(t.Context(), "main", []byte(`[]`)); err != nil {
		t.Fatal(err)
	}
	paths := []string{"/v1/rejection-reasons?connection=main", "/v1/restaurants"}
	for _, path := range paths {
		w.Get(path).Is(t, http.StatusOK)
	}
	if err := server.Client().ClientPause(t.Context(), time.Hour).Err(); err != nil {
		t.Fatal(err)
	}
	redisTimeout := make(chan time.Duration, 1) // the reference
	go func() {
		begun := time.Now()
		_, _, _ = w.Store.Reasons(t.Context(), "main")
		redisTimeout <- time.Since(begun)
	}()
	took := map[string]time.Duration{}
	for _, path := range paths {
		begun := time.Now()
		w.Get(path).Is(t, http.StatusOK)
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
	w := newFixture(t, func(p *apitest.Plan) { p.Unsynced = true })
	ctx, leave := context.WithCancel(t.Context())
	leave()
	answer := httptest.NewRecorder()
	w.Server.Handler().ServeHTTP(answer, httptest.NewRequestWithContext(ctx, http.MethodGet, "/v1/restaurants/"+apitest.Bistro+"/menu", http.NoBody))
	if answer.Code != 499 {
		t.Errorf("got %d %s", answer.Code, answer.Body)
	}
	for _, entry := range w.Logs.AllEntries() {
		if entry.Data["event"] == "http.request" {
			t.Errorf("logged as a failure: %v", entry.Data)
		}
	}
}
