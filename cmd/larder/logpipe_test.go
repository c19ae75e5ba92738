package main

import (
	"bufio"
	"context"
	"io"
	"net/http"
	"os"
	"os/exec"
	"regexp"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/spf13/cobra"

	"larder.local/cmd/larder/cli"
	"larder.local/cmd/larder/demo"
	"larder.local/internal/sandbox"
	"larder.local/internal/testkit/clitest"
)

// piped is a real process whose standard output and error are pipes. The test decides
// when to read from them.
type piped struct {
	process
	out, err *os.File // the reading ends
}

// startPiped starts a process. full names the pipe, standard output or error, that is
// filled before the process writes to it.
func startPiped(t *testing.T, env []string, full string, args ...string) *piped {
	t.Helper()
	program := built
	ctx, cancel := context.WithTimeout(t.Context(), clitest.WaitLimit) // a process that hangs is killed, so its status is not 0
	t.Cleanup(cancel)
	p := &piped{process: process{cmd: exec.CommandContext(ctx, program, args...), log: clitest.NewWatched()}}
	p.cmd.Env = env
	pipe := func(fill bool) (read, write *os.File) {
		read, write, err := os.Pipe()
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { _ = read.Close() }) // a test may have closed it
		if fill {
			fillPipe(t, write)
		}
		return read, write
	}
	var out, errs *os.File
	p.out, out = pipe(full == "out")
	p.err, errs = pipe(full == "err")
	p.cmd.Stdout, p.cmd.Stderr = out, errs
	p.start(t)
	if err := out.Close(); err != nil {
		t.Fatal(err)
	}
	if err := errs.Close(); err != nil {
		t.Fatal(err)
	}
	return p
}

// fillPipe writes to the pipe until it is full.
func fillPipe(t *testing.T, write *os.File) {
	t.Helper()
	connection, err := write.SyscallConn()
	if err != nil {
		t.Fatal(err)
	}
	err = connection.Control(func(fd uintptr) {
		for n := 4096; n > 0; {
			if _, err := syscall.Write(int(fd), make([]byte, n)); err != nil { // EAGAIN: os.Pipe is non-blocking
				n /= 2
			}
		}
		_ = syscall.SetNonblock(int(fd), false) // like a pipe of a shell
	})
	if err != nil {
		t.Fatal(err)
	}
}

// readUntil reads lines until one matches, and returns the groups of the match.
func readUntil(t *testing.T, lines *bufio.Reader, pattern string) []string {
	t.Helper()
	matcher := regexp.MustCompile(pattern)
	for {
		line, err := lines.ReadString('\n')
		if found := matcher.FindStringSubmatch(line); found != nil {
			return found
		}
		if err != nil {
			t.Fatalf("no %q: %v", pattern, err)
		}
	}
}

const listening = `"addr":"([^"]+)","event":"http.listening"`

// chatty adds access logs for all requests to env.
func (s *service) chatty() []string {
	return s.env("LARDER_HTTP_ACCESS_LOG=all", "LARDER_HTTP_METRICS=open")
}

// works checks that larder responds, serves menus and places orders within a time
// limit.
func works(t *testing.T, base string) {
	t.Helper()
	const limit = 20 * time.Second
	for _, path := range []string{"/livez", "/v1/restaurants/" + sandbox.BistroID + "/menu"} {
		client := http.Client{Timeout: limit}
		response, err := client.Get(base + path) //nolint:noctx // the client has a timeout
		if err != nil {
			t.Fatal(err)
		}
		_ = response.Body.Close()
		client.CloseIdleConnections()
		if response.StatusCode != http.StatusOK {
			t.Errorf("%s: %s", path, response.Status)
		}
	}
	order, _, err := demo.SampleOrders(sandbox.Bistro(sandbox.BistroID, ""), sandbox.BistroID)
	if err != nil {
		t.Fatal(err)
	}
	args := []string{"order", "place", "-", "--url", base, "--client-id", "storefront", "--client-secret", "storefront-secret"}
	if got := (command{in: string(order)}).run(t, args...); got.Status != cli.StatusDone {
		t.Errorf("order place: %+v", got)
	}
}

// requestMany sends many small requests, which are logged.
func requestMany(t *testing.T, base string, times int) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), clitest.WaitLimit)
	defer cancel()
	path := base + "/v1/restaurants/" + strings.Repeat("x", 60) + "/menu?" + strings.Repeat("y", 2000)
	for range times {
		request, err := http.NewRequestWithContext(ctx, http.MethodGet, path, http.NoBody)
		if err != nil {
			t.Fatal(err)
		}
		response, err := http.DefaultClient.Do(request)
		if err != nil {
			t.Fatal(err)
		}
		_, _ = io.Copy(io.Discard, response.Body)
		_ = response.Body.Close()
	}
}

func droppedLines(t *testing.T, base string) int {
	t.Helper()
	_, metrics := clitest.Fetch(t, base+"/metrics")
	found := regexp.MustCompile(`(?m)^larder_log_lines_dropped_total (\S+)$`).FindStringSubmatch(metrics)
	if found == nil {
		t.Fatal("no larder_log_lines_dropped_total")
	}
	n, err := strconv.ParseFloat(found[1], 64)
	if err != nil {
		t.Fatal(err)
	}
	return int(n)
}

// Policy H11: the reader of the log may stall. Lines that do not fit into the buffer
// are dropped, counted, and reported when the reader continues.
func TestServe_StalledLogReader_H11(t *testing.T) {
	t.Parallel()
	p := startPiped(t, newService(t).chatty(), "", "serve")
	log := bufio.NewReader(p.err)
	base := "http://" + readUntil(t, log, listening)[1]
	waitReady(t, base)
	// From here on nobody reads: the pipe (64 KiB) and then the buffer fill.
	clitest.Eventually(t, "lines are dropped", func() bool {
		requestMany(t, base, 500)
		return droppedLines(t, base) > 0
	})
	works(t, base)

	rest := clitest.NewWatched()
	copied := make(chan struct{})
	go func() {
		defer close(copied)
		_, _ = io.Copy(rest, log) // until the process ends
	}()
	reported := rest.Find(t, `"dropped":(\d+),"event":"log.lines_dropped","level":"warning"`)
	if want := strconv.Itoa(droppedLines(t, base)); reported[1] != want {
		t.Errorf("the log reports %s dropped lines, the metric %s", reported[1], want)
	}
	requestMany(t, base, 1)
	p.signal(t, syscall.SIGTERM)
	if status := p.status(t); status != cli.StatusDone {
		t.Errorf("status %d, want 0", status)
	}
	<-copied
	if text := rest.String(); strings.Count(text, "log.lines_dropped") != 1 || !strings.Contains(text, `"event":"daemon.stopped"`) {
		t.Errorf("the log reports dropped lines %d times, or the stop is missing", strings.Count(text, "log.lines_dropped"))
	}
}

// TestServe_ClosedLogReader_H11 covers `larder serve 2>&1 | head -1`.
func TestServe_ClosedLogReader_H11(t *testing.T) {
	t.Parallel()
	p := startPiped(t, newService(t).chatty(), "", "serve")
	base := "http://" + readUntil(t, bufio.NewReader(p.err), listening)[1]
	if err := p.err.Close(); err != nil {
		t.Fatal(err)
	}
	if err := p.out.Close(); err != nil {
		t.Fatal(err)
	}
	waitReady(t, base)
	requestMany(t, base, 10)
	works(t, base)
	clitest.Eventually(t, "lines are dropped", func() bool { return droppedLines(t, base) > 0 })
	p.signal(t, syscall.SIGTERM)
	if status := p.status(t); status != cli.StatusDone {
		t.Errorf("status %d, want 0", status)
	}
}

// A stalled or closed reader of its output does not stop the demo. The demo still ends
// on a signal.
func TestDemo_OutputReader(t *testing.T) {
	t.Parallel()
	args := []string{"demo", "--log-level", "info", "--log-format", "json", "--listen", "127.0.0.1:0", "--sandbox-listen", "127.0.0.1:0"}
	for _, full := range []string{"", "out"} {
		p := startPiped(t, nil, full, args...)
		if full == "" {
			if err := p.out.Close(); err != nil {
				t.Fatal(err)
			}
		}
		base := "http://" + readUntil(t, bufio.NewReader(p.err), listening)[1]
		if err := p.err.Close(); err != nil {
			t.Fatal(err)
		}
		waitReady(t, base)
		works(t, base)
		p.signal(t, syscall.SIGTERM)
		if status := p.status(t); status != cli.StatusDone {
			t.Errorf("with the pipe of %q full: status %d, want 0", full, status)
		}
	}
}

// A fatal error ends the process even if nobody reads its output.
func TestServe_FatalErrorWithStalledReader(t *testing.T) {
	t.Parallel()
	p := startPiped(t, []string{"LARDER_CONFIG=" + clitest.WriteFile(t, "larder.yaml", "htp: {}\n")}, "err", "serve")
	if status := p.status(t); status != cli.StatusFailed {
		t.Errorf("status %d, want 1", status)
	}
}

// stalled is a writer that blocks until the test releases it.
type stalled struct {
	*clitest.Watched
	goOn chan struct{}
}

func (s *stalled) Write(p []byte) (int, error) {
	<-s.goOn
	return s.Watched.Write(p)
}

func TestLineBuffer(t *testing.T) {
	t.Parallel()
	to := &stalled{Watched: clitest.NewWatched(), goOn: make(chan struct{})}
	b := newLineBuffer(to)
	b.report = func(dropped int) []byte { return []byte("dropped " + strconv.Itoa(dropped) + "\n") }
	line := strings.Repeat("x", 1023) + "\n"
	const lines = 5000 // 5 MB
	for range lines {
		if n, err := io.WriteString(b, line); n != len(line) || err != nil {
			t.Fatalf("Write: %d, %v", n, err)
		}
	}
	dropped := int(b.droppedLines())
	if kept := lines - dropped; kept < maxBuffered/1024 || kept > 2*maxBuffered/1024 {
		t.Errorf("%d lines of 1 KiB wait, want between one and two buffers", kept)
	}
	limit := make(chan struct{})
	close(limit)
	b.close(limit) // does not wait for a stalled reader

	close(to.goOn)
	b.close(nil)
	text := to.String()
	if want := "dropped " + strconv.Itoa(dropped) + "\n"; strings.Count(text, "\n") != lines-dropped+1 || strings.Count(text, want) != 1 {
		t.Errorf("%d lines came and %q once, want %d lines in all", strings.Count(text, "\n"), want, lines-dropped+1)
	}
	_, _ = io.WriteString(b, "late\n")
	if int(b.droppedLines()) != dropped+1 {
		t.Error("a line after the end is not counted")
	}
}

// A batch that could not be written is reported when writing works again.
func TestLineBuffer_ReportsFailedWrites(t *testing.T) {
	t.Parallel()
	to := clitest.NewWatched()
	failing := true
	b := newLineBuffer(writerFunc(func(p []byte) (int, error) {
		if failing {
			failing = false
			return 0, syscall.ENOSPC
		}
		return to.Write(p)
	}))
	b.report = func(dropped int) []byte { return []byte("dropped " + strconv.Itoa(dropped) + "\n") }
	_, _ = io.WriteString(b, "one\ntwo\n")
	clitest.Eventually(t, "the first batch fails", func() bool { return b.droppedLines() == 2 })
	_, _ = io.WriteString(b, "three\n")
	b.close(nil)
	if got := to.String(); got != "three\ndropped 2\n" {
		t.Errorf("written: %q", got)
	}
}

type writerFunc func(p []byte) (int, error)

func (f writerFunc) Write(p []byte) (int, error) { return f(p) }

// When larder stops, the readers of standard output and error may both have stalled.
func TestFlush_BothReadersStalled(t *testing.T) {
	t.Parallel()
	goOn := make(chan struct{})
	t.Cleanup(func() { close(goOn) })
	reader := writerFunc(func(p []byte) (int, error) {
		<-goOn
		return len(p), nil
	})
	w := &cli.Environment{Out: cli.Printer{Raw: reader}, Err: cli.Printer{Raw: reader}}
	cmd := &cobra.Command{}
	cmd.Flags().String("log-level", "info", "")
	cmd.Flags().String("log-format", "json", "")
	log, err := serviceLogger(cmd, w)
	if err != nil {
		t.Fatal(err)
	}
	w.Out.Println("a line")
	log.Info("a line")
	flushed := make(chan struct{})
	go func() {
		defer close(flushed)
		w.Flush()
	}()
	select {
	case <-flushed:
	case <-time.After(clitest.WaitLimit):
		t.Error("the end waits for readers that have stalled")
	}
}
