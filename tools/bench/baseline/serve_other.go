//go:build !linux

package baseline

import (
	"context"
	"errors"
	"fmt"
	"net"
)

// Serve has no counterpart here: the loop waits by epoll.
func Serve(context.Context, *net.TCPListener, Answers) error {
	return fmt.Errorf("baseline: needs Linux: %w", errors.ErrUnsupported)
}
