package main

import (
	"net/http"
	"strings"
	"testing"

	"larder/internal/redistest"
	"larder/internal/sandbox"
)

func TestServeStartsWithoutRedisAndRecovers(t *testing.T) {
	t.Parallel()
	service, redis := newService(t), redistest.Start(t, redistest.AppendOnly())
	redis.Stop()
	r := command{env: service.env("LARDER_REDIS_URL=" + redis.URL())}.start(t, "serve")
	base := r.address(t)
	got := larder(t, "status", "--url", base)
	if got.status != statusFailed || !strings.Contains(got.out, "redis") || !strings.Contains(got.out, "not ok") {
		t.Errorf("status without Redis: %+v, want 1 and Redis named", got)
	}
	if status, body := fetch(t, base+"/v1/restaurants/"+sandbox.BistroID+"/menu"); status != http.StatusServiceUnavailable {
		t.Errorf("menu without Redis: %d %s, want 503", status, body)
	}
	redis.Restart()
	waitReady(t, base)
	eventually(t, "the menu is served", func() bool {
		status, _ := fetch(t, base+"/v1/restaurants/"+sandbox.BistroID+"/menu")
		return status == http.StatusOK
	})
	redis.Stop()
	if status, _ := fetch(t, base+"/v1/restaurants/"+sandbox.BistroID+"/menu"); status != http.StatusOK {
		t.Errorf("menu after Redis went away: %d, want it from memory", status)
	}
}

func TestTheLastGoodMenuIsServedWithoutTheOrderingService(t *testing.T) {
	t.Parallel()
	service := newService(t)
	r := command{env: service.env("LARDER_SYNC_DEADLINE=1s")}.start(t, "serve")
	base := r.address(t)
	waitReady(t, base)
	_, before := fetch(t, base+"/v1/restaurants/"+sandbox.BistroID+"/menu")
	service.CloseClientConnections()
	service.Close()

	got := larder(t, "sync", sandbox.BistroID, "--url", base, "--client-id", "ops", "--client-secret", "ops-secret")
	if got.status != statusFailed || !strings.Contains(got.out, "connection refused") || !strings.Contains(got.out, "last good menu") {
		t.Errorf("sync without the ordering service: %+v, want 1 and why", got)
	}
	if status, after := fetch(t, base+"/v1/restaurants/"+sandbox.BistroID+"/menu"); status != http.StatusOK || after != before {
		t.Errorf("menu without the ordering service: %d, want the last good one", status)
	}
}

func TestServeStartsWithoutTheOrderingService(t *testing.T) {
	t.Parallel()
	service := newService(t)
	env := service.env("LARDER_SYNC_DEADLINE=1s")
	service.Close()
	r := command{env: env}.start(t, "serve")
	base := r.address(t)
	eventually(t, "the failed run says why", func() bool {
		return strings.Contains(r.err.String(), "connection refused")
	})
	if got := larder(t, "status", "--url", base); !strings.Contains(got.out, "not ok") {
		t.Errorf("status without the ordering service: %+v", got)
	}
}
