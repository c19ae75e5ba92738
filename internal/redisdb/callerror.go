package redisdb

import (
	"context"
	"errors"
	"fmt"
	"time"
)

// CallError returns the error of a call that Redis did not answer, with what was
// being done: ErrUnavailable, or the end of ctx if that is why there is no answer.
// It returns nil if err is nil.
func CallError(ctx context.Context, doing string, err error) error {
	if err == nil {
		return nil
	}
	if ctx.Err() != nil {
		return fmt.Errorf("%s: %w", doing, context.Cause(ctx))
	}
	// A connection's deadline is ctx's own, and may be reported a moment earlier.
	if deadline, ok := ctx.Deadline(); ok && time.Until(deadline) <= 0 {
		return fmt.Errorf("%s: %w", doing, context.DeadlineExceeded)
	}
	if errors.Is(err, ErrUnavailable) {
		return fmt.Errorf("%s: %w", doing, err)
	}
	return fmt.Errorf("%s: %w: %w", doing, ErrUnavailable, err)
}
