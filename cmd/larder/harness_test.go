package main

import (
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
	"testing"

	"github.com/redis/go-redis/v9/logging"

	"larder/internal/cli"
	"larder/internal/testkit/clitest"
	"larder/internal/testkit/leaktest"
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
