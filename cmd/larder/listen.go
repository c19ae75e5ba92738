package main

import (
	"errors"
	"fmt"
	"net"
	"strings"
	"syscall"
)

// listenError says of an address that cannot be listened on what to change.
// what is the flag or key that holds it.
func listenError(err error, what string) error {
	fault, ok := errors.AsType[*net.OpError](err)
	if !ok || fault.Op != "listen" {
		return err
	}
	address := ""
	if fault.Addr != nil {
		address = fault.Addr.String()
	}
	switch {
	case errors.Is(err, syscall.EADDRINUSE):
		return &takenError{fmt.Sprintf("%s is taken by another program: say another address with %s", address, what), err}
	case errors.Is(err, syscall.EACCES):
		return &takenError{fmt.Sprintf("listening on %s is not allowed (ports below 1024 need the right to): say another address with %s", address, what), err}
	case errors.Is(err, syscall.EADDRNOTAVAIL):
		return &takenError{fmt.Sprintf("%s is no address of this machine: say another one with %s", address, what), err}
	default:
		return &takenError{fmt.Sprintf("cannot listen: %s (%s)", innermost(err), what), err}
	}
}

// anyPort shows how a flag asks for any free port.
func anyPort(flag string) string { return " (" + flag + " 127.0.0.1:0 takes any free port)" }

// takenError is an address that cannot be listened on.
type takenError struct {
	msg string
	err error
}

func (e *takenError) Error() string { return e.msg }

func (e *takenError) Unwrap() error { return e.err }

// listenKey is the key of the configuration that a daemon's listener could not
// be opened for.
func listenKey(err error) string {
	if err != nil && strings.Contains(err.Error(), "http.ops_listen") {
		return "http.ops_listen (LARDER_HTTP_OPS_LISTEN)"
	}
	return "http.listen (LARDER_HTTP_LISTEN)"
}
