package main

import (
	"context"
	"errors"

	"github.com/spf13/cobra"

	"larder/configs"
)

// fault is a failure as --json shows it: code and msg, as in the error bodies
// of the HTTP interface.
type fault struct {
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

// printFault writes what went wrong as JSON: a daemon's refusal as the daemon
// worded it, whole.
func printFault(cmd *cobra.Command, out printer, err error) error {
	if refused, ok := errors.AsType[*apiError](err); ok && refused.Body != nil {
		return printRaw(out, refused.Body)
	}
	f := fault{Code: codeFailed, Msg: err.Error(), Next: hintFor(cmd, err)}
	switch {
	case errors.As(err, &f.Errors):
		f.Code, f.Msg = codeConfiguration, "the configuration has "+plural(len(f.Errors), "fault", "faults")
	case errors.Is(err, context.Canceled):
		f.Code = codeInterrupted
	case isUnreachable(err):
		f.Code = codeUnreachable
	}
	return printJSON(out, f)
}
