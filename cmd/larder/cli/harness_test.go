package cli

import (
	"context"
	"io"
	"net/http"
	"os"
	"strings"
	"testing"

	"github.com/spf13/cobra"

	"larder.local/internal/testkit/clitest"
	"larder.local/internal/testkit/leaktest"
)

func TestMain(m *testing.M) {
	if os.Getenv("LARDER_TEST_INIT") != "" {
		env := &Environment{In: os.Stdin, Out: Printer{os.Stdout}, Err: Printer{os.Stderr}}
		os.Exit(Run(context.Background(), programRoot(env, "init"), []string{"init"}, env))
	}
	status := m.Run()
	http.DefaultClient.CloseIdleConnections()
	os.Exit(leaktest.Check(status))
}

// programRoot returns Root with commands in place of those that the program adds.
func programRoot(env *Environment, args ...string) *cobra.Command {
	nothing := func(*cobra.Command, []string) error { return nil }
	serve := &cobra.Command{Use: "serve --config FILE", RunE: nothing}
	AddConfig(serve)
	return Root(env, args, serve, &cobra.Command{Use: "demo", RunE: nothing}, &cobra.Command{Use: "version", RunE: nothing})
}

// command is the environment of a command line in this process.
type command struct {
	env         []string
	in          string
	terminal    bool // standard error is a terminal
	outTerminal bool // standard output is a terminal
}

// program runs a command line in this process.
func (c command) program(ctx context.Context, args []string, out, err io.Writer) int {
	env := &Environment{
		In:          strings.NewReader(c.in),
		Out:         Printer{out},
		Err:         Printer{err},
		Environ:     c.env,
		Terminal:    c.terminal,
		OutTerminal: c.outTerminal,
	}
	return Run(ctx, programRoot(env, args...), args, env) //nolint:contextcheck // ExecuteContext passes the context to every command
}

func (c command) run(t *testing.T, args ...string) clitest.Outcome {
	t.Helper()
	return clitest.Run(t, c.program, args...)
}

// start runs a command line until stop is called or the test ends.
func (c command) start(t *testing.T, args ...string) *clitest.Running {
	t.Helper()
	return clitest.Start(t, c.program, args...)
}

// larder runs a command line in this process, with an empty environment.
func larder(t *testing.T, args ...string) clitest.Outcome {
	t.Helper()
	return command{}.run(t, args...)
}

// must runs larder, which must succeed.
func must(t *testing.T, args ...string) string {
	t.Helper()
	got := larder(t, args...)
	if got.Status != StatusDone {
		t.Fatalf("larder %s: status %d\nout: %s\nerr: %s", strings.Join(args, " "), got.Status, got.Out, got.Err)
	}
	return got.Out
}
