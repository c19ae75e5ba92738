package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"slices"
	"strings"

	"github.com/spf13/cobra"
)

// The exit statuses.
const (
	statusDone   = 0
	statusFailed = 1
	statusUsage  = 2
)

// world is what a command sees of the machine it runs on.
type world struct {
	in       io.Reader
	out, err printer
	env      []string // as os.Environ gives it
	terminal bool     // a person watches err
	// outTerminal: a person watches out.
	outTerminal bool
	// flush ends the buffers of serviceLogger, and droppedLines counts what the
	// log's reader did not get; nil without them.
	flush        func()
	droppedLines func() float64
}

// run executes one command line (without the program's name) and gives the
// exit status. It returns when the command is done, or soon after ctx ends.
func run(ctx context.Context, args []string, w world) int {
	root := newRoot(&w, args...)              //nolint:contextcheck // ExecuteContext hands the context to every command
	root.SetArgs(append([]string{}, args...)) // cobra takes nil for those of the process
	root.SetIn(w.in)
	root.SetOut(w.out.raw)
	root.SetErr(w.err.raw)
	cmd, err := root.ExecuteContextC(ctx)
	defer func() {
		if w.flush != nil {
			w.flush()
		}
	}()
	var failed *failure
	switch {
	case err == nil:
		return statusDone
	case errors.As(err, &failed):
		if failed.err != nil {
			if asJSON(cmd) {
				_ = printFault(cmd, w.out, failed.err) // the status and standard error say it too
			}
			w.complain(failed.err, hintFor(cmd, failed.err))
		}
		return statusFailed
	default: // cobra's own errors, and usageErrors, are about the command line
		w.complain(err, "")
		if cmd == root {
			w.err.println(`Run "larder --help" for the commands, "larder COMMAND --help" for one of them.`)
		} else {
			w.err.printf("Run \"%s --help\" for what it takes.\n", cmd.CommandPath())
		}
		return statusUsage
	}
}

// complain says what went wrong, and what to do.
func (w *world) complain(err error, hint string) {
	lines := errorLines(err)
	switch {
	case hint == "":
	case len(lines) == 1:
		lines[0] = strings.TrimSuffix(lines[0], ".") + ". " + hint
	default:
		lines = append(slices.Clone(lines), hint)
	}
	w.err.printf("%s %s\n", w.errorColours().bad("larder:"), plain(lines[0]))
	for _, line := range lines[1:] {
		w.err.println(line)
	}
}

// failure is a command that was understood and did not succeed. Without err
// the command has said why itself.
type failure struct{ err error }

func (f *failure) Error() string {
	if f.err == nil {
		return "failed"
	}
	return f.err.Error()
}

func (f *failure) Unwrap() error { return f.err }

// errSaid fails a command whose output already says why.
func errSaid() error { return &failure{} }

// usageError is a wrong command line that only the command itself can see.
type usageError struct{ msg string }

func (u *usageError) Error() string { return u.msg }

// action makes a command's work into cobra's form: what it returns is a
// failure unless it is a usageError.
func action(do func(cmd *cobra.Command, args []string) error) func(*cobra.Command, []string) error {
	return func(cmd *cobra.Command, args []string) error {
		err := do(cmd, args)
		var (
			usage  *usageError
			failed *failure
		)
		if err == nil || errors.As(err, &usage) || errors.As(err, &failed) {
			return err
		}
		return &failure{err}
	}
}

// openArg opens a FILE argument; "-" is standard input.
func (w *world) openArg(name string) ([]byte, error) {
	if name == "-" {
		content, err := io.ReadAll(w.in)
		if err != nil {
			return nil, fmt.Errorf("read standard input: %w", err)
		}
		return content, nil
	}
	content, err := os.ReadFile(name) //nolint:gosec // G304: the person at the command line names the file
	if err != nil {
		return nil, fmt.Errorf("read %s: %w", name, errors.Unwrap(err))
	}
	return content, nil
}
