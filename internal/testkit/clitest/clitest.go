package clitest

import (
	"bytes"
	"context"
	"encoding/json"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"sync"
	"testing"
	"time"

	"larder.local/internal/sleep"
)

// WaitLimit limits every wait of a test. It can be long, because tests wait for events and not for a fixed time.
const WaitLimit = 2 * time.Minute

// Program is a command line program: it runs args, prints to out and err, and
// returns its exit status. It returns soon after ctx ends.
type Program func(ctx context.Context, args []string, out, err io.Writer) int

// Outcome is the result of one command line.
type Outcome struct {
	Status   int
	Out, Err string
}

// Run runs one command line to its end.
func Run(t *testing.T, p Program, args ...string) Outcome {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), WaitLimit)
	defer cancel()
	var out, err bytes.Buffer
	status := p(ctx, args, &out, &err)
	return Outcome{status, out.String(), err.String()}
}

// Watched is an output that tests can wait for.
type Watched struct {
	mu    sync.Mutex
	text  bytes.Buffer
	grown chan struct{} // closed at the next write
}

// NewWatched returns an empty output.
func NewWatched() *Watched { return &Watched{grown: make(chan struct{})} }

// Write implements io.Writer.
func (w *Watched) Write(p []byte) (int, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	close(w.grown)
	w.grown = make(chan struct{})
	return w.text.Write(p)
}

// String returns the output so far.
func (w *Watched) String() string {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.text.String()
}

// Find waits until the output matches and returns the groups of the match.
func (w *Watched) Find(t *testing.T, pattern string) []string {
	t.Helper()
	matcher := regexp.MustCompile(pattern)
	limit := time.NewTimer(WaitLimit)
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

// Running is a command that runs in this process until the test ends.
type Running struct {
	Out, Err *Watched
	Stop     func() int // stops it and returns its status
}

// Start runs a command line until Stop is called or the test ends. Its exit status
// must be 0.
func Start(t *testing.T, p Program, args ...string) *Running {
	t.Helper()
	ctx, cancel := context.WithCancel(context.WithoutCancel(t.Context()))
	r := &Running{Out: NewWatched(), Err: NewWatched()}
	ended := make(chan int, 1)
	go func() {
		ended <- p(ctx, args, r.Out, r.Err)
	}()
	r.Stop = sync.OnceValue(func() int {
		cancel()
		return <-ended
	})
	t.Cleanup(func() {
		if status := r.Stop(); status != 0 {
			t.Errorf("larder %s: status %d\n%s", strings.Join(args, " "), status, r.Err)
		}
	})
	return r
}

// Address waits for the daemon's listeners and returns its URL.
func (r *Running) Address(t *testing.T) string {
	t.Helper()
	return "http://" + r.Err.Find(t, `"addr":"([^"]+)","event":"http.listening"`)[1]
}

// Fetch requests a URL with GET and returns the status and body of the response.
func Fetch(t *testing.T, url string) (status int, body string) {
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

// Eventually calls condition at intervals until it returns true. The test fails after WaitLimit; what describes
// the condition.
func Eventually(t *testing.T, what string, condition func() bool) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), WaitLimit)
	defer cancel()
	for !condition() {
		if err := sleep.For(ctx, 10*time.Millisecond); err != nil {
			t.Fatalf("%s: not within %v", what, WaitLimit)
		}
	}
}

// FromJSON reads a command's JSON output.
func FromJSON[T any](t *testing.T, text string) T {
	t.Helper()
	var value T
	if err := json.Unmarshal([]byte(text), &value); err != nil {
		t.Fatalf("%v in\n%s", err, text)
	}
	return value
}

// WriteFile writes a file to a new temporary folder of the test and returns its path.
func WriteFile(t *testing.T, name, content string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), name)
	if err := os.WriteFile(path, []byte(content), 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}
