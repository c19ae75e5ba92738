package main

import (
	"net"
	"strings"
	"testing"

	"larder/internal/cli"
	"larder/internal/testkit/clitest"
)

func TestOpsListener_HintAtThePublicListener(t *testing.T) {
	t.Parallel()
	service := newService(t)
	daemon := command{env: service.env("LARDER_HTTP_OPS_LISTEN=127.0.0.1:0")}.start(t, "serve")
	public := daemon.Address(t)
	waitReady(t, public)
	got := larder(t, clitest.AsOps(public, "sync", "--all")...)
	if got.Status != cli.StatusFailed || !strings.Contains(got.Err, "the operators' API is at another address") || !strings.Contains(got.Err, "http.ops_listen") {
		t.Errorf("sync --all at the public listener: %+v, want a hint to the other one", got)
	}
}

// A full listener for guests does not make a health check fail, because the check uses
// the operators' listener if there is one.
func TestStatusAtTheConnectionLimit(t *testing.T) {
	t.Parallel()
	service := newService(t)
	p := startProcess(t, service.env("LARDER_HTTP_OPS_LISTEN=127.0.0.1:0", "LARDER_HTTP_MAX_CONNECTIONS=2"), "serve")
	base := p.url(t)
	waitReady(t, base)
	guests := strings.TrimPrefix(base, "http://")
	for range 10 { // two use all connection slots, the others wait
		connection, err := (&net.Dialer{}).DialContext(t.Context(), "tcp", guests)
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { _ = connection.Close() })
	}
	p.log.Find(t, `"event":"http.connection_limit"`)
	env := service.env("LARDER_HTTP_OPS_LISTEN=" + p.log.Find(t, `"opsAddr":"([^"]+)"`)[1])
	if got := (command{env: append(env, "LARDER_HTTP_LISTEN="+guests)}).run(t, "status"); got.Status != cli.StatusDone || !strings.Contains(got.Out, ": ok\n") {
		t.Errorf("status: %+v, want 0: the operators' listener answers", got)
	}
}
