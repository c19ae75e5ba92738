// Package sleep waits for a time that a context may cut short.
package sleep

import (
	"context"
	"time"
)

// For returns nil after d, or the cause of ctx's end as soon as ctx ends.
func For(ctx context.Context, d time.Duration) error {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C:
		return nil
	case <-ctx.Done():
		return context.Cause(ctx)
	}
}
