package cli

import (
	"bytes"
	"context"
	"encoding/json"
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

// printError prints an error and the hint for it.
func (env *Environment) printError(err error, hint string) {
	lines := errorLines(err)
	if len(lines) == 1 && !isA[*usageError](err) {
		lines = []string{strings.TrimSuffix(lines[0], ".") + ". " + hint}
	} else {
		lines = append(slices.Clone(lines), hint)
	}
	first, prefix := stripPackage(lines[0]), "larder:"
	if rest, ok := strings.CutPrefix(first, "larder "); ok { // "larder menu: …"
		first, prefix = rest, "larder"
	}
	env.Err.Printf("%s %s\n", env.errorColours().bad(prefix), first)
	for _, line := range lines[1:] {
		env.Err.Println(line)
	}
}

// commandError is the JSON form of an error. Code and Msg have the same names as in error responses of the HTTP API.
type commandError struct {
	Code   string         `json:"code"`
	Msg    string         `json:"msg"`
	Next   string         `json:"next"` // what to do
	Errors configs.Errors `json:"errors,omitempty"`
}

// The codes of errors that do not come from a daemon.
const (
	codeFailed        = "failed"
	codeUnreachable   = "larder_unreachable"
	codeInterrupted   = "interrupted"
	codeConfiguration = "invalid_configuration"
	codeUsage         = "invalid_usage"
)

// errorJSON returns an error as JSON with code, msg and next. The error response of
// a daemon keeps its code and all members.
func errorJSON(cmd *cobra.Command, err error) json.RawMessage {
	f := commandError{Code: codeFailed, Msg: err.Error(), Next: hintFor(cmd, err)}
	refused, ok := errors.AsType[*client.Error](err)
	switch {
	case ok && refused.Body != nil && !refused.Foreign:
		next, _ := json.Marshal(f.Next)
		body := bytes.TrimSuffix(bytes.TrimSpace(refused.Body), []byte("}"))
		return fmt.Appendf(nil, `%s,"next":%s}`, body, next)
	case ok && refused.NoToken:
		f.Code = refused.Code
	case errors.As(err, &f.Errors):
		f.Code, f.Msg = codeConfiguration, "the configuration has "+Plural(len(f.Errors), "error", "errors")
	case errors.Is(err, context.Canceled):
		f.Code = codeInterrupted
	case isA[*client.UnreachableError](err):
		f.Code = codeUnreachable
	case isA[*usageError](err):
		f.Code = codeUsage
	}
	text, _ := json.Marshal(f) // strings and numbers only
	return text
}

// errReported is returned by a command that has already printed its failure.
var errReported = errors.New("failed")

// reported returns err, or errReported if failed.
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

// usageError is an invalid command line that cobra does not detect.
type usageError struct{ msg string }

func (u *usageError) Error() string { return u.msg }

// NewUsageError returns the error of an invalid command line.
func NewUsageError(msg string) error { return &usageError{msg} }

// linesError is an error with its own text of one or more lines. Line breaks in
// other errors come from outside and are escaped.
type linesError struct {
	lines []string
	err   error // the cause, which lines already describe
}

func (e *linesError) Error() string { return strings.Join(e.lines, "\n") }

func (e *linesError) Unwrap() error { return e.err }

// hintError is an error with its own hint.
type hintError struct {
	error
	hint string
}

func (e *hintError) Unwrap() error { return e.error }

// interrupted returns the error of a command that the user interrupted.
func interrupted(msg string) error { return &linesError{[]string{msg}, context.Canceled} }

// errorLines returns the lines of an error message.
func errorLines(err error) []string {
	switch e := err.(type) { //nolint:errorlint // each wrapper is removed separately
	case *linesError:
		return e.lines
	case *hintError:
		return errorLines(e.error)
	case interface{ Unwrap() []error }:
		var all, texts []string
		for _, each := range e.Unwrap() {
			all, texts = append(all, errorLines(each)...), append(texts, each.Error())
		}
		if strings.Join(texts, "\n") == err.Error() { // joined errors
			return all
		}
	}
	return []string{err.Error()}
}

// ListenError explains why an address cannot be listened on. Its hint is to choose another one with
// what, the flag or key of the address.
func ListenError(err error, what string) error {
	fault, ok := errors.AsType[*net.OpError](err)
	if !ok || fault.Op != "listen" {
		return err
	}
	msg := client.RootCause(err).Error()
	unknown, isDNS := errors.AsType[*net.DNSError](err)
	switch {
	case errors.Is(err, syscall.EADDRINUSE):
		msg = fmt.Sprintf("%v is already in use by another program", fault.Addr)
	case errors.Is(err, syscall.EACCES):
		msg = fmt.Sprintf("listening on %v is not permitted: ports below 1024 need a privilege", fault.Addr)
	case errors.Is(err, syscall.EADDRNOTAVAIL):
		msg = fmt.Sprintf("%v is not an address of this machine", fault.Addr)
	case isDNS && unknown.Err == "no such host":
		msg = unknown.Name + " is not an address of this machine"
	}
	return &hintError{&linesError{[]string{msg}, err}, "Choose another address with " + what + "."}
}

// AnyPort describes how a flag selects any free port.
func AnyPort(flag string) string { return " (" + flag + " 127.0.0.1:0 takes any free port)" }
