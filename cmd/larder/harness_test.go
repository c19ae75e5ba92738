package main

import (
	"bufio"
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/redis/go-redis/v9/logging"

	"larder.local/cmd/larder/cli"
	"larder.local/cmd/larder/client"
	"larder.local/internal/testkit/clitest"
	"larder.local/internal/testkit/leaktest"
)

// parallel is the minimum number of parallel tests, because tests of outages mostly
// wait for timeouts and schedules.
const parallel = 4

func TestMain(m *testing.M) {
	flag.Parse()
	if runtime.GOMAXPROCS(0) < parallel {
		if err := flag.Set("test.parallel", strconv.Itoa(parallel)); err != nil {
			panic(err)
		}
	}
	logging.Disable() // go-redis logs every refused connection
	// Build before the tests: otherwise the first test that needs the program would
	// include the build.
	dir, err := buildLarder()
	if err != nil {
		_, _ = os.Stderr.WriteString(err.Error() + "\n")
		os.Exit(1)
	}
	built = filepath.Join(dir, "larder")
	status := m.Run()
	http.DefaultClient.CloseIdleConnections()
	status = leaktest.Check(status, "os/signal.signal_recv")
	_ = os.RemoveAll(dir)
	os.Exit(status)
}

// command is a command line that runs in this process.
type command struct {
	env         []string
	in          string
	terminal    bool // standard error is a terminal
	outTerminal bool // standard output is a terminal
}

// world returns the environment of a command line in this process.
func (c command) world(out, err io.Writer) cli.Environment {
	return cli.Environment{
		In:          strings.NewReader(c.in),
		Out:         cli.Printer{Raw: out},
		Err:         cli.Printer{Raw: err},
		Environ:     c.env,
		Terminal:    c.terminal,
		OutTerminal: c.outTerminal,
	}
}

// program runs a command line in this process.
func (c command) program(ctx context.Context, args []string, out, err io.Writer) int {
	return run(ctx, args, c.world(out, err))
}

func (c command) run(t *testing.T, args ...string) clitest.Outcome {
	t.Helper()
	return clitest.Run(t, c.program, args...)
}

// start runs a command line until Stop is called or the test ends.
func (c command) start(t *testing.T, args ...string) *clitest.Running {
	t.Helper()
	return clitest.Start(t, c.program, args...)
}

// larder runs one command line in this process without environment variables.
func larder(t *testing.T, args ...string) clitest.Outcome {
	t.Helper()
	return command{}.run(t, args...)
}

// must runs larder, which must succeed.
func must(t *testing.T, args ...string) string {
	t.Helper()
	got := larder(t, args...)
	if got.Status != cli.StatusDone {
		t.Fatalf("larder %s: status %d\nout: %s\nerr: %s", strings.Join(args, " "), got.Status, got.Out, got.Err)
	}
	return got.Out
}

// built is the path of the program, which TestMain builds.
var built string

// buildLarder builds larder in a new folder.
func buildLarder() (dir string, err error) {
	if dir, err = os.MkdirTemp("", "larder-test-"); err != nil {
		return "", err
	}
	// Static, as released: the image needs a static program.
	build := exec.Command("go", "build", "-buildvcs=false", "-trimpath", "-tags", "nomsgpack", "-ldflags", "-s -w", "-o", filepath.Join(dir, "larder"), ".") //nolint:noctx // the go command ends by itself
	build.Env = append(os.Environ(), "CGO_ENABLED=0")
	if output, err := build.CombinedOutput(); err != nil {
		return "", errors.Join(fmt.Errorf("build larder: %w\n%s", err, output), os.RemoveAll(dir))
	}
	return dir, nil
}

const (
	// quietEvents is the time without any event or heartbeat after which a stream
	// counts as lost.
	quietEvents = time.Minute
	// longestEvent limits one line of a stream, in bytes.
	longestEvent = 1 << 20
)

// eventStream reads the server-sent events of a daemon. Only close is safe for
// concurrent use.
type eventStream struct {
	lines *bufio.Scanner
	quiet *time.Timer // closes the stream
	end   func()
}

// openEvents opens a stream of a's server-sent events. It ends with ctx or after
// close.
func openEvents(ctx context.Context, a *client.Client, path string) (*eventStream, error) {
	caller := *a.HTTP
	if a.Authorized != nil {
		caller = *a.Authorized
	}
	caller.Timeout = 0 // a stream has no time limit
	ctx, cancel := context.WithCancel(ctx)
	quiet := time.AfterFunc(quietEvents, cancel)
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, a.Base+path, http.NoBody)
	if err != nil {
		cancel()
		return nil, err
	}
	request.Header.Set("Accept", "text/event-stream")
	response, err := caller.Do(request)
	if err == nil && response.StatusCode != http.StatusOK {
		err = errors.Join(fmt.Errorf("GET %s: %s", path, response.Status), response.Body.Close())
	}
	if err != nil {
		quiet.Stop()
		cancel()
		return nil, err
	}
	s := &eventStream{lines: bufio.NewScanner(response.Body), quiet: quiet}
	s.lines.Buffer(nil, longestEvent)
	s.end = sync.OnceFunc(func() {
		quiet.Stop()
		cancel()
		_ = response.Body.Close()
	})
	context.AfterFunc(ctx, s.close)
	return s, nil
}

// close ends the stream. It can be called several times.
func (s *eventStream) close() { s.end() }

// next returns the name and the data of the next event, or io.EOF at the end of the
// stream.
func (s *eventStream) next() (name string, data []byte, err error) {
	for s.lines.Scan() {
		s.quiet.Reset(quietEvents)
		field, value, _ := strings.Cut(s.lines.Text(), ":")
		value = strings.TrimPrefix(value, " ")
		switch {
		case s.lines.Text() == "" && name != "":
			return name, data, nil
		case field == "event":
			name = value
		case field == "data":
			data = append(data, value...)
		}
	}
	return "", nil, errors.Join(s.lines.Err(), io.EOF)
}
