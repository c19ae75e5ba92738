package cli

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"

	"github.com/spf13/cobra"
)

// Environment is what a command sees of the machine it runs on.
type Environment struct {
	In          io.Reader
	Out, Err    Printer
	Environ     []string // as os.Environ gives it
	Terminal    bool     // a person watches Err
	OutTerminal bool     // a person watches Out
	understood  bool     // the command line: what fails from now on is the command
	// Flush writes what the output's buffers hold, and DroppedLines counts the lines
	// that the log's reader did not get; nil without buffers.
	Flush        func()
	DroppedLines func() float64
}

// openArg reads a FILE argument; "-" is standard input.
func (env *Environment) openArg(name string) ([]byte, error) {
	if name == "-" {
		return io.ReadAll(env.In)
	}
	content, err := os.ReadFile(name) //nolint:gosec // G304: the person at the command line names the file
	if err != nil {
		return nil, fmt.Errorf("read %s: %w", name, errors.Unwrap(err))
	}
	return content, nil
}

// The exit statuses.
const (
	StatusDone   = 0
	StatusFailed = 1
	StatusUsage  = 2
)

// Run executes one command line (without the program's name) with the root
// that was made for it, and returns the exit status. It returns when the command
// is done, or soon after ctx ends.
func Run(ctx context.Context, root *cobra.Command, args []string, env *Environment) int {
	root.SetArgs(append([]string{}, args...)) // cobra takes nil for those of the process
	root.SetIn(env.In)
	root.SetOut(env.Out.Raw)
	root.SetErr(env.Err.Raw)
	cmd, err := root.ExecuteContextC(ctx)
	if env.Flush != nil {
		defer env.Flush()
	}
	switch {
	case err == nil:
		return StatusDone
	case errors.Is(err, errReported):
		return StatusFailed
	case !env.understood && !isA[*usageError](err):
		err = &usageError{err.Error()} // cobra's own
	}
	if AsJSON(cmd) {
		_ = PrintJSON(env.Out, errorJSON(cmd, err)) // the status and standard error report it too
	}
	env.printError(err, hintFor(cmd, err))
	if isA[*usageError](err) {
		return StatusUsage
	}
	return StatusFailed
}
