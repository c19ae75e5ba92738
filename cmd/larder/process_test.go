package main

import (
	"errors"
	"net/http"
	"net/http/httptest"
	"os/exec"
	"strings"
	"sync"
	"syscall"
	"testing"

	"larder.local/cmd/larder/cli"
	"larder.local/internal/sandbox"
	"larder.local/internal/testkit/clitest"
	"larder.local/internal/testkit/redistest"
)

// service is an ordering service that can delay menus.
type service struct {
	*httptest.Server
	mu   sync.Mutex
	gate chan struct{} // closed: menus are sent at once
	asks chan struct{} // receives one value for each delayed request for a menu
}

func newService(t *testing.T) *service {
	t.Helper()
	kitchen := sandbox.New(sandbox.Config{})
	bistro := sandbox.Bistro(sandbox.BistroID, "")
	kitchen.SetMenu(sandbox.BistroID, bistro)
	kitchen.SetMenu(sandbox.DefaultMenu, bistro)
	s := &service{gate: make(chan struct{}), asks: make(chan struct{}, 100)}
	close(s.gate)
	s.Server = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if strings.HasPrefix(r.URL.Path, "/orders/api/v1/menu/view") {
			s.wait()
		}
		kitchen.Handler().ServeHTTP(w, r)
	}))
	t.Cleanup(func() {
		kitchen.Close()
		s.Close()
	})
	return s
}

func (s *service) wait() {
	s.mu.Lock()
	gate := s.gate
	s.mu.Unlock()
	select {
	case <-gate:
	default:
		s.asks <- struct{}{}
		<-gate
	}
}

// shut delays menus until open is called.
func (s *service) shut() (open func()) {
	s.mu.Lock()
	defer s.mu.Unlock()
	gate := make(chan struct{})
	s.gate = gate
	return sync.OnceFunc(func() { close(gate) })
}

// env returns the settings of demo.yaml with this service and a free port.
func (s *service) env(more ...string) []string {
	return append([]string{
		"LARDER_CONFIG=../../configs/demo.yaml", "LARDER_HTTP_LISTEN=127.0.0.1:0", "LARDER_LOG_FORMAT=json",
		"LARDER_CONNECTIONS_0_BASE_URL=" + s.URL, "LARDER_CONNECTIONS_0_AUTH_URL=" + s.URL,
	}, more...)
}

// process is a real larder process.
type process struct {
	cmd *exec.Cmd
	log *clitest.Watched
}

func startProcess(t *testing.T, env []string, args ...string) *process {
	t.Helper()
	return startProcessTo(t, nil, env, args...)
}

// startProcessTo is startProcess with a file for its standard output.
func startProcessTo(t *testing.T, out *clitest.Watched, env []string, args ...string) *process {
	t.Helper()
	p := &process{cmd: exec.CommandContext(t.Context(), built, args...), log: clitest.NewWatched()}
	p.cmd.Env, p.cmd.Stderr = env, p.log
	if out != nil {
		p.cmd.Stdout = out
	}
	p.start(t)
	return p
}

func (p *process) start(t *testing.T) {
	t.Helper()
	if err := p.cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		_ = p.cmd.Process.Kill()
		_ = p.cmd.Wait() // a test may have waited for it
	})
}

func (p *process) url(t *testing.T) string {
	t.Helper()
	return (&clitest.Running{Err: p.log}).Address(t)
}

func (p *process) signal(t *testing.T, signal syscall.Signal) {
	t.Helper()
	if err := p.cmd.Process.Signal(signal); err != nil {
		t.Fatal(err)
	}
}

// status waits until the process ends and returns its exit status.
func (p *process) status(t *testing.T) int {
	t.Helper()
	err := p.cmd.Wait()
	var exit *exec.ExitError
	if err != nil && !errors.As(err, &exit) {
		t.Fatal(err)
	}
	return p.cmd.ProcessState.ExitCode()
}

func waitReady(t *testing.T, base string) {
	t.Helper()
	clitest.Eventually(t, "ready", func() bool {
		return larder(t, "status", "--url", base).Status == cli.StatusDone
	})
}

// waitSynced waits until larder is ready and the run of the start has ended: it is ready when that run has published the menu,
// and a sync would join the run until it ends.
func waitSynced(t *testing.T, base string) {
	t.Helper()
	waitReady(t, base)
	clitest.Eventually(t, "the run of the start has ended", func() bool {
		got := larder(t, "sync", sandbox.BistroID, "--url", base, "--client-id", "ops", "--client-secret", "ops-secret")
		return strings.Contains(got.Out, "unchanged")
	})
}

func TestSIGTERMFinishesWhatIsInFlight(t *testing.T) {
	t.Parallel()
	for name, signal := range map[string]syscall.Signal{"SIGTERM": syscall.SIGTERM, "SIGINT": syscall.SIGINT} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			service := newService(t)
			p := startProcess(t, service.env(), "serve")
			base := p.url(t)
			waitSynced(t, base)
			open := service.shut()
			defer open()
			answered := make(chan clitest.Outcome, 1)
			go func() {
				answered <- larder(t, "sync", sandbox.BistroID, "--url", base, "--client-id", "ops", "--client-secret", "ops-secret")
			}()
			<-service.asks
			p.signal(t, signal)
			p.log.Find(t, `"event":"daemon.stopping"`)
			open()
			if got := <-answered; got.Status != cli.StatusDone || !strings.Contains(got.Out, "unchanged") {
				t.Errorf("the request in flight got %+v, want its run\n%s", got, p.log)
			}
			if status := p.status(t); status != cli.StatusDone {
				t.Errorf("status %d after %s, want 0\n%s", status, name, p.log)
			}
			p.log.Find(t, `"event":"daemon.stopped"`)
		})
	}
}

func TestTheShutdownIsBounded(t *testing.T) {
	t.Parallel()
	service := newService(t)
	p := startProcess(t, service.env("LARDER_HTTP_DRAIN_TIMEOUT=50ms"), "serve")
	base := p.url(t)
	waitSynced(t, base)
	open := service.shut()
	defer open()
	answered := make(chan clitest.Outcome, 1)
	go func() {
		answered <- larder(t, "sync", sandbox.BistroID, "--force", "--url", base, "--client-id", "ops", "--client-secret", "ops-secret")
	}()
	<-service.asks
	p.signal(t, syscall.SIGTERM)
	if status := p.status(t); status != cli.StatusDone { // larder ends although the service never responds
		t.Errorf("status %d, want 0\n%s", status, p.log)
	}
	if got := <-answered; got.Status != cli.StatusFailed {
		t.Errorf("the request that was cut got %+v, want a failure", got)
	}
}

func TestASecondSignalForces(t *testing.T) {
	t.Parallel()
	service := newService(t)
	p := startProcess(t, service.env("LARDER_HTTP_DRAIN_DELAY=1h"), "serve")
	base := p.url(t)
	waitReady(t, base)
	p.signal(t, syscall.SIGTERM)
	clitest.Eventually(t, "draining is seen on /readyz", func() bool {
		status, _ := clitest.Fetch(t, base+"/readyz")
		return status == http.StatusServiceUnavailable
	})
	p.signal(t, syscall.SIGTERM)
	if status := p.status(t); status != cli.StatusFailed {
		t.Errorf("status %d after a second signal, want 1", status)
	}
	p.log.Find(t, "forced to stop by a second signal")
}

// A SIGHUP must not end larder or cut off requests in progress.
func TestSIGHUPKeepsRequestsInProgress(t *testing.T) {
	t.Parallel()
	service := newService(t)
	p := startProcess(t, service.env(), "serve")
	base := p.url(t)
	waitSynced(t, base)
	open := service.shut()
	defer open()
	answered := make(chan clitest.Outcome, 1)
	go func() {
		answered <- larder(t, "sync", sandbox.BistroID, "--url", base, "--client-id", "ops", "--client-secret", "ops-secret")
	}()
	<-service.asks
	p.signal(t, syscall.SIGHUP)
	p.log.Find(t, `"added":0,"changed":0,"clients":0,"event":"config.reloaded"`)
	open()
	if got := <-answered; got.Status != cli.StatusDone || !strings.Contains(got.Out, "unchanged") {
		t.Errorf("the request in flight got %+v, want its run", got)
	}
	p.signal(t, syscall.SIGTERM)
	if status := p.status(t); status != cli.StatusDone {
		t.Errorf("status %d after SIGHUP and SIGTERM, want 0\n%s", status, p.log)
	}
}

func TestTheBinaryRefusesAWrongConfiguration(t *testing.T) {
	t.Parallel()
	p := startProcess(t, []string{"LARDER_CONFIG=" + clitest.WriteFile(t, "larder.yaml", "htp: {}\n")}, "serve")
	if status := p.status(t); status != cli.StatusFailed {
		t.Errorf("status %d, want 1", status)
	}
	p.log.Find(t, `larder.yaml:1:1: unknown key "htp" in the configuration: did you mean "http"\?`)
}

func TestATakenPortIsReportedWithWhatToChange(t *testing.T) {
	t.Parallel()
	service := newService(t)
	taken := strings.TrimPrefix(service.URL, "http://")
	for name, tc := range map[string]struct {
		got  clitest.Outcome
		says string
	}{
		"serve":         {command{env: service.env("LARDER_HTTP_LISTEN=" + taken)}.run(t, "serve"), "with http.listen (LARDER_HTTP_LISTEN)"},
		"serve, ops":    {command{env: service.env("LARDER_HTTP_OPS_LISTEN=" + taken)}.run(t, "serve"), "with http.ops_listen (LARDER_HTTP_OPS_LISTEN)"},
		"demo":          {larder(t, "demo", "--exit", "--listen", taken), "with --listen (--listen 127.0.0.1:0 takes any free port)"},
		"demo, sandbox": {larder(t, "demo", "--exit", "--sandbox-listen", taken), "with --sandbox-listen (--sandbox-listen 127.0.0.1:0 takes any free port)"},
		"sandbox":       {larder(t, "sandbox", "--listen", taken), "with --listen (--listen 127.0.0.1:0 takes any free port)"},
	} {
		if tc.got.Status != cli.StatusFailed || !strings.Contains(tc.got.Err, taken+" is already in use by another program") || !strings.Contains(tc.got.Err, tc.says) || strings.Contains(tc.got.Err, "httpapi") {
			t.Errorf("%s on a taken port: %+v, want 1 and %q", name, tc.got, tc.says)
		}
	}
	got := larder(t, "sandbox", "--listen", "192.0.2.1:0")
	if got.Status != cli.StatusFailed || !strings.Contains(got.Err, "is not an address of this machine") {
		t.Errorf("sandbox on an address of elsewhere: %+v", got)
	}
}

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
