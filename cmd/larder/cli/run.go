package cli

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"

	"github.com/spf13/cobra"
)

// Environment is the environment of a command.
type Environment struct {
	In          io.Reader
	Out, Err    Printer
	Environ     []string // see os.Environ
	Terminal    bool     // Err is a terminal
	OutTerminal bool     // Out is a terminal
	understood  bool     // the command line is valid, so an error is not a usage error
	// Flush writes buffered output. DroppedLines returns the number of log lines
	// that were dropped. Both are nil without buffers.
	Flush        func()
	DroppedLines func() float64
}

// openArg reads a FILE argument; "-" is standard input.
func (env *Environment) openArg(name string) ([]byte, error) {
	if name == "-" {
		return io.ReadAll(env.In)
	}
	content, err := os.ReadFile(name)
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

// Run executes a command line (without the program's name) and returns the exit
// status. It returns when the command ends, or soon after ctx ends.
func Run(ctx context.Context, root *cobra.Command, args []string, env *Environment) int {
	root.SetArgs(append([]string{}, args...)) // nil means os.Args
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
		err = &usageError{err.Error()} // an error of cobra
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
