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

// A health check asks the operators' listener if there is one: guests who fill theirs do not make it fail.
func TestStatusAsksTheOpsListener(t *testing.T) {
	t.Parallel()
	service := newService(t)
	p := startProcess(t, service.env("LARDER_HTTP_OPS_LISTEN=127.0.0.1:0"), "serve")
	waitReady(t, p.url(t))
	full, err := new(net.ListenConfig).Listen(t.Context(), "tcp", "127.0.0.1:0") // it never answers
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = full.Close() })
	env := service.env("LARDER_HTTP_OPS_LISTEN=" + p.log.Find(t, `"opsAddr":"([^"]+)"`)[1])
	got := command{env: append(env, "LARDER_HTTP_LISTEN="+full.Addr().String())}.run(t, "status")
	if got.Status != cli.StatusDone || !strings.Contains(got.Out, ": ok\n") {
		t.Errorf("status: %+v, want 0: the operators' listener answers", got)
	}
}
