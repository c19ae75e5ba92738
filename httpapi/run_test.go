package httpapi_test

import (
	"context"
	"net"
	"net/http"
	"strings"
	"testing"
	"time"

	"golang.org/x/sync/errgroup"

	"larder.local/httpapi"
	"larder.local/httpapi/auth"
	"larder.local/internal/testkit/apicoverage"
	"larder.local/internal/testkit/apitest"
	"larder.local/internal/upstream"
)

// run starts the fixture's server on its own listeners. stop ends it and returns the result of
// Run.
func run(w *apitest.Fixture) (stop func() error) {
	w.T.Helper()
	if err := w.Server.Listen(w.T.Context()); err != nil {
		w.T.Fatal(err)
	}
	unwatch := apicoverage.Watch(w.T, w.Server.Addr())
	unwatchOps := apicoverage.Watch(w.T, w.Server.OpsAddr())
	ctx, cancel := context.WithCancel(w.T.Context())
	var group errgroup.Group
	group.Go(func() error { return w.Server.Run(ctx) })
	return func() error {
		unwatch()
		unwatchOps()
		cancel()
		return group.Wait()
	}
}

func onPort0(p *apitest.Plan) {
	p.HTTP.Listen = "127.0.0.1:0"
	p.HTTP.OpsListen = "127.0.0.1:0"
}

func TestRunServesBothListeners(t *testing.T) {
	t.Parallel()
	w := newFixture(t, onPort0)
	if w.Server.Addr() != "" || w.Server.OpsAddr() != "" {
		t.Error("an address before Listen")
	}
	stop := run(w)
	if w.Server.Addr() == w.Server.OpsAddr() || strings.HasSuffix(w.Server.Addr(), ":0") {
		t.Errorf("addresses %q and %q", w.Server.Addr(), w.Server.OpsAddr())
	}
	apitest.Do(t, http.MethodGet, "http://"+w.Server.Addr()+apitest.MenuPath, "").Is(t, http.StatusOK)
	apitest.Do(t, http.MethodGet, "http://"+w.Server.OpsAddr()+"/metrics", "").Is(t, http.StatusOK)
	if err := stop(); err != nil {
		t.Errorf("Run: %v", err)
	}
	var dialer net.Dialer
	if connection, err := dialer.DialContext(t.Context(), "tcp", w.Server.Addr()); err == nil {
		_ = connection.Close()
		t.Error("the port is still open after Run")
	}
}

func TestOneListenerServesOps(t *testing.T) {
	t.Parallel()
	w := newFixture(t, onPort0, func(p *apitest.Plan) { p.HTTP.OpsListen = "" })
	stop := run(w)
	if w.Server.OpsAddr() != w.Server.Addr() {
		t.Errorf("ops at %q, not at %q", w.Server.OpsAddr(), w.Server.Addr())
	}
	apitest.Do(t, http.MethodGet, "http://"+w.Server.Addr()+"/metrics", "").Is(t, http.StatusOK)
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
	for name, change := range map[string]func(*apitest.Plan){
		"http.listen":     func(p *apitest.Plan) { p.HTTP.Listen = taken.Addr().String() },
		"http.ops_listen": func(p *apitest.Plan) { p.HTTP.OpsListen = taken.Addr().String() },
	} {
		w := newFixture(t, onPort0, change)
		if err := w.Server.Run(t.Context()); err == nil || !strings.Contains(err.Error(), name) {
			t.Errorf("got %v, want an error that names %s", err, name)
		}
	}
}

// At a stop, a request in progress is completed. /readyz changes first, so that load balancers send
// no new requests.
func TestDrain(t *testing.T) {
	t.Parallel()
	w := newFixture(t, onPort0, func(p *apitest.Plan) { p.HTTP.DrainDelay = 200 * time.Millisecond })
	arrived, finish := make(chan struct{}), make(chan struct{})
	w.Service.AnswerCreate(func([]byte) (upstream.Answer, error) {
		close(arrived)
		<-finish
		return upstream.Answer{OrderID: "1"}, nil
	})
	shop := w.As(apitest.ClientShop)
	stop := run(w)
	base := "http://" + w.Server.Addr()
	var inFlight, stopped errgroup.Group
	var placed apitest.Reply
	inFlight.Go(func() error {
		placed = apitest.Do(t, http.MethodPost, base+apitest.OrdersPath, apitest.Order(), append(append(shop, apitest.Key("k")...), "Content-Type", "application/json")...)
		return nil
	})
	<-arrived
	stopped.Go(stop)
	probe := serve(t, w.Server.Handler()) + "/readyz" // next to the listener that is closing
	for deadline := time.Now().Add(time.Minute); ; {
		if time.Now().After(deadline) {
			t.Fatal("readyz never turned")
		}
		if got := apitest.Do(t, http.MethodGet, probe, ""); got.Status == http.StatusServiceUnavailable {
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
	if placed.Status != http.StatusCreated {
		t.Errorf("the order in flight got %d %s", placed.Status, placed.Body)
	}
}

// Requests that do not finish within the drain timeout are aborted. Run returns anyway.
func TestDrainIsBounded(t *testing.T) {
	t.Parallel()
	w := newFixture(t, onPort0, func(p *apitest.Plan) { p.HTTP.DrainTimeout = 50 * time.Millisecond })
	arrived, finish := make(chan struct{}), make(chan struct{})
	t.Cleanup(func() { close(finish) })
	w.Service.AnswerCreate(func([]byte) (upstream.Answer, error) {
		close(arrived)
		<-finish
		return upstream.Answer{OrderID: "1"}, nil
	})
	shop := w.As(apitest.ClientShop)
	stop := run(w)
	var inFlight errgroup.Group
	inFlight.Go(func() error {
		request, err := http.NewRequestWithContext(t.Context(), http.MethodPost, "http://"+w.Server.Addr()+apitest.OrdersPath, strings.NewReader(apitest.Order()))
		if err != nil {
			return err
		}
		request.Header.Set("Content-Type", "application/json")
		request.Header.Set("Idempotency-Key", "k")
		request.Header.Set(shop[0], shop[1])
		response, err := apitest.Client(t).Do(request)
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
	stop := run(w)
	got := apitest.Do(t, http.MethodGet, "http://"+w.Server.Addr()+apitest.MenuPath, "", "X-Long", strings.Repeat("x", 32<<10))
	if got.Status != http.StatusRequestHeaderFieldsTooLarge {
		t.Errorf("a header of 32 KiB got %d", got.Status)
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
