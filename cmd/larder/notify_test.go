package main

import (
	"context"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"sync/atomic"
	"syscall"
	"testing"

	"github.com/sirupsen/logrus"
	"github.com/sirupsen/logrus/hooks/test"

	"larder.local/cmd/larder/cli"
	"larder.local/internal/sleep"
	"larder.local/internal/testkit/clitest"
)

// systemdTest is the socket of a service manager. It records the received states.
type systemdTest struct {
	path   string
	states *clitest.Watched // one line for each notification; its lines are joined by |
}

// newSystemd listens like systemd for Type=notify.
func newSystemd(t *testing.T) *systemdTest {
	t.Helper()
	dir, err := os.MkdirTemp("", "larder") //nolint:usetesting // the path of a socket must be short
	if err != nil {
		t.Fatal(err)
	}
	s := &systemdTest{path: filepath.Join(dir, "notify"), states: clitest.NewWatched()}
	conn, err := net.ListenUnixgram("unixgram", &net.UnixAddr{Name: s.path, Net: "unixgram"})
	if err != nil {
		t.Fatal(err)
	}
	done := make(chan struct{})
	go func() {
		defer close(done)
		word := make([]byte, 4096)
		for {
			n, err := conn.Read(word)
			if err != nil {
				return
			}
			_, _ = s.states.Write([]byte(strings.ReplaceAll(strings.TrimSpace(string(word[:n])), "\n", "|") + "\n"))
		}
	}()
	t.Cleanup(func() {
		_ = conn.Close()
		<-done
		_ = os.RemoveAll(dir)
	})
	return s
}

// env returns the variables that systemd sets: the socket, and a watchdog of 600 ms,
// so that larder notifies it every 200 ms.
func (s *systemdTest) env(more ...string) []string {
	return append([]string{"NOTIFY_SOCKET=" + s.path, "WATCHDOG_USEC=600000"}, more...)
}

// count returns how often a state was received.
func (s *systemdTest) count(word string) int {
	return len(regexp.MustCompile(`(?m)^`+word+`$`).FindAllString(s.states.String(), -1))
}

// later waits for three more notifications of the watchdog.
func (s *systemdTest) later(t *testing.T) {
	t.Helper()
	before := s.count("WATCHDOG=1")
	clitest.Eventually(t, "the watchdog is notified again", func() bool { return s.count("WATCHDOG=1") >= before+3 })
}

// systemd receives the states of a process (serving, reloading, stopping) and regular
// watchdog notifications.
func TestSystemdNotifications(t *testing.T) {
	t.Parallel()
	systemd, service := newSystemd(t), newService(t)
	open := service.shut() // startup does not wait for the ordering service
	p := startProcess(t, systemd.env(service.env("LARDER_HTTP_DRAIN_DELAY=1h")...), "serve")
	base := p.url(t)
	systemd.states.Find(t, `^READY=1\|STATUS=serving on `+regexp.QuoteMeta(base)+"\n")
	systemd.later(t)
	<-service.asks
	open()
	waitReady(t, base)

	p.signal(t, syscall.SIGHUP)
	systemd.states.Find(t, `\nRELOADING=1\|MONOTONIC_USEC=\d+\n(WATCHDOG=1\n)*READY=1\n`)
	p.log.Find(t, `"event":"config.reloaded"`)

	p.signal(t, syscall.SIGTERM)
	systemd.states.Find(t, `\nSTOPPING=1\|STATUS=[^\n]+\n`)
	systemd.later(t) // also during a long shutdown
	p.signal(t, syscall.SIGTERM)
	if status := p.status(t); status != cli.StatusFailed {
		t.Errorf("status %d after a second signal, want 1\n%s", status, p.log)
	}
	if all := systemd.states.String(); strings.Count(all, "READY=1") != 2 || strings.Count(all, "STOPPING=1") != 1 {
		t.Errorf("systemd received\n%s", all)
	}
}

// Without a watchdog, systemd receives only the changes of state.
func TestSystemdWithoutAWatchdog(t *testing.T) {
	t.Parallel()
	systemd := newSystemd(t)
	p := startProcess(t, newService(t).env("NOTIFY_SOCKET="+systemd.path), "serve")
	systemd.states.Find(t, `^READY=1\|STATUS=[^\n]+\n`)
	p.signal(t, syscall.SIGHUP)
	systemd.states.Find(t, `^READY=1\|STATUS=[^\n]+\nRELOADING=1\|MONOTONIC_USEC=\d+\nREADY=1\n$`)
	p.signal(t, syscall.SIGTERM)
	if status := p.status(t); status != cli.StatusDone {
		t.Errorf("status %d, want 0\n%s", status, p.log)
	}
	systemd.states.Find(t, `\nREADY=1\nSTOPPING=1\|STATUS=[^\n]+\n$`)
}

// An instance with the maximum number of connections still notifies the watchdog,
// because its self-check keeps a connection.
func TestSystemdWatchdogAtTheConnectionLimit(t *testing.T) {
	t.Parallel()
	systemd, service := newSystemd(t), newService(t)
	p := startProcess(t, systemd.env(service.env("LARDER_HTTP_MAX_CONNECTIONS=2")...), "serve")
	base := p.url(t)
	systemd.states.Find(t, `^READY=1`)
	conn, err := (&net.Dialer{}).DialContext(t.Context(), "tcp", strings.TrimPrefix(base, "http://"))
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close() //nolint:errcheck // it only uses a connection slot
	second, err := (&net.Dialer{}).DialContext(t.Context(), "tcp", strings.TrimPrefix(base, "http://"))
	if err != nil {
		t.Fatal(err)
	}
	defer second.Close() //nolint:errcheck // it waits for a connection slot
	p.log.Find(t, `"event":"http.connection_limit"`)
	systemd.later(t)
}

// The watchdog is not notified while larder does not respond. The test is not
// parallel, because the library reads the environment of this process.
func TestSystemdWatchdogStopsWhenLarderHangs(t *testing.T) { //nolint:paralleltest // see above
	systemd := newSystemd(t)
	for _, entry := range systemd.env() {
		name, value, _ := strings.Cut(entry, "=")
		t.Setenv(name, value)
	}
	var hangs atomic.Bool
	server := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		if hangs.Load() {
			<-r.Context().Done()
		}
	}))
	defer server.Close()
	log, logged := test.NewNullLogger()
	m, err := newNotifier(os.Environ(), log)
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	done := make(chan struct{})
	go func() {
		defer close(done)
		m.follow(ctx, ctx, server.URL)
	}()
	said := func(event string) func() bool {
		return func() bool {
			for _, entry := range logged.AllEntries() {
				if entry.Data["event"] == event {
					return true
				}
			}
			return false
		}
	}
	systemd.states.Find(t, `^READY=1`)
	systemd.later(t)
	hangs.Store(true)
	clitest.Eventually(t, "the log reports that larder does not respond", said("systemd.not_responding"))
	before := systemd.count("WATCHDOG=1")
	if err := sleep.For(ctx, 3*m.watchdog); err != nil { // another notification would arrive in this time
		t.Fatal(err)
	}
	if after := systemd.count("WATCHDOG=1"); after != before {
		t.Errorf("larder hangs and the watchdog was notified %d times", after-before)
	}
	hangs.Store(false)
	clitest.Eventually(t, "the log reports that larder responds", said("systemd.responding"))
	systemd.later(t)
	cancel()
	<-done
	if systemd.count("READY=1.*") != 1 {
		t.Errorf("systemd received\n%s", systemd.states)
	}
}

func TestWatchdogVariablesMustBeValid(t *testing.T) {
	t.Setenv("WATCHDOG_USEC", "soon")
	_, err := newNotifier([]string{"NOTIFY_SOCKET=/run/x"}, logrus.New())
	if err == nil || !strings.Contains(err.Error(), "only systemd should set them") {
		t.Errorf("newNotifier: %v, want what to do", err)
	}
	if m, err := newNotifier(nil, logrus.New()); err != nil || m.wanted {
		t.Errorf("without systemd: %+v, %v", m, err)
	}
}
