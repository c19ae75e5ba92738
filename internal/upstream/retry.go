package upstream

import (
	"context"
	"errors"
	"time"

	"github.com/failsafe-go/failsafe-go"
	"github.com/failsafe-go/failsafe-go/circuitbreaker"
	"github.com/failsafe-go/failsafe-go/retrypolicy"
	"github.com/sirupsen/logrus"

	"larder/internal/tracing"
)

// The tries of one call and the pauses between them (policy S5).
const (
	maxTries = 4
	maxPause = 10 * time.Second
	// readPause begins the pauses of a read, which nobody waits for: a service
	// that starts together with larder is there by the last try. writePause
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
	switch c.breaker.State() {
	case circuitbreaker.OpenState:
		return "open"
	case circuitbreaker.HalfOpenState:
		return "half-open"
	default:
		return "closed"
	}
}

// retries tries again what an *Error allows to be, while the pause fits into
// ctx's deadline; around it stand the given policies. It gives what the last
// try gave, and an error of the policies only when nothing was tried.
func (c *Client) retries(
	ctx context.Context, base time.Duration, attempt func() (*answer, error), around ...failsafe.Policy[*answer],
) (*answer, error) {
	var (
		tries  int
		got    *answer
		failed error
		last   *Error
	)
	// The executor drops a result when its context ends during the try, and
	// with it what is known of a write. So ctx ends only its pauses.
	pausing, stop := context.WithCancel(context.WithoutCancel(ctx))
	defer stop()
	resume := func() bool { return true }
	policy := retrypolicy.NewBuilder[*answer]().
		HandleIf(func(_ *answer, err error) bool {
			var e *Error
			return errors.As(err, &e) && e.again
		}).
		WithMaxAttempts(maxTries).
		WithDelayFunc(func(failsafe.ExecutionAttempt[*answer]) time.Duration { return last.wait }).
		ReturnLastFailure().
		OnRetryScheduled(func(event failsafe.ExecutionScheduledEvent[*answer]) {
			c.log.WithError(last).WithFields(logrus.Fields{
				"event": "upstream.retry", "operation": last.Operation, "wait": event.Delay.String(),
			}).WithFields(tracing.Fields(ctx)).Debug("trying again")
			resume = context.AfterFunc(ctx, stop)
		}).
		Build()
	_, err := failsafe.With(append(around, policy)...).WithContext(pausing).Get(func() (*answer, error) {
		resume()
		tries++
		got, failed = attempt()
		if errors.As(failed, &last) {
			last.wait = c.pause(base, tries, last.RetryAfter)
			last.again = last.again && fits(ctx, last)
		}
		return got, failed
	})
	if tries == 0 {
		return nil, err
	}
	return got, failed
}

// pause is how long to wait before the next try: full jitter over an
// exponential backoff, on top of what the service asks for.
func (c *Client) pause(base time.Duration, tries int, asked time.Duration) time.Duration {
	return asked + c.jitter(min(maxPause, base<<min(tries-1, 10)))
}

// fits tells whether the pause before the next try ends before ctx does.
func fits(ctx context.Context, e *Error) bool {
	if ctx.Err() != nil || e.RetryAfter > maxRetryAfter {
		return false
	}
	deadline, ok := ctx.Deadline()
	return !ok || time.Until(deadline) > e.wait
}
