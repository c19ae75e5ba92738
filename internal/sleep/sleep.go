// Package sleep waits for a time or a signal, until a context ends. Every wait of the
// program that must end with its context uses it. Detached returns a context that ends at its own time.
package sleep

import (
	"context"
	"time"
)

// For waits for d and returns nil. If ctx ends first, it returns the cause at once.
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

// Signal wakes one goroutine that receives from it. It stays set until a goroutine
// receives, however often Set is called.
type Signal chan struct{}

// NewSignal returns a Signal that is not set.
func NewSignal() Signal { return make(Signal, 1) }

// Set sets the signal. It never blocks.
func (s Signal) Set() {
	select {
	case s <- struct{}{}:
	default:
	}
}
