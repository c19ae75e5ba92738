//go:build !linux

package loadgen

import (
	"context"
	"errors"
	"fmt"
)

// Run is not supported here, because the generator needs epoll.
func Run(_ context.Context, plan Plan) (Result, error) {
	if err := plan.check(); err != nil {
		return Result{}, err
	}
	return Result{}, fmt.Errorf("loadgen: needs Linux: %w", errors.ErrUnsupported)
}
