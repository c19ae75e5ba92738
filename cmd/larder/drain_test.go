package main

import (
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"syscall"
	"testing"

	"larder/internal/cli"
	"larder/internal/sandbox"
	"larder/internal/testkit/clitest"
	"larder/internal/testkit/redistest"
)

// A stop never leaves an order in progress without a record. The outcome is written
// before larder closes Redis, even if the client has disconnected. The next instance
// has this outcome (policy O8).
func TestAStopFinishesOrdersInFlight(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		drain string
		cut   bool
	}{
		"the client gets its answer": {"20s", false},
		"the client is cut":          {"50ms", true},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			kitchen := newSlowSandbox(t)
			redis := redistest.Start(t, redistest.AppendOnly())
			env := []string{
				"LARDER_CONFIG=../../configs/demo.yaml", "LARDER_HTTP_LISTEN=127.0.0.1:0", "LARDER_LOG_FORMAT=json",
				"LARDER_CONNECTIONS_0_BASE_URL=" + kitchen.URL, "LARDER_CONNECTIONS_0_AUTH_URL=" + kitchen.URL,
				"LARDER_REDIS_URL=" + redis.URL(), "LARDER_SYNC_SCHEDULE=@every 1h", "LARDER_HTTP_DRAIN_TIMEOUT=" + test.drain,
			}
			first := startProcess(t, env, "serve")
			guest := newGuest(t, first.url(t))
			waitReady(t, guest.base)
			call := guest.call(t, "create")
			type answer struct {
				status int
				body   string
				err    error
			}
			answered := make(chan answer, 1)
			go func() {
				status, body, err := guest.send(t, call)
				answered <- answer{status, body, err}
			}()
			<-kitchen.arrived
			first.signal(t, syscall.SIGTERM)
			first.log.Find(t, `"event":"daemon.stopping"`)
			var got answer
			if test.cut {
				got = <-answered // before the response of the service
				kitchen.open()
			} else {
				kitchen.open()
				got = <-answered
			}
			if status := first.status(t); status != cli.StatusDone {
				t.Errorf("status %d, want 0\n%s", status, first.log)
			}
			if test.cut != (got.err != nil) || !test.cut && got.status != http.StatusCreated {
				t.Errorf("the client got %+v", got)
			}

			second := startProcess(t, env, "serve")
			guest.base = second.url(t)
			waitReady(t, guest.base)
			if known := guest.known(t, call); known != "done" {
				t.Errorf("the outcome in the journal is %q, want done", known)
			}
			status, body, err := guest.send(t, call)
			if err != nil || status != http.StatusCreated || !test.cut && body != got.body {
				t.Errorf("sent again: %d %s, %v; the first answer was %+v", status, body, err, got)
			}
			if _, orders := clitest.Fetch(t, kitchen.URL+"/sandbox/orders"); strings.Count(orders, `"orderID"`) != 1 {
				t.Errorf("the service has %s", orders)
			}
			second.signal(t, syscall.SIGTERM)
			if status := second.status(t); status != cli.StatusDone {
				t.Errorf("status %d, want 0\n%s", status, second.log)
			}
		})
	}
}

// slowSandbox is an ordering service that delays orders until it opens.
type slowSandbox struct {
	*httptest.Server
	arrived chan struct{} // one for each delayed order
	open    func()
}

func newSlowSandbox(t *testing.T) *slowSandbox {
	t.Helper()
	box := sandbox.New(sandbox.Config{})
	bistro := sandbox.Bistro(sandbox.BistroID, "")
	box.SetMenu(sandbox.BistroID, bistro)
	box.SetMenu(sandbox.DefaultMenu, bistro)
	gate := make(chan struct{})
	k := &slowSandbox{arrived: make(chan struct{}, 10), open: sync.OnceFunc(func() { close(gate) })}
	k.Server = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.Method == http.MethodPost && strings.HasPrefix(r.URL.Path, "/orders/api/v1/orders") {
			k.arrived <- struct{}{}
			<-gate
		}
		box.Handler().ServeHTTP(w, r)
	}))
	t.Cleanup(func() {
		k.open()
		box.Close()
		k.Close()
	})
	return k
}
