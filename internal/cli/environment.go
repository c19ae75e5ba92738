package cli

import (
	"errors"
	"fmt"
	"io"
	"os"
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
