package cli

import (
	"errors"
	"fmt"
	"net"
	"syscall"

	"larder/internal/client"
)

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
		msg = fmt.Sprintf("listening on %v is not allowed (ports below 1024 need the right to): say another address with %s", fault.Addr, what)
	case errors.Is(err, syscall.EADDRNOTAVAIL):
		msg = fmt.Sprintf("%v is no address of this machine: say another one with %s", fault.Addr, what)
	}
	return &hintError{&linesError{[]string{msg}, err}, ""}
}

// AnyPort shows how a flag asks for any free port.
func AnyPort(flag string) string { return " (" + flag + " 127.0.0.1:0 takes any free port)" }
