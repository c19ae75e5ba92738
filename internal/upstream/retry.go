package upstream

import (
	"context"
	"errors"
	"time"

	"github.com/failsafe-go/failsafe-go/circuitbreaker"
	"github.com/sirupsen/logrus"

	"larder/internal/sleep"
	"larder/internal/tracing"
)

// The attempts of one call and the pauses between them (policy S5).
const (
	maxTries = 4
	maxPause = 10 * time.Second
	// readPause begins the pauses of a read, which nobody waits for: a service
	// that starts together with larder is there by the last attempt. writePause
	// begins those of a write, which a guest waits for.
	readPause  = time.Second
	writePause = 200 * time.Millisecond
	// maxRetryAfter is the longest a call waits because the service asks; a
	// longer wish ends the call, with the wish in the Error.
	maxRetryAfter = 2 * time.Minute
)

// When the breaker of a connection opens, and for how long.
const (
	breakerFailures = 5
	breakerDelay    = 15 * time.Second
)

// newBreaker makes a connection's breaker: it opens after 5 reads in a row
// that failed by the service's fault, retries included, and lets one through
// after about 15 s.
func newBreaker(log logrus.FieldLogger) circuitbreaker.CircuitBreaker[*answer] {
	return circuitbreaker.NewBuilder[*answer]().
		HandleIf(func(_ *answer, err error) bool {
			var e *Error
			return errors.As(err, &e) && e.fault
		}).
		WithFailureThreshold(breakerFailures).
		WithSuccessThreshold(1).
		WithDelay(breakerDelay).
		WithJitterFactor(0.2).
		OnStateChanged(func(event circuitbreaker.StateChangedEvent) {
			entry := log.WithFields(logrus.Fields{
				"event": "upstream.breaker", "from": event.OldState.String(), "to": event.NewState.String(),
			})
			switch {
			case event.NewState == circuitbreaker.ClosedState:
				entry.Info("circuit breaker closed: reads go on")
			case event.OldState == circuitbreaker.ClosedState:
				entry.Warn("circuit breaker opened: reads are not tried for a while")
			default: // a try now and then while it is open
				entry.Debug("circuit breaker lets a read through, or did in vain")
			}
		}).
		Build()
}

// BreakerState is the state of the breaker for reads: "closed", "open" or
// "half-open".
func (c *Client) BreakerState() string {
	return c.breaker.State().String()
}

// retry calls attempt until it succeeds, until its error allows no repeat, or
// until the attempts are used up. It returns what the last attempt returned.
// ctx bounds the pauses alone, and a pause that would outlast it is not begun:
// an attempt that has begun ends by its own limit, so that what is known of a
// write is never lost.
func (c *Client) retry(ctx context.Context, base time.Duration, attempt func() (*answer, error)) (*answer, error) {
	for try := 1; ; try++ {
		got, err := attempt()
		failed, ok := errors.AsType[*Error](err)
		if !ok || !failed.again || try == maxTries {
			return got, err
		}
		// Full jitter over an exponential backoff, on top of what the service asks for.
		wait := failed.RetryAfter + c.jitter(min(maxPause, base<<(try-1)))
		if failed.RetryAfter > maxRetryAfter || !endsBefore(ctx, wait) {
			return got, err
		}
		c.log.WithError(failed).WithFields(logrus.Fields{
			"event": "upstream.retry", "operation": failed.Operation, "wait": wait.String(),
		}).WithFields(tracing.LogFields(ctx)).Debug("trying again")
		if sleep.For(ctx, wait) != nil {
			return got, err
		}
	}
}

// endsBefore reports whether a pause that begins now ends before ctx does.
func endsBefore(ctx context.Context, pause time.Duration) bool {
	deadline, ok := ctx.Deadline()
	return ctx.Err() == nil && (!ok || time.Until(deadline) > pause)
}
