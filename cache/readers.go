package cache

import (
	"context"
	"sync/atomic"
	"time"
)

const (
	// giveWayMost bounds how long one piece of work that nobody waits for is
	// put off, giveWayLook is how often it looks whether it may begin.
	giveWayMost = 25 * time.Millisecond
	giveWayLook = time.Millisecond
)

// readers counts the readers who wait for something to be loaded or made, so
// that what is done ahead of any reader does not take the cores from them.
type readers struct{ waiting atomic.Int32 }

// enter counts a reader until leave is called.
func (r *readers) enter() (leave func()) {
	r.waiting.Add(1)
	return func() { r.waiting.Add(-1) }
}

// giveWay returns when no reader waits, or when it has waited long enough, or
// when ctx ends.
func (r *readers) giveWay(ctx context.Context) {
	if r.waiting.Load() == 0 {
		return
	}
	limit := time.NewTimer(giveWayMost)
	defer limit.Stop()
	look := time.NewTicker(giveWayLook)
	defer look.Stop()
	for r.waiting.Load() > 0 {
		select {
		case <-ctx.Done():
			return
		case <-limit.C:
			return
		case <-look.C:
		}
	}
}
