package main

import (
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"larder/internal/cli"
	"larder/internal/sandbox"
	"larder/internal/testkit/clitest"
)

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
