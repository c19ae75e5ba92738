package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"maps"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"larder.local/cache"
	"larder.local/cmd/larder/cli"
	"larder.local/cmd/larder/client"
	"larder.local/cmd/larder/demo"
	"larder.local/internal/menu"
	"larder.local/internal/sandbox"
	"larder.local/internal/testkit/clitest"
	"larder.local/internal/testkit/faultproxy"
	"larder.local/internal/testkit/redistest"
)

// TestKilledAtEveryStep kills a real process with SIGKILL at each message of an order:
// before each request to the journal and the ordering service is delivered, and before
// each response. After a restart the client sends the same key again. The service must
// have executed the call at most once, and the journal must contain its outcome.
func TestKilledAtEveryStep(t *testing.T) {
	t.Parallel()
	redis := redistest.Start(t, redistest.AppendOnly())
	for _, operation := range []string{"create", "pay", "complete", "reject"} {
		t.Run(operation, func(t *testing.T) {
			t.Parallel()
			const most = 40 // a limit for the messages of one call
			passed, slow := 0, 0
			for fired := true; fired && passed < most; {
				k := newScene(t, redis, fmt.Sprintf("kill-%s-%d-%d", operation, passed+1, slow))
				steps, killed, err := k.killAt(t, operation, passed+1)
				k.close()
				switch {
				case t.Failed():
					t.Fatalf("killed at step %d of %v", passed+1, steps)
				case err != nil:
					if slow++; slow > 10 {
						t.Fatalf("step %d: %v", passed+1, err)
					}
				case killed:
					passed++
				default:
					fired = false
				}
			}
			t.Logf("%s: killed at each of %d messages", operation, passed)
			// Lookup of a change, begin, the call, finish: a request and a response each.
			least := 8
			if operation == "create" {
				least = 6
			}
			if passed < least {
				t.Errorf("%s was killed at %d steps, want %d and more", operation, passed, least)
			}
		})
	}
}

// scene is a sandbox and a Redis, each behind a crashProxy.
type scene struct {
	box    *sandbox.Sandbox
	server *httptest.Server
	crash  *crash
	tapped []string // the environment with the proxies
	direct []string // the environment without them
}

func newScene(t *testing.T, redis *redistest.Server, prefix string) *scene {
	t.Helper()
	box := sandbox.New(sandbox.Config{})
	bistro := sandbox.Bistro(sandbox.BistroID, "")
	box.SetMenu(sandbox.BistroID, bistro)
	box.SetMenu(sandbox.DefaultMenu, bistro)
	k := &scene{box: box, server: httptest.NewServer(box.Handler()), crash: &crash{}}
	toRedis := newCrashProxy(t, "redis", redis.Addr(), k.crash, "{o:main}")
	toService := newCrashProxy(t, "service", strings.TrimPrefix(k.server.URL, "http://"), k.crash, "POST /orders/api/v1/orders", "PUT /orders/api/v1/orders")
	env := func(redis, service string, more ...string) []string {
		return append([]string{
			"LARDER_CONFIG=../../configs/demo.yaml", "LARDER_HTTP_LISTEN=127.0.0.1:0", "LARDER_LOG_FORMAT=json",
			"LARDER_CONNECTIONS_0_BASE_URL=" + service, "LARDER_CONNECTIONS_0_AUTH_URL=" + service,
			"LARDER_REDIS_URL=" + redis, "LARDER_REDIS_PREFIX=" + prefix, "LARDER_SYNC_SCHEDULE=@every 1h",
			"LARDER_ORDERING_PLACE_TIMEOUT=700ms", "LARDER_ORDERING_IN_FLIGHT_GRACE=200ms", "LARDER_HTTP_RATE_PLACE=10000/s",
		}, more...)
	}
	// Only the process after the crash sweeps calls without an outcome. All messages
	// of the other process belong to the order.
	k.tapped = env("redis://"+toRedis.addr(), "http://"+toService.addr(), "LARDER_ORDERING_SWEEP_EVERY=1h")
	k.direct = env(redis.URL(), k.server.URL, "LARDER_ORDERING_SWEEP_EVERY=50ms",
		"LARDER_CONNECTIONS_0_FORMER_URLS=http://"+toService.addr()) // the same service
	return k
}

func (k *scene) close() {
	k.box.Close()
	k.server.Close()
}

// errSlow means that a call without a crash took longer than its short timeout, because the machine is busy.
var errSlow = errors.New("an outcome is unknown without a crash")

// killAt makes one call with a process that is killed at its n-th message. It compares
// the state of the next process with the calls that the service executed. It returns
// without a crash if there were fewer than n messages. The error is errSlow.
func (k *scene) killAt(t *testing.T, operation string, n int) (steps []string, fired bool, err error) {
	t.Helper()
	first := startProcess(t, k.tapped, "serve")
	defer func() {
		_ = first.cmd.Process.Kill()
		_ = first.cmd.Wait()
	}()
	guest := newGuest(t, first.url(t))
	waitReady(t, guest.base)
	call, err := guest.prepare(t, operation)
	if err != nil {
		return nil, false, err
	}
	k.crash.arm(n, func() { _ = first.cmd.Process.Kill() })
	status, body, err := guest.send(t, call)
	steps, fired = k.crash.disarm()
	if !fired {
		if status == http.StatusGatewayTimeout {
			return steps, false, errSlow
		}
		if err != nil || status/100 != 2 {
			t.Errorf("%s without a crash: %d %s, %v", operation, status, body, err)
		}
		return steps, false, nil
	}
	_ = first.cmd.Wait()

	second := startProcess(t, k.direct, "serve")
	guest.base = second.url(t)
	waitReady(t, guest.base)
	var final struct {
		status int
		body   string
	}
	clitest.Eventually(t, "the key has an answer", func() bool {
		status, body, err := guest.send(t, call)
		final.status, final.body = status, body
		return err == nil && status != http.StatusConflict && status != http.StatusServiceUnavailable
	})
	executed := k.executed(t, call)
	switch {
	case final.status/100 == 2 && executed == 1:
	case final.status == http.StatusGatewayTimeout && executed <= 1:
	default:
		t.Errorf("%s killed at %v: answered %d %s after %d executions", operation, steps, final.status, final.body, executed)
	}
	status, body, err = guest.send(t, call)
	if again := k.executed(t, call); err != nil || status != final.status || body != final.body || again != executed {
		t.Errorf("%s killed at %v, sent once more: %d %s, %v after %d executions; want the same answer\n%s", operation, steps, status, body, err, again, final.body)
	}
	want := "done"
	if final.status == http.StatusGatewayTimeout {
		want = "unknown"
	}
	if known := guest.known(t, call); known != want {
		t.Errorf("%s killed at %v: the outcome in the journal is %q after status %d, want %q", operation, steps, known, final.status, want)
	}
	_ = second.cmd.Process.Kill()
	_ = second.cmd.Wait()
	return steps, true, nil
}

// executed returns how often the service has executed the operation.
func (k *scene) executed(t *testing.T, call guestCall) int {
	t.Helper()
	status, body := clitest.Fetch(t, k.server.URL+"/sandbox/counters")
	counters := clitest.FromJSON[struct {
		Result struct{ Executed map[string]int }
	}](t, body)
	if status != http.StatusOK {
		t.Fatalf("counters: %d %s", status, body)
	}
	total := 0
	for route, count := range counters.Result.Executed {
		if strings.HasPrefix(route, call.method) && (call.method == http.MethodPost && strings.HasSuffix(route, "/orders") || strings.HasSuffix(route, call.operation)) {
			total += count
		}
	}
	return total
}

// guest is a client of larder.
type guest struct {
	base  string
	http  *http.Client
	order []byte
}

// guestCall is one request with its key.
type guestCall struct {
	operation, method, path, key string
	body                         []byte
}

func newGuest(t *testing.T, base string) *guest {
	t.Helper()
	order, _, err := demo.SampleOrders(sandbox.Bistro(sandbox.BistroID, ""), sandbox.BistroID)
	if err != nil {
		t.Fatal(err)
	}
	g := &guest{base: base, http: &http.Client{Timeout: clitest.WaitLimit}, order: order}
	t.Cleanup(g.http.CloseIdleConnections)
	return g
}

// call returns the request of an operation. It first places the order that the operation changes.
func (g *guest) call(t *testing.T, operation string) guestCall {
	t.Helper()
	call, err := g.prepare(t, operation)
	if err != nil {
		t.Fatal(err)
	}
	return call
}

// prepare is call for short timeouts. The error is errSlow.
func (g *guest) prepare(t *testing.T, operation string) (guestCall, error) {
	t.Helper()
	create := guestCall{"create", http.MethodPost, "/v1/restaurants/" + sandbox.BistroID + "/orders", "the-order", g.order}
	if operation == "create" {
		return create, nil
	}
	status, body, err := g.send(t, create)
	if status == http.StatusGatewayTimeout {
		return create, errSlow
	}
	if err != nil || status != http.StatusCreated {
		t.Fatalf("place the order to be changed: %d %s, %v", status, body, err)
	}
	placed := clitest.FromJSON[struct{ Result cli.OrderRecord }](t, body).Result
	change := guestCall{operation, http.MethodPut, "/v1/orders/" + placed.OrderID + "/" + operation, "the-change", nil}
	pay := fmt.Sprintf(`[{"code":"3b0e6f3c","amount":%s,"paidAt":"2026-05-01T12:00:00+03:00","name":""}]`, placed.Total)
	switch operation {
	case "pay":
		change.body = []byte(pay)
	case "complete":
		paid := guestCall{"pay", http.MethodPut, "/v1/orders/" + placed.OrderID + "/pay", "the-payment", []byte(pay)}
		switch status, body, err := g.send(t, paid); {
		case status == http.StatusGatewayTimeout:
			return paid, errSlow
		case err != nil || status != http.StatusOK:
			t.Fatalf("pay the order to be completed: %d %s, %v", status, body, err)
		}
	case "reject":
		_, reasons := clitest.Fetch(t, g.base+"/v1/rejection-reasons")
		list := clitest.FromJSON[struct{ Result []struct{ ID, Type string } }](t, reasons).Result
		change.body = fmt.Appendf(nil, `{"rejectionReasonID":%q,"rejectionReasonText":"no time"}`, list[0].ID)
	}
	return change, nil
}

// send sends the call with a new token. It returns an error if the connection breaks.
func (g *guest) send(t *testing.T, call guestCall) (status int, body string, err error) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), 20*time.Second)
	defer cancel()
	request, err := http.NewRequestWithContext(ctx, call.method, g.base+call.path, bytes.NewReader(call.body))
	if err != nil {
		t.Fatal(err)
	}
	request.Header.Set("Content-Type", "application/json")
	request.Header.Set("Idempotency-Key", call.key)
	return g.do(request)
}

// do sends a request with a token. Without GetBody, net/http cannot repeat a request
// with an Idempotency-Key if its connection breaks.
func (g *guest) do(request *http.Request) (status int, body string, err error) {
	daemon := client.New(request.Context(), g.base, "storefront", "storefront-secret")
	request.GetBody = nil
	response, err := daemon.Authorized.Do(request)
	if err != nil {
		return 0, "", err
	}
	content, err := io.ReadAll(response.Body)
	_ = response.Body.Close()
	return response.StatusCode, string(content), err
}

// known returns the call's outcome in the journal.
func (g *guest) known(t *testing.T, call guestCall) string {
	t.Helper()
	request, err := http.NewRequestWithContext(t.Context(), http.MethodGet, g.base+"/v1/orders?key="+call.key, http.NoBody)
	if err != nil {
		t.Fatal(err)
	}
	status, body, err := g.do(request)
	if err != nil || status != http.StatusOK {
		t.Fatalf("read the order of the key: %d %s, %v", status, body, err)
	}
	order := clitest.FromJSON[struct{ Result cli.OrderRecord }](t, body).Result
	for _, attempt := range slices.Backward(order.Attempts) {
		if attempt.Operation == call.operation {
			return attempt.Outcome
		}
	}
	return "nothing"
}

// holdingBack is an ordering service that can delay one complete response, so that its
// menu is outdated when larder receives it.
type holdingBack struct {
	service http.Handler

	mu sync.Mutex
	of string // the restaurant whose next response is delayed; empty: none

	asked, made chan struct{} // closed after the request, and after the response is complete
	make, gate  chan struct{} // closed to compute the response, and to send it
}

func (h *holdingBack) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	h.mu.Lock()
	mine := h.of != "" && r.URL.Query().Get("restaurantId") == h.of
	if mine {
		h.of = "" // delay only one response
	}
	h.mu.Unlock()
	if !mine {
		h.service.ServeHTTP(w, r)
		return
	}
	close(h.asked)
	<-h.make
	answer := httptest.NewRecorder()
	h.service.ServeHTTP(answer, r)
	close(h.made)
	<-h.gate
	maps.Copy(w.Header(), answer.Header())
	w.WriteHeader(answer.Code)
	_, _ = w.Write(answer.Body.Bytes())
}

func (h *holdingBack) next(restaurant string) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.of = restaurant
}

// An instance is paused (SIGSTOP) during a sync for longer than its lease. Another one
// takes over the restaurant and publishes. When the first one continues (SIGCONT), it
// receives an outdated menu. It does not publish this menu, and serves that of the
// other instance (policy S2).
func TestPausedInstanceDoesNotPublish_S2(t *testing.T) {
	t.Parallel()
	o := newOutage(t)
	held := &holdingBack{
		service: o.service.Config.Handler,
		asked:   make(chan struct{}),
		made:    make(chan struct{}),
		make:    make(chan struct{}),
		gate:    make(chan struct{}),
	}
	mayMake, mayGo := sync.OnceFunc(func() { close(held.make) }), sync.OnceFunc(func() { close(held.gate) })
	service := httptest.NewServer(held)
	t.Cleanup(service.Close)
	t.Cleanup(func() { mayMake(); mayGo() }) // before the server closes
	o.toService = faultproxy.Start(t, strings.TrimPrefix(service.URL, "http://"))
	o.config = o.configuration(t, "redis://"+o.redis.Addr()+"/0")

	restaurant := o.restaurants[0]
	paused := o.start(t)
	base := o.serving(t, paused)
	db, keys, id := o.redis.Client(), cache.NewKeys(""), menu.RestaurantID(restaurant)
	current := func() map[string]string { return db.HGetAll(t.Context(), keys.Current(id)).Val() }
	first := current()["version"]
	held.next(restaurant)
	<-held.asked
	o.stop(t, restaurant, true)
	mayMake()
	<-held.made // the response has the dish stopped; no version has this stop yet
	paused.signal(t, syscall.SIGSTOP)
	t.Cleanup(func() { _ = paused.cmd.Process.Signal(syscall.SIGCONT) })

	o.dish = anotherDish(t, o)
	o.stop(t, restaurant, true)
	other := o.start(t)
	clitest.Eventually(t, "another takes the restaurant over and publishes", func() bool { return current()["version"] != first })
	// From here on, only the paused instance could publish.
	other.signal(t, syscall.SIGSTOP)
	t.Cleanup(func() { _ = other.cmd.Process.Signal(syscall.SIGCONT) })
	before := current()

	paused.signal(t, syscall.SIGCONT)
	mayGo()
	clitest.Eventually(t, "the paused larder syncs again", func() bool { return current()["checkedAt"] != before["checkedAt"] })
	clitest.Eventually(t, "the paused larder serves the other's version", func() bool {
		status, body := clitest.Fetch(t, base+"/v1/restaurants/"+restaurant+"/menu")
		return status == http.StatusOK && strings.Contains(body, `"version":`+before["version"]+`,`)
	})
	after := current()
	for _, field := range []string{"version", "content", "syncedAt", "publication"} {
		if after[field] != before[field] || after[field] == "" {
			t.Errorf("%s is %q, and was %q when the paused larder went on", field, after[field], before[field])
		}
	}
}

func anotherDish(t *testing.T, o *outage) string {
	t.Helper()
	view, err := menu.Decode(o.generate.Menu(0))
	if err != nil {
		t.Fatal(err)
	}
	for _, dish := range view.Products {
		if dish.ID != o.dish {
			return dish.ID
		}
	}
	t.Fatal("the menu has one dish")
	return ""
}
