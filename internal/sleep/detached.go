package sleep

import (
	"context"
	"sync"
	"time"
)

// detached is the context that Detached returns.
type detached struct {
	context.Context //nolint:containedctx // its values; it has no end

	end  time.Time
	once sync.Once
	done <-chan struct{} // set by Done
}

// Detached returns a context with the values of ctx that ends at the given time, and not with ctx. Unlike
// context.WithDeadline, it has a timer only after a call of Done, which saves three allocations. Code
// that runs for each order calls End and uses its own timer. The end must have a monotonic clock reading.
func Detached(ctx context.Context, end time.Time) context.Context {
	return &detached{Context: context.WithoutCancel(ctx), end: end}
}

// End returns the end of a context that Detached has returned. For other contexts ok is false: they may end earlier.
func End(ctx context.Context) (end time.Time, ok bool) {
	d, ok := ctx.(*detached)
	if !ok {
		return time.Time{}, false
	}
	return d.end, true
}

// Deadline implements context.Context.
func (d *detached) Deadline() (time.Time, bool) { return d.end, true }

// Done implements context.Context.
func (d *detached) Done() <-chan struct{} {
	d.once.Do(func() {
		done := make(chan struct{})
		time.AfterFunc(time.Until(d.end), func() { close(done) }) // must not keep the values in memory until then
		d.done = done
	})
	return d.done
}

// Err implements context.Context.
func (d *detached) Err() error {
	if time.Now().Before(d.end) {
		return nil
	}
	return context.DeadlineExceeded
}
