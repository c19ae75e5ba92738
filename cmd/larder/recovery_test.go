package main

import (
	"encoding/json"
	"errors"
	"net/http"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
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

// After a stop, state_dir contains the last order, even if Redis stopped first. After
// the restart, larder detects a backup that lacks only this order (policy O14a).
func TestStateDir_HasTheLastOrder_O14a(t *testing.T) {
	t.Parallel()
	for name, redisStops := range map[string]bool{"larder stops": false, "Redis stops first": true} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			redis, dir := redistest.Start(t, redistest.AppendOnly()), t.TempDir()
			o := newOutageOn(t, redis.URL())
			p := startProcess(t, []string{"LARDER_LOG_FORMAT=json", "LARDER_ORDERING_STATE_DIR=" + dir}, "serve", "--config", o.config)
			base := o.serving(t, p)
			if status, _, body := o.place(t, shopper(t, base), "last"); status != http.StatusCreated {
				t.Fatalf("an order: %d %s", status, body)
			}
			want, err := redis.Client().HGet(t.Context(), "larder:{o:main}:f1:journal", "mark").Result()
			if err != nil {
				t.Fatal(err)
			}
			if redisStops {
				redis.Stop()
			}
			p.signal(t, syscall.SIGTERM)
			if status := p.status(t); status != cli.StatusDone {
				t.Fatalf("status %d\n%s", status, p.log)
			}
			text, err := os.ReadFile(filepath.Join(dir, "journal-main.json"))
			if err != nil {
				t.Fatal(err)
			}
			var kept struct{ Mark int64 }
			if err := json.Unmarshal(text, &kept); err != nil {
				t.Fatal(err)
			}
			if strconv.FormatInt(kept.Mark, 10) != want {
				t.Errorf("the file has mark %d, Redis had %s", kept.Mark, want)
			}
		})
	}
}

// A state_dir that is a file is an error with its place in larder check. larder serve
// logs it and continues (policy O14a).
func TestStateDir_IsAFile(t *testing.T) {
	t.Parallel()
	generate := sandbox.Generate{Restaurants: 1, Products: 3}
	file := newScaled(t, newSandboxOf(t, generate))
	blocked := clitest.WriteFile(t, "state", "")
	head := file.head
	for _, dir := range []string{blocked, filepath.Join(blocked, "deeper")} {
		file.head = "ordering:\n  state_dir: " + dir + "\n" + head
		file.write(t, `  - {id: "`+generate.RestaurantID(0)+`"}`)
		want := file.path + ":2:14: ordering.state_dir: " + dir + " is not a folder"
		if got := larder(t, "check", "--config", file.path); got.Status != cli.StatusFailed || !strings.Contains(got.Err, want) {
			t.Errorf("check: %+v, want %q", got, want)
		}
		got := larder(t, "check", "--json", "--config", file.path)
		if !strings.Contains(got.Out, `"ordering.state_dir"`) || got.Status != cli.StatusFailed {
			t.Errorf("check --json: %+v", got)
		}
	}
	p := startProcess(t, []string{"LARDER_LOG_FORMAT=json"}, "serve", "--config", file.path)
	p.log.Find(t, `"event":"journal.state_file_not_(read|saved)"`)
	waitReady(t, p.url(t))
	p.signal(t, syscall.SIGTERM)
	if status := p.status(t); status != cli.StatusDone {
		t.Errorf("status %d, want 0\n%s", status, p.log)
	}
}

// check --online tests whether larder can write to state_dir, and leaves no files.
func TestStateDir_CheckOnline(t *testing.T) {
	t.Parallel()
	kitchen := newSandboxOf(t, sandbox.Generate{Restaurants: 1, Products: 3})
	empty := t.TempDir()
	for dir, want := range map[string]string{
		empty:                                "ok      ordering.state_dir: " + empty + " can be written\n",
		filepath.Join(empty, "new", "inner"): "ok      ordering.state_dir: " + empty,
		"/proc/larder/state":                 "FAILED  ordering.state_dir: /proc/larder/state is not writable (", // not even root can create a folder there
	} {
		env := []string{
			"LARDER_CONNECTIONS_0_BASE_URL=" + kitchen, "LARDER_CONNECTIONS_0_AUTH_URL=" + kitchen, "LARDER_ORDERING_STATE_DIR=" + dir,
		}
		got := command{env: env}.run(t, "check", "--online", "--config", "../../configs/demo.yaml")
		if !strings.Contains(got.Out, want) || !strings.Contains(got.Out, "orders: can be placed") {
			t.Errorf("%s: %+v, want %q", dir, got, want)
		}
	}
	if left, err := os.ReadDir(empty); len(left) > 0 || err != nil {
		t.Errorf("check --online leaves %v, %v", left, err)
	}
}
