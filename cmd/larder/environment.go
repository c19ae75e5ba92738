package main

import (
	"errors"
	"fmt"
	"io"
	"os"
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
