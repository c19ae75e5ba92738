package main

import (
	"encoding/json"
	"net/http"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"

	"larder.local/cmd/larder/cli"
	"larder.local/internal/sandbox"
	"larder.local/internal/testkit/clitest"
	"larder.local/internal/testkit/redistest"
)

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
