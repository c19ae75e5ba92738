package upstream

import (
	"context"
	"errors"
	"time"

	"github.com/sirupsen/logrus"

	"larder.local/internal/sleep"
	"larder.local/internal/tracing"
)

// The attempts of one call and the pauses between them (policy S5).
const (
	maxTries = 4
	maxPause = 10 * time.Second
	// readPause is the first pause of a read. No person waits for it, and a service that starts together with larder
	// is running by the last attempt. writePause is the first pause of a write, which a guest waits for.
	readPause  = time.Second
	writePause = 200 * time.Millisecond
	// maxRetryAfter is the longest Retry-After that a call waits for. A longer one ends the call
	// and is returned in the Error.
	maxRetryAfter = 2 * time.Minute
)

// retry calls attempt until it succeeds, its error does not allow a retry, or there are no attempts left. It
// returns the result of the last attempt that was made: a repeat that gets no slot does not count. ctx and until
// limit only the pauses: a pause that would end later is not started. A zero until is no limit. Each attempt has
// its own time limit, so that the outcome of a write is never lost.
func (c *Client) retry(
	ctx context.Context, until time.Time, base time.Duration, attempt func(context.Context) (*httpAnswer, error),
) (*httpAnswer, error) {
	var last error
	for try := 1; ; try++ {
		got, err := attempt(ctx)
		if last != nil && errors.Is(err, ErrBusy) {
			return nil, last // why the attempt before failed says more
		}
		last = err
		failed, ok := errors.AsType[*Error](err)
		if !ok || !failed.again || try == maxTries {
			return got, err
		}
		// Full jitter and exponential backoff, in addition to the service's Retry-After.
		wait := failed.RetryAfter + c.jitter(min(maxPause, base<<(try-1)))
		if failed.RetryAfter > maxRetryAfter || !endsBefore(ctx, until, wait) {
			return got, err
		}
		line := c.log.WithFields(logrus.Fields{ // without the service's message, which may have guest data
			"event": "upstream.retry", "operation": failed.Operation, "status": failed.Status, "code": LogCode(failed.Code), "wait": wait.String(),
		})
		if failed.Err != nil {
			line = line.WithError(failed.Err)
		}
		line.WithFields(tracing.LogFields(ctx)).Debug("retrying")
		if sleep.For(ctx, wait) != nil {
			return got, err
		}
	}
}

// endsBefore reports whether a pause that starts now ends before the deadline of ctx and before until.
func endsBefore(ctx context.Context, until time.Time, pause time.Duration) bool {
	deadline, ok := ctx.Deadline()
	return ctx.Err() == nil && (!ok || time.Until(deadline) > pause) && (until.IsZero() || time.Until(until) > pause)
}
