package cli

import (
	"context"
	"errors"
	"fmt"
	"net"
	"slices"
	"strings"
	"syscall"

	"github.com/spf13/cobra"

	"larder/configs"
	"larder/internal/client"
)

// printError prints what went wrong, and what to do.
func (env *Environment) printError(err error, hint string) {
	lines := errorLines(err)
	switch {
	case hint == "":
	case len(lines) == 1:
		lines[0] = strings.TrimSuffix(lines[0], ".") + ". " + hint
	default:
		lines = append(slices.Clone(lines), hint)
	}
	env.Err.Printf("%s %s\n", env.errorColours().bad("larder:"), stripPackage(lines[0]))
	for _, line := range lines[1:] {
		env.Err.Println(line)
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
func printCommandError(cmd *cobra.Command, out Printer, err error) error {
	if refused, ok := errors.AsType[*client.Error](err); ok && refused.Body != nil {
		return PrintJSON(out, refused.Body)
	}
	f := commandError{Code: codeFailed, Msg: err.Error(), Next: hintFor(cmd, err)}
	switch {
	case errors.As(err, &f.Errors):
		f.Code, f.Msg = codeConfiguration, "the configuration has "+Plural(len(f.Errors), "fault", "faults")
	case errors.Is(err, context.Canceled):
		f.Code = codeInterrupted
	case isA[*client.UnreachableError](err):
		f.Code = codeUnreachable
	}
	return PrintJSON(out, f)
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

// NewUsageError returns the error of a command line that is wrong as msg says.
func NewUsageError(msg string) error { return &usageError{msg} }

// linesError is an error with a text of its own, which may take several lines.
// Line ends anywhere else in an error come from outside, and are escaped.
type linesError struct {
	lines []string
	err   error // the cause, which the lines already tell
}

func (e *linesError) Error() string { return strings.Join(e.lines, "\n") }

func (e *linesError) Unwrap() error { return e.err }

// hintError is an error with a hint of its own.
type hintError struct {
	err  error
	hint string
}

func (e *hintError) Error() string { return e.err.Error() }

func (e *hintError) Unwrap() error { return e.err }

// interrupted is a command that a person has ended before its end.
func interrupted(msg string) error { return &linesError{[]string{msg}, context.Canceled} }

// errorLines are the lines that an error is printed as.
func errorLines(err error) []string {
	switch e := err.(type) { //nolint:errorlint // each wrapper is taken off by itself
	case *linesError:
		return e.lines
	case *hintError:
		return errorLines(e.err)
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

// ListenError explains what to change about an address that cannot be listened on.
// what is the flag or key that holds it.
func ListenError(err error, what string) error {
	fault, ok := errors.AsType[*net.OpError](err)
	if !ok || fault.Op != "listen" {
		return err
	}
	msg := fmt.Sprintf("cannot listen: %s (%s)", client.RootCause(err), what)
	switch {
	case errors.Is(err, syscall.EADDRINUSE):
		msg = fmt.Sprintf("%v is taken by another program: say another address with %s", fault.Addr, what)
	case errors.Is(err, syscall.EACCES):
		msg = fmt.Sprintf("listening on %v is not allowed (ports below 1024 need the right to): say another address with %s",
			fault.Addr, what)
	case errors.Is(err, syscall.EADDRNOTAVAIL):
		msg = fmt.Sprintf("%v is no address of this machine: say another one with %s", fault.Addr, what)
	}
	return &hintError{&linesError{[]string{msg}, err}, ""}
}

// AnyPort shows how a flag asks for any free port.
func AnyPort(flag string) string { return " (" + flag + " 127.0.0.1:0 takes any free port)" }
