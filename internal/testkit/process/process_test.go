package process_test

import (
	"context"
	"os"
	"regexp"
	"strings"
	"testing"
	"time"

	"larder.local/internal/testkit/process"
)

// start runs a shell command until the test ends.
func start(t *testing.T, line string, env ...string) *process.Child {
	t.Helper()
	child, err := process.Start(t.Context(), t.TempDir(), "child", env, "/bin/sh", "-c", line)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(child.Kill)
	return child
}

func TestAwaitFindsWhatTheChildPrints(t *testing.T) {
	t.Parallel()
	child := start(t, `echo first; echo "listening on $WHERE" >&2; exec sleep 60`, "WHERE=here")
	address, err := child.Await(t.Context(), regexp.MustCompile(`listening on (\S+)`))
	if err != nil || address != "here" {
		t.Errorf("Await = %q, %v", address, err)
	}
	if err := child.Alive(); err != nil {
		t.Errorf("Alive: %v", err)
	}
	if log, err := os.ReadFile(child.LogPath()); err != nil || string(log) != "first\nlistening on here\n" {
		t.Errorf("the log: %q, %v", log, err)
	}
	ctx, cancel := context.WithTimeout(t.Context(), 10*time.Millisecond) //testwaits:allow the test expects its end
	defer cancel()
	if _, err := child.Await(ctx, regexp.MustCompile(`(never)`)); err == nil || !strings.Contains(err.Error(), "said nothing like") {
		t.Errorf("Await of what is never printed: %v", err)
	}
	child.Stop()
	if err := child.Alive(); err == nil {
		t.Error("the child lives after Stop")
	}
}

func TestAwaitShowsTheLastWordsOfAChildThatEnded(t *testing.T) {
	t.Parallel()
	child := start(t, "echo no memory; exit 3")
	if _, err := child.Await(t.Context(), regexp.MustCompile(`(never)`)); err == nil || !strings.Contains(err.Error(), "no memory") {
		t.Errorf("Await: %v, want the child's last words", err)
	}
}

func TestStartSaysWhatCannotBeStarted(t *testing.T) {
	t.Parallel()
	if _, err := process.Start(t.Context(), t.TempDir(), "child", nil, "/nowhere"); err == nil ||
		!strings.Contains(err.Error(), "start child") {
		t.Errorf("Start: %v", err)
	}
}
