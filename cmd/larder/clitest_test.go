package main

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

	"larder/internal/sleep"
)

// patience bounds every wait of a test; tests wait for events, not for time.
const patience = 2 * time.Minute

// program is a command line program: it runs args, prints to out and err, and
// returns its exit status. It returns soon after ctx ends.
type program func(ctx context.Context, args []string, out, err io.Writer) int

// outcome is what one command line did.
type outcome struct {
	status   int
	out, err string
}

// runProgram runs one command line to its end.
func runProgram(t *testing.T, p program, args ...string) outcome {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), patience)
	defer cancel()
	var out, err bytes.Buffer
	status := p(ctx, args, &out, &err)
	return outcome{status, out.String(), err.String()}
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

// startProgram runs a command line until stop is called or the test ends. Its exit
// status must be 0.
func startProgram(t *testing.T, p program, args ...string) *running {
	t.Helper()
	ctx, cancel := context.WithCancel(context.WithoutCancel(t.Context()))
	r := &running{out: newWatched(), err: newWatched()}
	ended := make(chan int, 1)
	go func() {
		ended <- p(ctx, args, r.out, r.err)
	}()
	r.stop = sync.OnceValue(func() int {
		cancel()
		return <-ended
	})
	t.Cleanup(func() {
		if status := r.stop(); status != 0 {
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
