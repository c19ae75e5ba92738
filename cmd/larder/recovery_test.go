package main

import (
	"errors"
	"net/http"
	"strings"
	"testing"

	"larder.local/cache"
	"larder.local/cmd/larder/cli"
	"larder.local/configs"
	"larder.local/internal/sandbox"
	"larder.local/internal/setting"
	"larder.local/internal/silentlog"
	"larder.local/internal/testkit/clitest"
	"larder.local/internal/testkit/redistest"
)

func TestServeStartsWithoutRedisAndRecovers(t *testing.T) {
	t.Parallel()
	service, redis := newService(t), redistest.Start(t, redistest.AppendOnly())
	redis.Stop()
	r := command{env: service.env("LARDER_REDIS_URL=" + redis.URL())}.start(t, "serve")
	base := r.Address(t)
	got := larder(t, "status", "--url", base)
	if got.Status != cli.StatusFailed || !strings.Contains(got.Out, "redis") || !strings.Contains(got.Out, "not ok") {
		t.Errorf("status without Redis: %+v, want 1 and Redis named", got)
	}
	if status, body := clitest.Fetch(t, base+"/v1/restaurants/"+sandbox.BistroID+"/menu"); status != http.StatusServiceUnavailable {
		t.Errorf("menu without Redis: %d %s, want 503", status, body)
	}
	redis.Restart()
	waitReady(t, base)
	clitest.Eventually(t, "the menu is served", func() bool {
		status, _ := clitest.Fetch(t, base+"/v1/restaurants/"+sandbox.BistroID+"/menu")
		return status == http.StatusOK
	})
	redis.Stop()
	if status, _ := clitest.Fetch(t, base+"/v1/restaurants/"+sandbox.BistroID+"/menu"); status != http.StatusOK {
		t.Errorf("menu after Redis went away: %d, want it from memory", status)
	}
}

// Contents have no expiry time: without the sweep, Redis would grow without limit.
func TestServeSweepsUnusedContents(t *testing.T) {
	t.Parallel()
	service, server := newService(t), redistest.Start(t)
	command{env: service.env("LARDER_REDIS_URL=" + server.URL())}.start(t, "serve")
	client := server.Client()
	swept := cache.NewKeys("").Swept()
	clitest.Eventually(t, "the day's sweep is taken", func() bool { return client.Exists(t.Context(), swept).Val() == 1 })
}

// After an error, newDaemon closes what it has created, and returns the error.
func TestNewDaemon_Error(t *testing.T) {
	t.Parallel()
	cfg, err := configs.Load("", nil)
	if err != nil {
		t.Fatal(err)
	}
	cfg.Redis.URL = "redis://127.0.0.1/no-number"
	d, err := newDaemon(t.Context(), cfg, silentlog.New(), nil, nil)
	if fault := new(setting.Error); d != nil || !errors.As(err, &fault) || fault.Key != "redis.url" {
		t.Errorf("got %v, %v; want the fault of redis.url", d, err)
	}
}

func TestTheLastGoodMenuIsServedWithoutTheOrderingService(t *testing.T) {
	t.Parallel()
	service := newService(t)
	r := command{env: service.env("LARDER_SYNC_DEADLINE=20s")}.start(t, "serve") // long enough for the first sync of a busy machine
	base := r.Address(t)
	waitReady(t, base)
	_, before := clitest.Fetch(t, base+"/v1/restaurants/"+sandbox.BistroID+"/menu")
	service.CloseClientConnections()
	service.Close()

	got := larder(t, "sync", sandbox.BistroID, "--url", base, "--client-id", "ops", "--client-secret", "ops-secret")
	if got.Status != cli.StatusFailed || !strings.Contains(got.Out, "connection refused") || !strings.Contains(got.Out, "last good menu") {
		t.Errorf("sync without the ordering service: %+v, want 1 and why", got)
	}
	if status, after := clitest.Fetch(t, base+"/v1/restaurants/"+sandbox.BistroID+"/menu"); status != http.StatusOK || after != before {
		t.Errorf("menu without the ordering service: %d, want the last good one", status)
	}
}

func TestServeStartsWithoutTheOrderingService(t *testing.T) {
	t.Parallel()
	service := newService(t)
	env := service.env("LARDER_SYNC_DEADLINE=5s")
	service.Close()
	r := command{env: env}.start(t, "serve")
	base := r.Address(t)
	clitest.Eventually(t, "the failed run has a reason", func() bool {
		return strings.Contains(r.Err.String(), "connection refused")
	})
	if got := larder(t, "status", "--url", base); !strings.Contains(got.Out, "not ok") {
		t.Errorf("status without the ordering service: %+v", got)
	}
}

// A Redis that can lose orders is reported at the start, not only when the first order
// is rejected.
func TestServeWarnsOfNonDurableRedis(t *testing.T) {
	t.Parallel()
	service := newService(t)
	r := command{env: service.env("LARDER_ORDERING_ALLOW_NON_DURABLE=false")}.start(t, "serve")
	r.Err.Find(t, `"event":"order.not_ready","level":"warning","msg":"no orders are placed: the embedded Redis keeps orders in memory only`)
}
