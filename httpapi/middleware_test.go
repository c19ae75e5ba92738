package httpapi_test

import (
	"bytes"
	"fmt"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"

	"github.com/gin-gonic/gin"
	"github.com/sirupsen/logrus"

	"larder/httpapi"
	"larder/httpapi/ratelimit"
	"larder/httpapi/respond"
)

func serve(t *testing.T, handler http.Handler) string {
	t.Helper()
	server := httptest.NewServer(handler)
	t.Cleanup(server.Close)
	if _, ours := handler.(*gin.Engine); ours {
		watch(t, server.URL)
	}
	return server.URL
}

func TestUnknownRoutesAndMethods(t *testing.T) {
	t.Parallel()
	w := newFixture(t)
	for _, path := range []string{
		"/", "/v1", "/v1/", "/v2/restaurants", "/v1/restaurants/", menuPath + "/", "//v1/restaurants", "/v1/restaurants/bistro/",
		"/V1/restaurants", "/orders", "/orders/api", "//orders/api/v1/menu/view", "/v1/ops/versions",
	} {
		w.get(path).refused(t, http.StatusNotFound, "not_found")
	}
	for path, allow := range map[string]string{
		menuPath: "GET, HEAD, OPTIONS", ordersPath: "POST, OPTIONS", "/livez": "GET, HEAD, OPTIONS", "/connect/token": "POST, OPTIONS",
	} {
		got := w.do(http.MethodDelete, path, "")
		got.refused(t, http.StatusMethodNotAllowed, "method_not_allowed")
		options := w.do(http.MethodOptions, path, "").is(t, http.StatusNoContent)
		for _, header := range []string{got.header.Get("Allow"), options.header.Get("Allow")} {
			if names := strings.Split(header, ", "); !sameNames(names, strings.Split(allow, ", ")) {
				t.Errorf("%s: Allow %q, want %q", path, header, allow)
			}
		}
	}
	w.do(http.MethodOptions, "/nothing", "").refused(t, http.StatusNotFound, "not_found")
}

// A malformed filter is never ignored: the response would contain more than was requested.
func TestAMalformedQueryIsRefused(t *testing.T) {
	t.Parallel()
	w := newFixture(t)
	for _, query := range []string{"q=%zz", "limit=1;q=x", "%=1", "available=true&category=%"} {
		for _, path := range []string{"/v1/restaurants", "/v1/restaurants/bistro/products"} {
			got := w.get(path+"?"+query).refused(t, http.StatusBadRequest, "invalid_parameter")
			if got.Errors[0].Params["parameter"] != "query" {
				t.Errorf("%s?%s: %+v", path, query, got.Errors)
			}
		}
	}
	w.get("/v1/restaurants?q=a%3Bb+%25&&limit=1&flag").is(t, http.StatusOK)
}

func sameNames(a, b []string) bool {
	a, b = slices.Sorted(slices.Values(a)), slices.Sorted(slices.Values(b))
	return slices.Equal(a, b)
}

func TestRequestIDsComeBack(t *testing.T) {
	t.Parallel()
	w := newFixture(t)
	if got := w.get(menuPath, "X-Request-Id", "trace-42"); got.header.Get("X-Request-Id") != "trace-42" {
		t.Errorf("got %q", got.header.Get("X-Request-Id"))
	}
	for _, odd := range []string{"two words", strings.Repeat("x", 129)} {
		if got := w.get(menuPath, "X-Request-Id", odd).header.Get("X-Request-Id"); got == odd || len(got) != 26 {
			t.Errorf("%q came back as %q", odd, got)
		}
	}
	problem := w.get("/nothing", "X-Request-Id", "trace-43").refused(t, http.StatusNotFound, "not_found")
	if problem.RequestID != "trace-43" {
		t.Errorf("requestId %q", problem.RequestID)
	}
}

func TestCORS(t *testing.T) {
	t.Parallel()
	const shop, other = "https://shop.example", "https://other.example"
	w := newFixture(t, func(p *plan) { p.cfg.CORSOrigins = []string{shop} })
	listed := w.get(menuPath, "Origin", shop, "Accept-Encoding", "gzip").is(t, http.StatusOK)
	if listed.header.Get("Access-Control-Allow-Origin") != shop {
		t.Errorf("listed origin: %v", listed.header)
	}
	for _, exposed := range []string{"ETag", "Larder-Menu-Version", "X-Request-Id"} {
		if !strings.Contains(listed.header.Get("Access-Control-Expose-Headers"), exposed) {
			t.Errorf("%s is not exposed", exposed)
		}
	}
	// A request from an origin that is not listed gets the response without CORS headers, never a
	// 403. Vary keeps the two apart in caches.
	unlisted := w.get(menuPath, "Origin", other, "Accept-Encoding", "gzip").is(t, http.StatusOK)
	if unlisted.header.Get("Access-Control-Allow-Origin") != "" || !bytes.Equal(listed.body, unlisted.body) {
		t.Errorf("unlisted origin: %v", unlisted.header)
	}
	for _, got := range []reply{listed, unlisted, w.get(menuPath)} {
		if vary := got.header.Values("Vary"); !sameNames(vary, []string{"Origin", "Accept-Encoding"}) {
			t.Errorf("Vary %q", vary)
		}
	}
	preflight := func(path, origin string) reply {
		return w.do(http.MethodOptions, path, "", "Origin", origin, "Access-Control-Request-Method", "POST", "Access-Control-Request-Headers", "idempotency-key")
	}
	yes := preflight(ordersPath, shop).is(t, http.StatusNoContent)
	if yes.header.Get("Access-Control-Allow-Origin") != shop || !strings.Contains(yes.header.Get("Access-Control-Allow-Headers"), "Idempotency-Key") ||
		!strings.Contains(yes.header.Get("Access-Control-Allow-Methods"), "POST") {
		t.Errorf("preflight: %v", yes.header)
	}
	if no := preflight(ordersPath, other).is(t, http.StatusNoContent); no.header.Get("Access-Control-Allow-Methods") != "" {
		t.Errorf("preflight of an unlisted origin: %v", no.header)
	}
	// Ops routes, tokens and metrics are not available to pages on other origins.
	for _, path := range []string{"/v1/ops/runs", syncPath, "/connect/token", "/metrics", "/livez"} {
		if got := preflight(path, shop); got.header.Get("Access-Control-Allow-Origin") != "" {
			t.Errorf("%s: %v", path, got.header)
		}
	}
	if got := w.get("/v1/restaurants/nowhere/menu", "Origin", shop); got.header.Get("Access-Control-Allow-Origin") != shop {
		t.Error("a page cannot read why it was refused")
	}
}

func TestCORSForAnyOriginAndNone(t *testing.T) {
	t.Parallel()
	all := newFixture(t, func(p *plan) { p.cfg.CORSOrigins = []string{"*"} })
	if got := all.get(menuPath, "Origin", "https://a.example"); got.header.Get("Access-Control-Allow-Origin") != "*" || got.header.Get("Vary") != "Accept-Encoding" {
		t.Errorf("any: %v", got.header)
	}
	none := newFixture(t)
	if got := none.get(menuPath, "Origin", "https://a.example"); got.header.Get("Access-Control-Allow-Origin") != "" || got.header.Get("Vary") != "Accept-Encoding" {
		t.Errorf("none: %v", got.header)
	}
}

func TestValidateIsLimitedByAddress(t *testing.T) { // policy H1
	t.Parallel()
	w := newFixture(t, func(p *plan) { p.cfg.Rate.Validate = ratelimit.Rate{Count: 2, Per: 3600e9} })
	for i := range 2 {
		w.post(validatePath, order(), "X-Forwarded-For", "192.0.2."+string(rune('1'+i))).is(t, http.StatusOK)
	}
	got := w.post(validatePath, order(), "X-Forwarded-For", "192.0.2.9") // by default no proxy is trusted
	got.refused(t, http.StatusTooManyRequests, "rate_limited")
	if got.header.Get("Retry-After") != "1800" {
		t.Errorf("Retry-After %q", got.header.Get("Retry-After"))
	}
	trusting := newFixture(t, func(p *plan) {
		p.cfg.Rate.Validate = ratelimit.Rate{Count: 1, Per: 3600e9}
		p.cfg.TrustedProxies = []string{"127.0.0.0/8", "::1"}
	})
	for _, address := range []string{"192.0.2.1", "192.0.2.2"} {
		trusting.post(validatePath, order(), "X-Forwarded-For", address).is(t, http.StatusOK)
	}
	trusting.post(validatePath, order(), "X-Forwarded-For", "192.0.2.1").refused(t, http.StatusTooManyRequests, "rate_limited")
	// Other headers are never trusted.
	trusting.post(validatePath, order()).is(t, http.StatusOK)
	for i, header := range []string{"X-Real-IP", "Forwarded", "True-Client-IP", "CF-Connecting-IP"} {
		trusting.post(validatePath, order(), header, "192.0.2."+string(rune('3'+i))).refused(t, http.StatusTooManyRequests, "rate_limited")
	}
}

func TestPlacingIsLimitedByClient(t *testing.T) { // policy H1
	t.Parallel()
	w := newFixture(t, func(p *plan) { p.cfg.Rate.Place = ratelimit.Rate{Count: 1, Per: 3600e9} })
	w.post(ordersPath, order(), append(key("a"), w.as(clientShop)...)...).is(t, http.StatusCreated)
	w.post(ordersPath, order(), append(key("b"), w.as(clientShop)...)...).refused(t, http.StatusTooManyRequests, "rate_limited")
	w.post(ordersPath, order(), append(key("a"), w.as(clientOps)...)...).is(t, http.StatusCreated)
}

func TestRequestLog(t *testing.T) {
	t.Parallel()
	for setting, want := range map[httpapi.AccessLog]int{httpapi.LogAll: 150, httpapi.LogSampled: 1, httpapi.LogErrors: 0} {
		t.Run(string(setting), func(t *testing.T) {
			t.Parallel()
			w := newFixture(t, func(p *plan) { p.cfg.AccessLog = setting })
			for range 150 {
				request := httptest.NewRequestWithContext(t.Context(), http.MethodGet, menuPath+"?token=hunter2", http.NoBody)
				w.server.Handler().ServeHTTP(httptest.NewRecorder(), request)
			}
			lines := 0
			for _, entry := range w.logs.AllEntries() {
				if entry.Data["event"] != "http.request" {
					continue
				}
				lines++
				if entry.Data["route"] != "/v1/restaurants/:restaurant/menu" || entry.Data["status"] != 200 || entry.Data["method"] != "GET" || entry.Data["requestId"] == "" {
					t.Fatalf("line %v", entry.Data)
				}
				if text, err := entry.String(); err != nil || strings.Contains(text, "hunter2") || strings.Contains(text, "192.0.2.1") {
					t.Fatalf("a line contains too much: %s %v", text, err)
				}
			}
			if lines != want {
				t.Errorf("%d lines of 150 requests, want %d", lines, want)
			}
		})
	}
}

// Internal errors are logged with their cause, whatever http.access_log is.
func TestFailuresAreLogged(t *testing.T) {
	t.Parallel()
	w := newFixture(t, func(p *plan) { p.cfg.AccessLog = httpapi.LogErrors })
	w.get("/v1/restaurants/nowhere/menu")
	w.get("/v1/restaurants/"+empty+"/menu", "X-Request-Id", "lost")
	var lines []*logrus.Entry
	for _, entry := range w.logs.AllEntries() {
		if entry.Data["event"] == "http.request" {
			lines = append(lines, entry)
		}
	}
	if len(lines) != 1 || lines[0].Data["requestId"] != "lost" || lines[0].Level != logrus.ErrorLevel || !strings.Contains(fmt.Sprint(lines[0].Data["cause"]), "no catalogue") ||
		lines[0].Data["code"] != respond.CodeNoCatalogue {
		t.Errorf("got %v", lines)
	}
}

// Every route and method has its request counters from the start with value 0. Their number is
// limited.
func TestRequestCountersStartAtZero(t *testing.T) {
	t.Parallel()
	w := newFixture(t)
	text := string(w.get("/metrics").is(t, http.StatusOK).body)
	for _, route := range w.server.Routes() {
		for _, class := range []string{"2xx", "4xx", "5xx"} {
			line := fmt.Sprintf("larder_http_requests_total{method=%q,route=%q,status=%q} 0\n", route.Method, route.Path, class)
			if !strings.Contains(text, line) {
				t.Errorf("the metrics lack %s", line)
			}
		}
	}
	if count := strings.Count(text, "\nlarder_http_requests_total{"); count < 90 || count > 400 {
		t.Errorf("%d series at the start; expected 90 to 400", count)
	}
}

func TestMetrics(t *testing.T) {
	t.Parallel()
	w := newFixture(t)
	w.get(menuPath)
	w.get("/v1/restaurants/made-up/menu")
	w.get("/made/up")
	w.do("BREW", menuPath, "")
	text, read := "", `larder_http_requests_total{method="GET",route="/v1/restaurants/:restaurant/menu",status="2xx"} 1`
	for range 100 { // the fast path counts a response after sending it, so the client can be faster
		if text = string(w.get("/metrics").is(t, http.StatusOK).body); strings.Contains(text, read) {
			break
		}
	}
	for _, line := range []string{
		read,
		`larder_http_requests_total{method="GET",route="/v1/restaurants/:restaurant/menu",status="4xx"} 1`,
		`larder_http_requests_total{method="GET",route="unmatched",status="4xx"} 1`,
		`larder_http_requests_total{method="other",route="unmatched",status="4xx"} 1`,
		`larder_sync_runs_total{outcome="updated",trigger="startup"} 2`,
		`larder_sync_runs_total{outcome="failed",trigger="startup"} 1`,
		`larder_restaurants{state="fresh"} 2`,
		`larder_restaurants{state="missing"} 1`,
		`larder_menu_age_seconds `,
		`version="1.2.3"`,
		`go_goroutines `,
	} {
		if !strings.Contains(text, line) {
			t.Errorf("the metrics lack %s", line)
		}
	}
	if strings.Contains(text, "made") {
		t.Error("a request's own text has become a label")
	}
}

func TestMetricsMayBeClosed(t *testing.T) {
	t.Parallel()
	ops := newFixture(t, func(p *plan) { p.cfg.Metrics = httpapi.MetricsOps })
	ops.get("/metrics").refused(t, http.StatusUnauthorized, "unauthorized")
	ops.get("/metrics", ops.as(clientOps)...).is(t, http.StatusOK)
	off := newFixture(t, func(p *plan) { p.cfg.Metrics = httpapi.MetricsOff })
	off.get("/metrics").refused(t, http.StatusNotFound, "not_found")
}

// By default only operators may read /metrics: with a token on the public listener, and without one
// on http.ops_listen, which Prometheus reads (policy H8).
func TestMetricsByDefault(t *testing.T) {
	t.Parallel()
	unset := func(p *plan) { p.cfg.Metrics = "" }
	shared := newFixture(t, unset)
	shared.get("/metrics").refused(t, http.StatusUnauthorized, "unauthorized")
	shared.get("/metrics", shared.as(clientShop)...).refused(t, http.StatusForbidden, "forbidden")
	shared.get("/metrics", shared.as(clientOps)...).is(t, http.StatusOK)

	apart := newFixture(t, onPort0, unset)
	stop := apart.running()
	do(t, http.MethodGet, "http://"+apart.server.OpsAddr()+"/metrics", "").is(t, http.StatusOK)
	do(t, http.MethodGet, "http://"+apart.server.Addr()+"/metrics", "").is(t, http.StatusNotFound)
	if err := stop(); err != nil {
		t.Error(err)
	}
}
