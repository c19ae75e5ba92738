package httpapi_test

import (
	"bytes"
	"fmt"
	"net/http"
	"net/http/httptest"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/sirupsen/logrus"

	"larder.local/httpapi"
	"larder.local/httpapi/ratelimit"
	"larder.local/httpapi/respond"
	"larder.local/internal/testkit/apitest"
)

func TestUnknownRoutesAndMethods(t *testing.T) {
	t.Parallel()
	w := newFixture(t)
	for _, path := range []string{
		"/", "/v1", "/v1/", "/v2/restaurants", "/v1/restaurants/", apitest.MenuPath + "/", "//v1/restaurants", "/v1/restaurants/bistro/",
		"/V1/restaurants", "/orders", "/orders/api", "//orders/api/v1/menu/view", "/v1/ops/versions",
	} {
		w.Get(path).Refused(t, http.StatusNotFound, "not_found")
	}
	for path, allow := range map[string]string{
		apitest.MenuPath: "GET, HEAD, OPTIONS", apitest.OrdersPath: "POST, OPTIONS", "/livez": "GET, HEAD, OPTIONS", "/connect/token": "POST, OPTIONS",
	} {
		got := w.Do(http.MethodDelete, path, "")
		got.Refused(t, http.StatusMethodNotAllowed, "method_not_allowed")
		options := w.Do(http.MethodOptions, path, "").Is(t, http.StatusNoContent)
		for _, header := range []string{got.Header.Get("Allow"), options.Header.Get("Allow")} {
			if names := strings.Split(header, ", "); !sameNames(names, strings.Split(allow, ", ")) {
				t.Errorf("%s: Allow %q, want %q", path, header, allow)
			}
		}
	}
	w.Do(http.MethodOptions, "/nothing", "").Refused(t, http.StatusNotFound, "not_found")
}

// A malformed filter is never ignored: the response would contain more than was requested.
func TestAMalformedQueryIsRefused(t *testing.T) {
	t.Parallel()
	w := newFixture(t)
	for _, query := range []string{"q=%zz", "limit=1;q=x", "%=1", "available=true&category=%"} {
		for _, path := range []string{"/v1/restaurants", "/v1/restaurants/bistro/products"} {
			got := w.Get(path+"?"+query).Refused(t, http.StatusBadRequest, "invalid_parameter")
			if got.Errors[0].Params["parameter"] != "query" {
				t.Errorf("%s?%s: %+v", path, query, got.Errors)
			}
		}
	}
	w.Get("/v1/restaurants?q=a%3Bb+%25&&limit=1&flag").Is(t, http.StatusOK)
}

func sameNames(a, b []string) bool {
	a, b = slices.Sorted(slices.Values(a)), slices.Sorted(slices.Values(b))
	return slices.Equal(a, b)
}

func TestRequestIDsComeBack(t *testing.T) {
	t.Parallel()
	w := newFixture(t)
	if got := w.Get(apitest.MenuPath, "X-Request-Id", "trace-42"); got.Header.Get("X-Request-Id") != "trace-42" {
		t.Errorf("got %q", got.Header.Get("X-Request-Id"))
	}
	for _, odd := range []string{"two words", strings.Repeat("x", 129)} {
		if got := w.Get(apitest.MenuPath, "X-Request-Id", odd).Header.Get("X-Request-Id"); got == odd || len(got) != 26 {
			t.Errorf("%q came back as %q", odd, got)
		}
	}
	problem := w.Get("/nothing", "X-Request-Id", "trace-43").Refused(t, http.StatusNotFound, "not_found")
	if problem.RequestID != "trace-43" {
		t.Errorf("requestId %q", problem.RequestID)
	}
}

func TestCORS(t *testing.T) {
	t.Parallel()
	const shop, other = "https://shop.example", "https://other.example"
	w := newFixture(t, func(p *apitest.Plan) { p.HTTP.CORSOrigins = []string{shop} })
	listed := w.Get(apitest.MenuPath, "Origin", shop, "Accept-Encoding", "gzip").Is(t, http.StatusOK)
	if listed.Header.Get("Access-Control-Allow-Origin") != shop {
		t.Errorf("listed origin: %v", listed.Header)
	}
	for _, exposed := range []string{"ETag", "Larder-Menu-Version", "X-Request-Id"} {
		if !strings.Contains(listed.Header.Get("Access-Control-Expose-Headers"), exposed) {
			t.Errorf("%s is not exposed", exposed)
		}
	}
	// A request from an origin that is not listed gets the response without CORS headers, never a
	// 403. Vary keeps the two apart in caches.
	unlisted := w.Get(apitest.MenuPath, "Origin", other, "Accept-Encoding", "gzip").Is(t, http.StatusOK)
	if unlisted.Header.Get("Access-Control-Allow-Origin") != "" || !bytes.Equal(listed.Body, unlisted.Body) {
		t.Errorf("unlisted origin: %v", unlisted.Header)
	}
	for _, got := range []apitest.Reply{listed, unlisted, w.Get(apitest.MenuPath)} {
		if vary := got.Header.Values("Vary"); !sameNames(vary, []string{"Origin", "Accept-Encoding"}) {
			t.Errorf("Vary %q", vary)
		}
	}
	preflight := func(path, origin string) apitest.Reply {
		return w.Do(http.MethodOptions, path, "", "Origin", origin, "Access-Control-Request-Method", "POST", "Access-Control-Request-Headers", "idempotency-key")
	}
	yes := preflight(apitest.OrdersPath, shop).Is(t, http.StatusNoContent)
	if yes.Header.Get("Access-Control-Allow-Origin") != shop || !strings.Contains(yes.Header.Get("Access-Control-Allow-Headers"), "Idempotency-Key") ||
		!strings.Contains(yes.Header.Get("Access-Control-Allow-Methods"), "POST") {
		t.Errorf("preflight: %v", yes.Header)
	}
	if no := preflight(apitest.OrdersPath, other).Is(t, http.StatusNoContent); no.Header.Get("Access-Control-Allow-Methods") != "" {
		t.Errorf("preflight of an unlisted origin: %v", no.Header)
	}
	// Ops routes, tokens and metrics are not available to pages on other origins.
	for _, path := range []string{"/v1/ops/runs", apitest.SyncPath, "/connect/token", "/metrics", "/livez"} {
		if got := preflight(path, shop); got.Header.Get("Access-Control-Allow-Origin") != "" {
			t.Errorf("%s: %v", path, got.Header)
		}
	}
	if got := w.Get("/v1/restaurants/nowhere/menu", "Origin", shop); got.Header.Get("Access-Control-Allow-Origin") != shop {
		t.Error("a page cannot read why it was refused")
	}
}

func TestCORSForAnyOriginAndNone(t *testing.T) {
	t.Parallel()
	all := newFixture(t, func(p *apitest.Plan) { p.HTTP.CORSOrigins = []string{"*"} })
	if got := all.Get(apitest.MenuPath, "Origin", "https://a.example"); got.Header.Get("Access-Control-Allow-Origin") != "*" || got.Header.Get("Vary") != "Accept-Encoding" {
		t.Errorf("any: %v", got.Header)
	}
	none := newFixture(t)
	if got := none.Get(apitest.MenuPath, "Origin", "https://a.example"); got.Header.Get("Access-Control-Allow-Origin") != "" || got.Header.Get("Vary") != "Accept-Encoding" {
		t.Errorf("none: %v", got.Header)
	}
}

func TestValidateIsLimitedByAddress(t *testing.T) { // policy H1
	t.Parallel()
	w := newFixture(t, func(p *apitest.Plan) { p.HTTP.Rate.Validate = ratelimit.Rate{Count: 2, Per: 3600e9} })
	for i := range 2 {
		w.Post(apitest.ValidatePath, apitest.Order(), "X-Forwarded-For", "192.0.2."+string(rune('1'+i))).Is(t, http.StatusOK)
	}
	got := w.Post(apitest.ValidatePath, apitest.Order(), "X-Forwarded-For", "192.0.2.9") // by default no proxy is trusted
	got.Refused(t, http.StatusTooManyRequests, "rate_limited")
	if wait, _ := strconv.Atoi(got.Header.Get("Retry-After")); wait > 1800 || wait < 1740 { // less by the time since the first
		t.Errorf("Retry-After %q", got.Header.Get("Retry-After"))
	}
	trusting := newFixture(t, func(p *apitest.Plan) {
		p.HTTP.Rate.Validate = ratelimit.Rate{Count: 1, Per: 3600e9}
		p.HTTP.TrustedProxies = []string{"127.0.0.0/8", "::1"}
	})
	for _, address := range []string{"192.0.2.1", "192.0.2.2"} {
		trusting.Post(apitest.ValidatePath, apitest.Order(), "X-Forwarded-For", address).Is(t, http.StatusOK)
	}
	trusting.Post(apitest.ValidatePath, apitest.Order(), "X-Forwarded-For", "192.0.2.1").Refused(t, http.StatusTooManyRequests, "rate_limited")
	// Other headers are never trusted.
	trusting.Post(apitest.ValidatePath, apitest.Order()).Is(t, http.StatusOK)
	for i, header := range []string{"X-Real-IP", "Forwarded", "True-Client-IP", "CF-Connecting-IP"} {
		trusting.Post(apitest.ValidatePath, apitest.Order(), header, "192.0.2."+string(rune('3'+i))).Refused(t, http.StatusTooManyRequests, "rate_limited")
	}
}

func TestPlacingIsLimitedByClient(t *testing.T) { // policy H1
	t.Parallel()
	w := newFixture(t, func(p *apitest.Plan) { p.HTTP.Rate.Place = ratelimit.Rate{Count: 1, Per: 3600e9} })
	w.Post(apitest.OrdersPath, apitest.Order(), append(apitest.Key("a"), w.As(apitest.ClientShop)...)...).Is(t, http.StatusCreated)
	w.Post(apitest.OrdersPath, apitest.Order(), append(apitest.Key("b"), w.As(apitest.ClientShop)...)...).Refused(t, http.StatusTooManyRequests, "rate_limited")
	w.Post(apitest.OrdersPath, apitest.Order(), append(apitest.Key("a"), w.As(apitest.ClientOps)...)...).Is(t, http.StatusCreated)
}

func TestRequestLog(t *testing.T) {
	t.Parallel()
	for setting, want := range map[httpapi.AccessLog]int{httpapi.LogAll: 150, httpapi.LogSampled: 1, httpapi.LogErrors: 0} {
		t.Run(string(setting), func(t *testing.T) {
			t.Parallel()
			w := newFixture(t, func(p *apitest.Plan) { p.HTTP.AccessLog = setting })
			for range 150 {
				request := httptest.NewRequestWithContext(t.Context(), http.MethodGet, apitest.MenuPath+"?token=hunter2", http.NoBody)
				w.Server.Handler().ServeHTTP(httptest.NewRecorder(), request)
			}
			lines := 0
			for _, entry := range w.Logs.AllEntries() {
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
	w := newFixture(t, func(p *apitest.Plan) { p.HTTP.AccessLog = httpapi.LogErrors })
	w.Get("/v1/restaurants/nowhere/menu")
	w.Get("/v1/restaurants/"+apitest.Empty+"/menu", "X-Request-Id", "lost")
	var lines []*logrus.Entry
	for _, entry := range w.Logs.AllEntries() {
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
	text := string(w.Get("/metrics").Is(t, http.StatusOK).Body)
	for _, route := range w.Server.Routes() {
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
	w.Get(apitest.MenuPath)
	w.Get("/v1/restaurants/made-up/menu")
	w.Get("/made/up")
	w.Do("BREW", apitest.MenuPath, "")
	text, read := "", `larder_http_requests_total{method="GET",route="/v1/restaurants/:restaurant/menu",status="2xx"} 1`
	for range 100 { // the fast path counts a response after sending it, so the client can be faster
		if text = string(w.Get("/metrics").Is(t, http.StatusOK).Body); strings.Contains(text, read) {
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
	ops := newFixture(t, func(p *apitest.Plan) { p.HTTP.Metrics = httpapi.MetricsOps })
	ops.Get("/metrics").Refused(t, http.StatusUnauthorized, "unauthorized")
	ops.Get("/metrics", ops.As(apitest.ClientOps)...).Is(t, http.StatusOK)
	off := newFixture(t, func(p *apitest.Plan) { p.HTTP.Metrics = httpapi.MetricsOff })
	off.Get("/metrics").Refused(t, http.StatusNotFound, "not_found")
}

// By default only operators may read /metrics: with a token on the public listener, and without one
// on http.ops_listen, which Prometheus reads (policy H8).
func TestMetricsByDefault(t *testing.T) {
	t.Parallel()
	unset := func(p *apitest.Plan) { p.HTTP.Metrics = "" }
	shared := newFixture(t, unset)
	shared.Get("/metrics").Refused(t, http.StatusUnauthorized, "unauthorized")
	shared.Get("/metrics", shared.As(apitest.ClientShop)...).Refused(t, http.StatusForbidden, "forbidden")
	shared.Get("/metrics", shared.As(apitest.ClientOps)...).Is(t, http.StatusOK)

	apart := newFixture(t, onPort0, unset)
	stop := run(apart)
	apitest.Do(t, http.MethodGet, "http://"+apart.Server.OpsAddr()+"/metrics", "").Is(t, http.StatusOK)
	apitest.Do(t, http.MethodGet, "http://"+apart.Server.Addr()+"/metrics", "").Is(t, http.StatusNotFound)
	if err := stop(); err != nil {
		t.Error(err)
	}
}
