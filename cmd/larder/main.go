// Command larder keeps a restaurant's menu close to the people who read it,
// and lets no wrong order through to the kitchen.
//
// This package is the command line and the wiring: the only place where the
// packages meet concretely. It holds no rules of its own. Every
// goroutine of the daemon is started here, under one errgroup.
package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/signal"
	"runtime"
	"runtime/debug"
	"slices"
	"strings"
	"syscall"
	"time"

	"github.com/spf13/cobra"
	"golang.org/x/term"

	"larder/configs"
)

// main turns signals into the end of a context, and run's answer into the exit
// status. The first signal asks to stop, the second one forces.
func main() {
	ctx, stop := context.WithCancel(context.Background())
	signals := make(chan os.Signal, 2)
	signal.Notify(signals, os.Interrupt, syscall.SIGTERM)
	go func() {
		<-signals
		stop()
		<-signals
		time.AfterFunc(time.Second, func() { os.Exit(statusFailed) }) // the reader of the next line may have stalled
		fmt.Fprintln(os.Stderr, "larder: forced to stop by a second signal")
		os.Exit(statusFailed)
	}()
	os.Exit(run(ctx, os.Args[1:], environment{
		in: os.Stdin, out: printer{os.Stdout}, err: printer{os.Stderr}, environ: os.Environ(),
		terminal: term.IsTerminal(int(os.Stderr.Fd())), outTerminal: term.IsTerminal(int(os.Stdout.Fd())),
	}))
}

// The exit statuses.
const (
	statusDone   = 0
	statusFailed = 1
	statusUsage  = 2
)

// environment is what a command sees of the machine it runs on.
type environment struct {
	in          io.Reader
	out, err    printer
	environ     []string // as os.Environ gives it
	terminal    bool     // a person watches err
	outTerminal bool     // a person watches out
	understood  bool     // the command line: what fails from now on is the command
	// flush ends the buffers of serviceLogger, and droppedLines counts what the
	// log's reader did not get; nil without them.
	flush        func()
	droppedLines func() float64
}

// run executes one command line (without the program's name) and returns the
// exit status. It returns when the command is done, or soon after ctx ends.
func run(ctx context.Context, args []string, env environment) int {
	root := newRoot(&env, args...)            //nolint:contextcheck // ExecuteContext hands the context to every command
	root.SetArgs(append([]string{}, args...)) // cobra takes nil for those of the process
	root.SetIn(env.in)
	root.SetOut(env.out.raw)
	root.SetErr(env.err.raw)
	cmd, err := root.ExecuteContextC(ctx)
	if env.flush != nil {
		defer env.flush()
	}
	switch {
	case err == nil:
		return statusDone
	case errors.Is(err, errReported):
		return statusFailed
	case env.understood && !isA[*usageError](err):
		if asJSON(cmd) {
			_ = printCommandError(cmd, env.out, err) // the status and standard error say it too
		}
		env.printError(err, hintFor(cmd, err))
		return statusFailed
	}
	env.printError(err, "")
	if cmd == root {
		env.err.println(`Run "larder --help" for the commands, "larder COMMAND --help" for one of them.`)
	} else {
		env.err.printf("Run \"%s --help\" for what it takes.\n", cmd.CommandPath())
	}
	return statusUsage
}

// printError prints what went wrong, and what to do.
func (env *environment) printError(err error, hint string) {
	lines := errorLines(err)
	switch {
	case hint == "":
	case len(lines) == 1:
		lines[0] = strings.TrimSuffix(lines[0], ".") + ". " + hint
	default:
		lines = append(slices.Clone(lines), hint)
	}
	env.err.printf("%s %s\n", env.errorColours().bad("larder:"), stripPackage(lines[0]))
	for _, line := range lines[1:] {
		env.err.println(line)
	}
}

// commandError is a failure as --json shows it: code and msg, as in the error bodies
// of the HTTP interface.
type commandError struct {
	Code   string         `json:"code"`
	Msg    string         `json:"msg"`
	Next   string         `json:"next,omitempty"` // what to do
	Errors configs.Errors `json:"errors,omitempty"`
}

// The codes of failures that no daemon has named.
const (
	codeFailed        = "failed"
	codeUnreachable   = "larder_unreachable"
	codeInterrupted   = "interrupted"
	codeConfiguration = "invalid_configuration"
)

// printCommandError writes what went wrong as JSON: a daemon's refusal as the daemon
// worded it, whole.
func printCommandError(cmd *cobra.Command, out printer, err error) error {
	if refused, ok := errors.AsType[*apiError](err); ok && refused.Body != nil {
		return printJSON(out, refused.Body)
	}
	f := commandError{Code: codeFailed, Msg: err.Error(), Next: hintFor(cmd, err)}
	switch {
	case errors.As(err, &f.Errors):
		f.Code, f.Msg = codeConfiguration, "the configuration has "+plural(len(f.Errors), "fault", "faults")
	case errors.Is(err, context.Canceled):
		f.Code = codeInterrupted
	case isA[*unreachableError](err):
		f.Code = codeUnreachable
	}
	return printJSON(out, f)
}

// errReported fails a command whose output already says why.
var errReported = errors.New("failed")

// reported returns err, or errReported where the output says that something failed.
func reported(err error, failed bool) error {
	if err == nil && failed {
		return errReported
	}
	return err
}

// isA reports whether err is, or wraps, an error of type E.
func isA[E error](err error) bool {
	_, ok := errors.AsType[E](err)
	return ok
}

// usageError is a wrong command line that only the command itself can see.
type usageError struct{ msg string }

func (u *usageError) Error() string { return u.msg }

// linesError is an error with a text of its own, which may take several lines.
// Line ends anywhere else in an error come from outside, and are escaped.
type linesError struct {
	lines []string
	err   error // the cause, which the lines already tell
}

func (e *linesError) Error() string { return strings.Join(e.lines, "\n") }

func (e *linesError) Unwrap() error { return e.err }

// interrupted is a command that a person has ended before its end.
func interrupted(msg string) error { return &linesError{[]string{msg}, context.Canceled} }

// errorLines are the lines that an error is printed as.
func errorLines(err error) []string {
	switch e := err.(type) { //nolint:errorlint // each wrapper is taken off by itself
	case *linesError:
		return e.lines
	case *hintError:
		return errorLines(e.error)
	case interface{ Unwrap() []error }:
		var all, texts []string
		for _, each := range e.Unwrap() {
			all, texts = append(all, errorLines(each)...), append(texts, each.Error())
		}
		if strings.Join(texts, "\n") == err.Error() { // joined, not wrapped in a sentence
			return all
		}
	}
	return []string{err.Error()}
}

// openArg reads a FILE argument; "-" is standard input.
func (env *environment) openArg(name string) ([]byte, error) {
	if name == "-" {
		return io.ReadAll(env.in)
	}
	content, err := os.ReadFile(name) //nolint:gosec // G304: the person at the command line names the file
	if err != nil {
		return nil, fmt.Errorf("read %s: %w", name, errors.Unwrap(err))
	}
	return content, nil
}

// version is set by -ldflags "-X main.version=…"; without, the build's own
// information is used.
var version string

// build is what `larder version` knows.
type build struct {
	Version  string `json:"version"`
	Commit   string `json:"commit,omitempty"`
	Modified bool   `json:"modified,omitempty"`
	Time     string `json:"time,omitempty"`
	Go       string `json:"go"`
	Platform string `json:"platform"`
}

func thisBuild() build {
	b := build{Version: version, Go: runtime.Version(), Platform: runtime.GOOS + "/" + runtime.GOARCH}
	info, ok := debug.ReadBuildInfo()
	if !ok {
		return b
	}
	if b.Version == "" {
		b.Version = info.Main.Version
	}
	for _, s := range info.Settings {
		switch s.Key {
		case "vcs.revision":
			b.Commit = s.Value
		case "vcs.time":
			b.Time = s.Value
		case "vcs.modified":
			b.Modified = s.Value == "true"
		}
	}
	return b
}

func versionCommand(env *environment) *cobra.Command {
	cmd := &cobra.Command{
		Use:   "version",
		Short: "Print the version",
		RunE: func(cmd *cobra.Command, _ []string) error {
			b := thisBuild()
			return env.show(cmd, b, func() {
				env.out.printf("larder %s\n", b.Version)
				if b.Commit != "" {
					env.out.printf("commit %s of %s\n", b.Commit, b.Time)
				}
				env.out.printf("%s %s\n", b.Go, b.Platform)
			})
		},
	}
	addJSON(cmd)
	return cmd
}
