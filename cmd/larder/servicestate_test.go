package main

import (
	"bufio"
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"larder.local/internal/sandbox"
	"larder.local/internal/testkit/clitest"
	"larder.local/internal/testkit/metrics"
	"larder.local/internal/testkit/redistest"
)

// troubled is an ordering service over HTTP. Tests change the secret that it accepts, and make its menus fail.
type troubled struct {
	mu     sync.Mutex
	good   string   // the secret, and so the token, that it accepts
	asked  []string // the secrets of the token requests
	broken bool     // menus get 500
}

func (s *troubled) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	s.mu.Lock()
	defer s.mu.Unlock()
	switch {
	case r.URL.Path == "/connect/token":
		secret := r.FormValue("client_secret")
		s.asked = append(s.asked, secret)
		if secret != s.good {
			w.WriteHeader(http.StatusUnauthorized)
			return
		}
		_, _ = fmt.Fprintf(w, `{"access_token":%q,"expires_in":3600}`, s.good)
	case r.Header.Get("Authorization") != "Bearer "+s.good:
		w.WriteHeader(http.StatusUnauthorized)
	case r.Method == http.MethodPost:
		w.WriteHeader(http.StatusCreated)
		_, _ = io.WriteString(w, `{"result":{"orderID":"7"}}`)
	case strings.HasSuffix(r.URL.Path, "/rejectionReasons"):
		_, _ = io.WriteString(w, `{"result":[]}`)
	case s.broken:
		w.WriteHeader(http.StatusInternalServerError)
	default:
		_, _ = io.WriteString(w, `{"result":{"name":"M","categories":[{"id":"c","name":"C"}],"products":[{"id":"a","externalId":"xa","categoryId":"c","name":"A","price":10}]}}`)
	}
}

// set changes the service.
func (s *troubled) set(change func()) {
	s.mu.Lock()
	defer s.mu.Unlock()
	change()
}

// start starts a real larder with restaurants r1, r2, … of the service. Its secret is in the returned file.
func (s *troubled) start(t *testing.T, restaurants int) (p *process, base, secret string) {
	t.Helper()
	service := httptest.NewServer(s)
	t.Cleanup(service.Close)
	secret = clitest.WriteFile(t, "secret", s.good)
	var text strings.Builder
	fmt.Fprintf(&text, `http: {listen: "127.0.0.1:0", metrics: open}
redis: {url: embedded}
ordering: {allow_non_durable: true}
connections:
  - {name: main, base_url: %q, auth_url: %q, client_id: demo, client_secret_file: %q, default_menu: false}
sync: {schedule: "@every 1s"}
auth:
  clients:
    - {id: storefront, secret: storefront-secret, scopes: [menu, orders]}
    - {id: ops, secret: ops-secret, scopes: [menu, orders, ops]}
restaurants:
`, service.URL, service.URL, filepath.Base(secret))
	for i := range restaurants {
		fmt.Fprintf(&text, "  - {id: r%d, connection: main}\n", i+1)
	}
	config := filepath.Join(filepath.Dir(secret), "larder.yaml")
	if err := os.WriteFile(config, []byte(text.String()), 0o600); err != nil {
		t.Fatal(err)
	}
	p = startProcess(t, []string{"LARDER_LOG_FORMAT=json"}, "serve", "--config", config)
	base = p.url(t)
	waitReady(t, base)
	return p, base, secret
}

func sampleOf(t *testing.T, base string) metrics.Sample {
	t.Helper()
	_, text := clitest.Fetch(t, base+"/metrics")
	return metrics.Parse(text)
}

// fetchAs returns the status, the header and the body of a response to a client.
func fetchAs(t *testing.T, as http.Header, method, url, body string) (status int, header http.Header, text string) {
	t.Helper()
	request, err := http.NewRequestWithContext(t.Context(), method, url, strings.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	request.Header = as.Clone()
	request.Header.Set("Content-Type", "application/json")
	request.Header.Set("Idempotency-Key", t.Name()+body)
	response, err := http.DefaultClient.Do(request)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = response.Body.Close() }()
	answer, err := io.ReadAll(response.Body)
	if err != nil {
		t.Fatal(err)
	}
	return response.StatusCode, response.Header, string(answer)
}

// A refusal of the token endpoint shows in the log, /readyz?verbose, the summary of the console and a metric. Orders get 503
// with Retry-After. A changed secret with SIGHUP, SIGHUP alone, and an operator's sync ask at once (policy W2a).
func TestRefusedCredentials_W2a(t *testing.T) {
	t.Parallel()
	s := &troubled{good: "secret-number-1"}
	p, base, secret := s.start(t, 2)
	ops, shop := bearer(t, base, "ops", "ops-secret"), bearer(t, base, "storefront", "storefront-secret")
	state := func(want float64) {
		t.Helper()
		clitest.Eventually(t, fmt.Sprintf("the state of the token is %v", want), func() bool {
			return sampleOf(t, base).Sum("larder_upstream_token_state", `connection="main"`) == want
		})
	}
	state(1)
	if _, body := clitest.Fetch(t, base+"/readyz?verbose"); !strings.Contains(body, `"token":"valid"`) {
		t.Errorf("readiness %s, want a valid token", body)
	}

	s.set(func() { s.good = "secret-number-2" })
	p.log.Find(t, `"event":"upstream.token_refused"`)
	state(3)
	const msg = "the token endpoint refused larder's request (status 401)"
	if _, body := clitest.Fetch(t, base+"/readyz?verbose"); !strings.Contains(body, `"status":"degraded"`) ||
		!strings.Contains(body, `"token":"refused"`) || !strings.Contains(body, msg) {
		t.Errorf("readiness %s, want the refusal", body)
	}
	if _, _, body := fetchAs(t, ops, http.MethodGet, base+"/v1/ops/summary", ""); !strings.Contains(body, `"tokens":{"main":{"state":"refused","ok":false,"msg":"`+msg) {
		t.Errorf("summary %s, want the refusal", body)
	}
	order := `{"expeditionType":"pickup","soonest":true,"paymentTypeID":"card","dishList":[{"ID":"a","quantity":1}]}`
	if status, header, body := fetchAs(t, shop, http.MethodPost, base+"/v1/restaurants/r1/orders", order); status != http.StatusServiceUnavailable || header.Get("Retry-After") == "" {
		t.Errorf("an order: %d %s, Retry-After %q; want 503", status, body, header.Get("Retry-After"))
	}

	longPause := func(of string) {
		t.Helper()
		clitest.Eventually(t, "five refusals: the pause is 16 s", func() bool {
			s.mu.Lock()
			defer s.mu.Unlock()
			return len(s.asked) >= 5 && s.asked[len(s.asked)-5] == of && s.asked[len(s.asked)-1] == of
		})
	}
	longPause("secret-number-1")
	if err := os.WriteFile(secret, []byte("secret-number-2"), 0o600); err != nil {
		t.Fatal(err)
	}
	p.signal(t, syscall.SIGHUP)
	state(1)
	p.log.Find(t, `"event":"upstream.token_accepted"`)
	if strings.Contains(p.log.String(), "config.restart_needed") {
		t.Error("a changed client_secret needs a restart")
	}

	s.set(func() { s.good = "secret-number-3" })
	longPause("secret-number-2")
	s.set(func() { s.good = "secret-number-2" })
	if run := larder(t, clitest.AsOps(base, "sync", "r1")...); run.Status != 0 || !strings.Contains(run.Out, "unchanged") {
		t.Errorf("an operator's sync after the service accepts the secret again: %d %s%s", run.Status, run.Out, run.Err)
	}
	state(1)
}

// While the menus of all restaurants fail, runs that do not ask the service are waiting, not failed, in the API, the
// metrics and the command line. Afterwards the breaker closes by itself (policy S10).
func TestWaitingRuns_S10(t *testing.T) {
	t.Parallel()
	s := &troubled{good: "secret-number-1"}
	_, base, _ := s.start(t, 40)
	ops := bearer(t, base, "ops", "ops-secret")
	last := func(outcome string) float64 {
		return sampleOf(t, base).Sum("larder_restaurants_by_last_outcome", `outcome="`+outcome+`"`)
	}
	clitest.Eventually(t, "every menu is confirmed", func() bool { return last("unchanged") == 40 })
	s.set(func() { s.broken = true })
	clitest.Eventually(t, "the breaker is open, and runs wait", func() bool {
		return sampleOf(t, base).Sum("larder_upstream_breaker", `state="closed"`) == 0 && last("waiting") > 0 && last("failed") > 0
	})
	if _, _, body := fetchAs(t, ops, http.MethodGet, base+"/v1/ops/runs?outcome=waiting", ""); !strings.Contains(body, `"outcome":"waiting"`) || !strings.Contains(body, "circuit breaker open") {
		t.Errorf("runs: %s, want waiting ones with the reason", body)
	}
	if _, _, body := fetchAs(t, ops, http.MethodGet, base+"/v1/ops/restaurants?state=waiting", ""); !strings.Contains(body, `"lastOutcome":"waiting","states":["waiting"`) {
		t.Errorf("restaurants: %s, want waiting ones", body)
	}
	if got := larder(t, clitest.AsOps(base, "status")...); !strings.Contains(got.Out, " waiting (") {
		t.Errorf("status: %s%s, want the waiting restaurants", got.Out, got.Err)
	}
	got := larder(t, clitest.AsOps(base, "sync", "--all")...)
	if !strings.Contains(got.Out, " waiting") || got.Status != 1 {
		t.Errorf("sync --all: %d %s%s, want waiting runs, and 1", got.Status, got.Out, got.Err)
	}
	s.set(func() { s.broken = false })
	clitest.Eventually(t, "the breaker is closed", func() bool {
		return sampleOf(t, base).Sum("larder_upstream_breaker", `state="closed"`) == 1 && last("unchanged") == 40
	})
}

// O8b: a service refuses every wrong order with 500 and the error shape. The orders are unknown until an operator has
// asked the restaurant and adds the code. From then on such orders are refused, and the earlier ones are resolved together.
func TestACodeThatAlwaysRefuses_O8b(t *testing.T) {
	t.Parallel()
	m, service := newMoving(t), newPOS(t, 10)
	service.created, service.refusal = http.StatusInternalServerError, `{"code":"POS_STOP","msg":"dish 7 is not on the menu"}`
	settings := over(service)
	settings.restaurant = `connection: a, name: Bistro, phone: "+351 200 000 111"`
	first := m.start(t, "", settings)
	first.waitFor(t, 10)
	var refs []string
	for n := range 2 {
		got := first.place(t, fmt.Sprintf("wrong-order-%d", n))
		got.is(t, "before the operator knows the code", http.StatusGatewayTimeout, "order_outcome_unknown")
		var unknown struct{ Ref string }
		_ = json.Unmarshal([]byte(got.Body), &unknown)
		refs = append(refs, unknown.Ref)
	}
	list := larder(t, clitest.AsOps(first.base, "order", "list", "--state", "unknown")...).Out
	show := larder(t, clitest.AsOps(first.base, "order", "show", refs[0])...).Out
	t.Logf("order list:\n%s\norder show:\n%s", list, show)
	for _, part := range []string{refs[0], refs[1], "+351 200 000 111", "500 POS_STOP"} {
		if !strings.Contains(list, part) {
			t.Errorf("the list of unknown orders lacks %s", part)
		}
	}
	for _, part := range []string{"500 POS_STOP: dish 7 is not on the menu", `refusal_codes: ["POS_STOP"]`} {
		if !strings.Contains(show, part) {
			t.Errorf("the order lacks %s", part)
		}
	}
	first.kill(t)

	settings.connections[0] += `, refusal_codes: ["POS_STOP"]`
	second := m.start(t, "", settings)
	second.waitFor(t, 10)
	second.place(t, "wrong-order-2").is(t, "with the code", http.StatusBadGateway, "upstream_refused")
	second.place(t, "wrong-order-0").is(t, "the repeated key of an earlier one", http.StatusGatewayTimeout, "order_outcome_unknown")
	resolved := larder(t, clitest.AsOps(second.base, "order", "resolve", refs[0], refs[1], "--outcome", "not_done", "--note", "Maria: no such order")...)
	t.Logf("order resolve:\n%s%s", resolved.Out, resolved.Err)
	if resolved.Status != 0 {
		t.Errorf("order resolve: %+v", resolved)
	}
	for n := range refs {
		second.place(t, fmt.Sprintf("wrong-order-%d", n)).is(t, "a resolved one", http.StatusBadGateway, "upstream_refused")
	}
	if _, orders, _ := service.seen(); len(orders) != 3 {
		t.Errorf("the service got %d orders, want 3", len(orders))
	}
}

// set changes the settings of the ordering service.
func (s *service) set(t *testing.T, settings string) {
	t.Helper()
	request, err := http.NewRequestWithContext(t.Context(), http.MethodPut, s.URL+"/sandbox/settings", strings.NewReader(settings))
	if err != nil {
		t.Fatal(err)
	}
	response, err := http.DefaultClient.Do(request)
	if err != nil {
		t.Fatal(err)
	}
	_ = response.Body.Close()
	if response.StatusCode != http.StatusOK {
		t.Fatalf("settings %s: %d", settings, response.StatusCode)
	}
}

// If the service disables its rejection reasons, orders can be rejected at once. If it
// enables them again, a forced sync fetches them (policy S5a). There are no scheduled
// syncs in this test.
func TestRejectionReasonsFollowTheService_S5a(t *testing.T) {
	t.Parallel()
	service := newService(t)
	p := startProcess(t, service.env("LARDER_SYNC_SCHEDULE=@every 24h"), "serve")
	base := p.url(t)
	waitReady(t, base)
	reasons := func() (list []json.RawMessage) {
		status, body := clitest.Fetch(t, base+"/v1/rejection-reasons")
		if status != http.StatusOK {
			return nil
		}
		return clitest.FromJSON[struct{ Result []json.RawMessage }](t, body).Result
	}
	clitest.Eventually(t, "the reasons are pulled", func() bool { return len(reasons()) > 0 })
	guest := newGuest(t, base)
	reject := guest.call(t, "reject")

	service.set(t, `{"rejectionReasons": false}`)
	without := reject
	without.key, without.body = "without-a-reason", []byte(`{"rejectionReasonID":"","rejectionReasonText":""}`)
	if status, body, err := guest.send(t, without); err != nil || status != http.StatusOK {
		t.Errorf("rejected without a reason: %d %s, %v; want 200", status, body, err)
	}
	if list := reasons(); len(list) != 0 {
		t.Errorf("reasons %s after the service turned them off", list)
	}

	service.set(t, `{"rejectionReasons": true}`)
	must(t, "sync", sandbox.BistroID, "--force", "--url", base, "--client-id", "ops", "--client-secret", "ops-secret")
	list := reasons()
	if len(list) == 0 {
		t.Fatal("no reasons after a forced sync")
	}
	if !bytes.Contains(reject.body, []byte(clitest.FromJSON[struct{ ID string }](t, string(list[0])).ID)) {
		t.Errorf("reasons %s, want those that were listed before", list)
	}
}

// The compatible menu view and the rejection reasons are served while Redis is
// unavailable, even if nobody has read them before.
func TestFirstReadsWithoutRedis(t *testing.T) {
	t.Parallel()
	service, server := newService(t), redistest.Start(t)
	p := startProcess(t, service.env("LARDER_REDIS_URL="+server.URL(), "LARDER_SYNC_SCHEDULE=@every 24h", "LARDER_CACHE_POLL=100ms"), "serve")
	base := p.url(t)
	waitReady(t, base)
	client := server.Client()
	clitest.Eventually(t, "the reasons are pulled", func() bool { return len(client.Keys(t.Context(), "larder:{k:main}:s:*:f1:reasons").Val()) == 1 })
	readTwice(t, server.Addr(), `:reasons" "reasons"`) // when the second poll reads the reasons, the first one has stored them
	guest := newGuest(t, base)
	read := func(path string) (int, string) {
		request, err := http.NewRequestWithContext(t.Context(), http.MethodGet, base+path, http.NoBody)
		if err != nil {
			t.Fatal(err)
		}
		status, body, err := guest.do(request)
		if err != nil {
			t.Fatal(err)
		}
		return status, body
	}
	server.Stop()
	for path, part := range map[string]string{
		"/orders/api/v1/menu/view?restaurantId=" + sandbox.BistroID: `dish-cappuccino`,
		"/orders/api/v1/menu/view":                                  `dish-cappuccino`,
		"/orders/api/v1/rejectionReasons":                           `"isPossibleDelete"`,
		"/v1/rejection-reasons":                                     `"isPossibleDelete"`,
	} {
		if status, body := read(path); status != http.StatusOK || !strings.Contains(body, part) {
			t.Errorf("%s: %d %.200s; want 200 from memory", path, status, body)
		}
	}
}

// readTwice waits until Redis has executed two HMGET of this key and field.
func readTwice(t *testing.T, addr, key string) {
	t.Helper()
	connection, err := new(net.Dialer).DialContext(t.Context(), "tcp", addr)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = connection.Close() }()
	_ = connection.SetDeadline(time.Now().Add(30 * time.Second))
	if _, err := connection.Write([]byte("MONITOR\r\n")); err != nil {
		t.Fatal(err)
	}
	seen, lines := 0, bufio.NewScanner(connection)
	for seen < 2 && lines.Scan() {
		if strings.Contains(lines.Text(), `"hmget"`) && strings.Contains(lines.Text(), key) {
			seen++
		}
	}
	if seen < 2 {
		t.Fatalf("%d times HMGET %s, %v", seen, key, lines.Err())
	}
}
