//go:build !linux

package baseline

import (
	"context"
	"errors"
	"fmt"
	"net"
)

// Serve is not supported here, because the loop needs epoll.
func Serve(context.Context, *net.TCPListener, Answers) error {
	return fmt.Errorf("baseline: needs Linux: %w", errors.ErrUnsupported)
}
