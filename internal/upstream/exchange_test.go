//go:build linux

package upstream_test

import (
	"bytes"
	"context"
	"fmt"
	"net/http"
	"net/http/httptest"
	"net/http/httptrace"
	"os"
	"os/exec"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"larder.local/internal/upstream"
)

const (
	frozenAt     = "LARDER_TEST_FROZEN" // the service for the frozen process
	frozenKeptAt = "LARDER_TEST_FROZEN_KEPT"
	frozenLimit  = 300 * time.Millisecond
)

// A process is suspended between opening a connection and writing to it. It continues after
// its limit, and must not send any more. By then, the call may have been resolved and sent by
// another instance.
func TestFrozen(t *testing.T) {
	t.Parallel()
	if address := os.Getenv(frozenAt); address != "" {
		freeze(t, address)
		return
	}
	var orders atomic.Int32
	service := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if strings.HasSuffix(r.URL.Path, "/token") {
			_, _ = w.Write([]byte(`{"access_token":"a-long-token-of-this-test","expires_in":3600,"token_type":"Bearer"}`))
			return
		}
		orders.Add(1)
		w.WriteHeader(http.StatusCreated)
		_, _ = w.Write([]byte(`{"result":{"orderID":"765"}}`))
	}))
	t.Cleanup(service.Close)
	runFrozen(t, "^TestFrozen$", frozenAt+"="+service.URL)
	if got := orders.Load(); got != 0 {
		t.Errorf("the service got %d orders of a process that was suspended beyond its limit, want none", got)
	}
}

// runFrozen runs a test in another process, waits until it is suspended, and continues it later.
func runFrozen(t *testing.T, name, variable string) {
	t.Helper()
	var said bytes.Buffer
	child := exec.CommandContext(t.Context(), os.Args[0], "-test.run="+name, "-test.v")
	child.Env = append(os.Environ(), variable)
	child.Stdout, child.Stderr = &said, &said
	if err := child.Start(); err != nil {
		t.Fatal(err)
	}
	var status syscall.WaitStatus
	if _, err := syscall.Wait4(child.Process.Pid, &status, syscall.WUNTRACED, nil); err != nil || !status.Stopped() {
		t.Fatalf("the process did not stop: %v, %v\n%s", status, err, &said)
	}
	<-time.After(2 * frozenLimit) //testwaits:allow a suspended process emits no event when time passes
	if err := child.Process.Signal(syscall.SIGCONT); err != nil {
		t.Fatal(err)
	}
	if err := child.Wait(); err != nil {
		t.Errorf("the frozen process: %v\n%s", err, &said)
	}
}

// freeze makes a call and suspends this process before its first byte is written.
func freeze(t *testing.T, address string) {
	t.Helper()
	cfg := upstream.Config{
		Name:         "main",
		BaseURL:      address,
		AuthURL:      address,
		ClientID:     "demo",
		ClientSecret: "demo-secret",
	}
	cfg.SetDefaults()
	cfg.Timeouts.Write = frozenLimit
	client, err := upstream.New(cfg, upstream.Deps{})
	if err != nil {
		t.Fatal(err)
	}
	defer client.Close()
	if _, err := client.Token(t.Context()); err != nil {
		t.Fatal(err)
	}
	_, err = client.CreateOrder(suspending(t), []byte(`{"dishList":[]}`))
	if e := asError(t, err); e.Effect != upstream.EffectNone || e.Refused() {
		t.Errorf("CreateOrder = %v, effect %s; want it not sent", err, e.Effect)
	}
}

// suspending returns a context that suspends this process once, before the first byte of a request is written.
func suspending(t *testing.T) context.Context {
	t.Helper()
	var once sync.Once
	return httptrace.WithClientTrace(context.WithoutCancel(t.Context()), &httptrace.ClientTrace{
		GotConn: func(httptrace.GotConnInfo) { // the write comes next
			once.Do(func() {
				frozen := time.Now()
				if err := syscall.Kill(os.Getpid(), syscall.SIGSTOP); err != nil {
					fmt.Fprintln(os.Stderr, err)
				}
				for time.Since(frozen) < frozenLimit { //testwaits:allow another thread may get the signal first
				}
			})
		},
	})
}

// A process is suspended between taking a kept connection and writing to it, and the service closes the
// connection meanwhile. The order is sent on a new connection, once.
func TestFrozenWithAKeptConnection(t *testing.T) {
	t.Parallel()
	if address := os.Getenv(frozenKeptAt); address != "" {
		cfg := config(address)
		cfg.Timeouts.Reuse = new(time.Minute) // so that only the socket shows that the connection has ended
		client := connect(t, cfg, upstream.WithProven())
		if _, err := client.CreateOrder(t.Context(), []byte(`{}`)); err != nil {
			t.Fatal(err)
		}
		awaitKept(t, client)
		if _, err := client.CreateOrder(suspending(t), []byte(`{}`)); err != nil {
			t.Errorf("an order of a suspended process = %v", err)
		}
		return
	}
	var orders atomic.Int32
	server, conns, _ := counted(t, frozenLimit/2, func(w http.ResponseWriter, r *http.Request) {
		if strings.HasSuffix(r.URL.Path, "/token") {
			w.Header().Set("Connection", "close")
			_, _ = w.Write([]byte(`{"access_token":"a-long-token-of-this-test","expires_in":3600,"token_type":"Bearer"}`))
			return
		}
		orders.Add(1)
		_, _ = w.Write([]byte(`{"orderID":"765"}`))
	})
	runFrozen(t, "^TestFrozenWithAKeptConnection$", frozenKeptAt+"="+server.URL)
	if orders.Load() != 2 || conns.Load() != 3 {
		t.Errorf("the service got %d orders on %d connections, want 2 on 3 with that of the token", orders.Load(), conns.Load())
	}
}
