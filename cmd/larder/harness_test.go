package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"runtime"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/redis/go-redis/v9/logging"
	"go.uber.org/goleak"

	"larder/internal/sleep"
)

// patience bounds every wait of these tests; they wait for events, not for time.
const patience = 2 * time.Minute

// parallel is how many tests run at a time at least, on few processors too:
// those of outages mostly wait for time-outs and schedules.
const parallel = 4

func TestMain(m *testing.M) {
	flag.Parse()
	if runtime.GOMAXPROCS(0) < parallel {
		if err := flag.Set("test.parallel", strconv.Itoa(parallel)); err != nil {
			panic(err)
		}
	}
	logging.Disable() // go-redis reports each refused connection of the tests that stop a server
	// Before the tests: the first one that needs it would take as long as the build.
	dir, err := buildLarder()
	if err != nil {
		_, _ = os.Stderr.WriteString(err.Error() + "\n")
		os.Exit(1)
	}
	built = filepath.Join(dir, "larder")
	status := m.Run()
	http.DefaultClient.CloseIdleConnections()
	if err := goleak.Find(goleak.IgnoreTopFunction("os/signal.signal_recv")); err != nil && status == 0 {
		_, _ = os.Stderr.WriteString(err.Error() + "\n")
		status = 1
	}
	_ = os.RemoveAll(dir)
	os.Exit(status)
}

// outcome is what one command line did.
type outcome struct {
	status   int
	out, err string
}

// command is one command line to be run in this process.
type command struct {
	env         []string
	in          string
	terminal    bool // errors go to one
	outTerminal bool // the output goes to one
}

// world is what a command line of this process sees.
func (c command) world(out, err io.Writer) environment {
	return environment{in: strings.NewReader(c.in), out: printer{out}, err: printer{err}, environ: c.env, terminal: c.terminal, outTerminal: c.outTerminal}
}

func (c command) run(t *testing.T, args ...string) outcome {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), patience)
	defer cancel()
	var out, err bytes.Buffer
	status := run(ctx, args, c.world(&out, &err))
	return outcome{status, out.String(), err.String()}
}

// larder runs one command line in this process, without any environment.
func larder(t *testing.T, args ...string) outcome {
	t.Helper()
	return command{}.run(t, args...)
}

// must is larder that has to succeed.
func must(t *testing.T, args ...string) string {
	t.Helper()
	got := larder(t, args...)
	if got.status != statusDone {
		t.Fatalf("larder %s: status %d\nout: %s\nerr: %s", strings.Join(args, " "), got.status, got.out, got.err)
	}
	return got.out
}

// watched is an output that tests wait for.
type watched struct {
	mu    sync.Mutex
	text  bytes.Buffer
	grown chan struct{} // closed at the next write
}

func newWatched() *watched { return &watched{grown: make(chan struct{})} }

func (w *watched) Write(p []byte) (int, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	close(w.grown)
	w.grown = make(chan struct{})
	return w.text.Write(p)
}

func (w *watched) String() string {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.text.String()
}

// find waits until the output matches and gives the groups of the match.
func (w *watched) find(t *testing.T, pattern string) []string {
	t.Helper()
	matcher := regexp.MustCompile(pattern)
	limit := time.NewTimer(patience)
	defer limit.Stop()
	for {
		w.mu.Lock()
		found, grown := matcher.FindStringSubmatch(w.text.String()), w.grown
		w.mu.Unlock()
		if found != nil {
			return found
		}
		select {
		case <-grown:
		case <-limit.C:
			t.Fatalf("no %q in the output:\n%s", pattern, w)
		}
	}
}

// running is a command that runs until the test ends, in this process.
type running struct {
	out, err *watched
	stop     func() int // ends it and gives its status
}

// start runs a command line until stop is called or the test ends.
func (c command) start(t *testing.T, args ...string) *running {
	t.Helper()
	ctx, cancel := context.WithCancel(context.WithoutCancel(t.Context()))
	r := &running{out: newWatched(), err: newWatched()}
	ended := make(chan int, 1)
	go func() {
		ended <- run(ctx, args, c.world(r.out, r.err))
	}()
	r.stop = sync.OnceValue(func() int {
		cancel()
		return <-ended
	})
	t.Cleanup(func() {
		if status := r.stop(); status != statusDone {
			t.Errorf("larder %s: status %d\n%s", strings.Join(args, " "), status, r.err)
		}
	})
	return r
}

// address waits for the daemon's listeners and gives its URL.
func (r *running) address(t *testing.T) string {
	t.Helper()
	return "http://" + r.err.find(t, `"addr":"([^"]+)","event":"http.listening"`)[1]
}

// fetch reads a URL.
func fetch(t *testing.T, url string) (status int, body string) {
	t.Helper()
	request, err := http.NewRequestWithContext(t.Context(), http.MethodGet, url, http.NoBody)
	if err != nil {
		t.Fatal(err)
	}
	response, err := http.DefaultClient.Do(request)
	if err != nil {
		t.Fatal(err)
	}
	content, err := io.ReadAll(response.Body)
	if closed := response.Body.Close(); err != nil || closed != nil {
		t.Fatal(err, closed)
	}
	return response.StatusCode, string(content)
}

// eventually asks again and again until the answer is as wanted.
func eventually(t *testing.T, what string, is func() bool) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), patience)
	defer cancel()
	for !is() {
		if err := sleep.For(ctx, 10*time.Millisecond); err != nil {
			t.Fatalf("%s: not within %v", what, patience)
		}
	}
}

// built is the path of the program; TestMain builds it.
var built string

// buildLarder builds larder into a new folder.
func buildLarder() (dir string, err error) {
	if dir, err = os.MkdirTemp("", "larder-test-"); err != nil {
		return "", err
	}
	// As it is shipped: static, which the image needs, and quick to start.
	build := exec.Command("go", "build", "-buildvcs=false", "-trimpath", "-tags", "nomsgpack", "-ldflags", "-s -w", "-o", filepath.Join(dir, "larder"), ".") //nolint:noctx // the go command ends by itself
	build.Env = append(os.Environ(), "CGO_ENABLED=0")
	if output, err := build.CombinedOutput(); err != nil {
		return "", errors.Join(fmt.Errorf("build larder: %w\n%s", err, output), os.RemoveAll(dir))
	}
	return dir, nil
}

// fromJSON reads a command's JSON output.
func fromJSON[T any](t *testing.T, text string) T {
	t.Helper()
	var value T
	if err := json.Unmarshal([]byte(text), &value); err != nil {
		t.Fatalf("%v in\n%s", err, text)
	}
	return value
}

// write puts a file into the test's own folder.
func write(t *testing.T, name, content string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), name)
	if err := os.WriteFile(path, []byte(content), 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}
