package httpapi_test

import (
	"context"
	"net"
	"net/http"
	"strings"
	"testing"
	"time"

	"golang.org/x/sync/errgroup"

	"larder/httpapi"
	"larder/httpapi/auth"
	"larder/internal/upstream"
)

// running starts the fixture's server on its own listeners. stop ends it and returns the result of
// Run.
func (w *fixture) running() (stop func() error) {
	w.t.Helper()
	if err := w.server.Listen(w.t.Context()); err != nil {
		w.t.Fatal(err)
	}
	unwatch := watch(w.t, w.server.Addr())
	unwatchOps := watch(w.t, w.server.OpsAddr())
	ctx, cancel := context.WithCancel(w.t.Context())
	var group errgroup.Group
	group.Go(func() error { return w.server.Run(ctx) })
	return func() error {
		unwatch()
		unwatchOps()
		cancel()
		return group.Wait()
	}
}

func onPort0(p *plan) {
	p.cfg.Listen = "127.0.0.1:0"
	p.cfg.OpsListen = "127.0.0.1:0"
}

func TestRunServesBothListeners(t *testing.T) {
	t.Parallel()
	w := newFixture(t, onPort0)
	if w.server.Addr() != "" || w.server.OpsAddr() != "" {
		t.Error("an address before Listen")
	}
	stop := w.running()
	if w.server.Addr() == w.server.OpsAddr() || strings.HasSuffix(w.server.Addr(), ":0") {
		t.Errorf("addresses %q and %q", w.server.Addr(), w.server.OpsAddr())
	}
	do(t, http.MethodGet, "http://"+w.server.Addr()+menuPath, "").is(t, http.StatusOK)
	do(t, http.MethodGet, "http://"+w.server.OpsAddr()+"/metrics", "").is(t, http.StatusOK)
	if err := stop(); err != nil {
		t.Errorf("Run: %v", err)
	}
	var dialer net.Dialer
	if connection, err := dialer.DialContext(t.Context(), "tcp", w.server.Addr()); err == nil {
		_ = connection.Close()
		t.Error("the port is still open after Run")
	}
}

func TestOneListenerServesOps(t *testing.T) {
	t.Parallel()
	w := newFixture(t, onPort0, func(p *plan) { p.cfg.OpsListen = "" })
	stop := w.running()
	if w.server.OpsAddr() != w.server.Addr() {
		t.Errorf("ops at %q, not at %q", w.server.OpsAddr(), w.server.Addr())
	}
	do(t, http.MethodGet, "http://"+w.server.Addr()+"/metrics", "").is(t, http.StatusOK)
	if err := stop(); err != nil {
		t.Error(err)
	}
}

func TestATakenPortIsAnError(t *testing.T) {
	t.Parallel()
	var config net.ListenConfig
	taken, err := config.Listen(t.Context(), "tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = taken.Close() })
	for name, change := range map[string]func(*plan){
		"http.listen":     func(p *plan) { p.cfg.Listen = taken.Addr().String() },
		"http.ops_listen": func(p *plan) { p.cfg.OpsListen = taken.Addr().String() },
	} {
		w := newFixture(t, onPort0, change)
		if err := w.server.Run(t.Context()); err == nil || !strings.Contains(err.Error(), name) {
			t.Errorf("got %v, want an error that names %s", err, name)
		}
	}
}

// At a stop, a request in progress is completed. /readyz changes first, so that load balancers send
// no new requests.
func TestDrain(t *testing.T) {
	t.Parallel()
	w := newFixture(t, onPort0, func(p *plan) { p.cfg.DrainDelay = 200 * time.Millisecond })
	arrived, finish := make(chan struct{}), make(chan struct{})
	w.service.answerCreate(func([]byte) (upstream.Created, error) {
		close(arrived)
		<-finish
		return upstream.Created{OrderID: "1"}, nil
	})
	shop := w.as(clientShop)
	stop := w.running()
	base := "http://" + w.server.Addr()
	var inFlight, stopped errgroup.Group
	var placed reply
	inFlight.Go(func() error {
		placed = do(t, http.MethodPost, base+ordersPath, order(), append(append(shop, key("k")...), "Content-Type", "application/json")...)
		return nil
	})
	<-arrived
	stopped.Go(stop)
	probe := serve(t, w.server.Handler()) + "/readyz" // next to the listener that is closing
	for deadline := time.Now().Add(time.Minute); ; {
		if time.Now().After(deadline) {
			t.Fatal("readyz never turned")
		}
		if got := do(t, http.MethodGet, probe, ""); got.status == http.StatusServiceUnavailable {
			break
		}
	}
	close(finish)
	if err := stopped.Wait(); err != nil {
		t.Errorf("Run: %v", err)
	}
	if err := inFlight.Wait(); err != nil {
		t.Fatal(err)
	}
	if placed.status != http.StatusCreated {
		t.Errorf("the order in flight got %d %s", placed.status, placed.body)
	}
}

// Requests that do not finish within the drain timeout are aborted. Run returns anyway.
func TestDrainIsBounded(t *testing.T) {
	t.Parallel()
	w := newFixture(t, onPort0, func(p *plan) { p.cfg.DrainTimeout = 50 * time.Millisecond })
	arrived, finish := make(chan struct{}), make(chan struct{})
	t.Cleanup(func() { close(finish) })
	w.service.answerCreate(func([]byte) (upstream.Created, error) {
		close(arrived)
		<-finish
		return upstream.Created{OrderID: "1"}, nil
	})
	shop := w.as(clientShop)
	stop := w.running()
	var inFlight errgroup.Group
	inFlight.Go(func() error {
		request, err := http.NewRequestWithContext(t.Context(), http.MethodPost, "http://"+w.server.Addr()+ordersPath, strings.NewReader(order()))
		if err != nil {
			return err
		}
		request.Header.Set("Content-Type", "application/json")
		request.Header.Set("Idempotency-Key", "k")
		request.Header.Set(shop[0], shop[1])
		response, err := transport(t).Do(request)
		if err == nil {
			_ = response.Body.Close()
			t.Error("a request that was never finished got an answer")
		}
		return nil
	})
	<-arrived
	if err := stop(); err != nil {
		t.Errorf("Run: %v", err)
	}
	if err := inFlight.Wait(); err != nil {
		t.Error(err)
	}
}

func TestHeaderIsLimited(t *testing.T) { // policy H1
	t.Parallel()
	w := newFixture(t, onPort0)
	stop := w.running()
	got := do(t, http.MethodGet, "http://"+w.server.Addr()+menuPath, "", "X-Long", strings.Repeat("x", 32<<10))
	if got.status != http.StatusRequestHeaderFieldsTooLarge {
		t.Errorf("a header of 32 KiB got %d", got.status)
	}
	if err := stop(); err != nil {
		t.Error(err)
	}
}

func TestNewRefusesWhatCannotBeMeant(t *testing.T) {
	t.Parallel()
	var cfg httpapi.Config
	var authCfg auth.Config
	cfg.SetDefaults()
	authCfg.SetDefaults()
	cfg.Listen = "0.0.0.0:8080"
	authCfg.Clients = []auth.ClientConfig{{ID: "storefront", Secret: "storefront-secret", Scopes: []auth.Scope{"menu"}}}
	if _, err := httpapi.New(cfg, authCfg, httpapi.Deps{}); err == nil || !strings.Contains(err.Error(), "auth.clients[0].secret") {
		t.Errorf("got %v, want a refusal of the demo's secret off loopback (policy H4)", err)
	}
}
