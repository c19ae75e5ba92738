package upstream

import (
	"context"
	"time"
)

// Try is one try of a call that writes: one exchange with the service, or what
// kept it from beginning (no token any more, no connection). The repetition
// with a renewed token is a try of its own.
type Try struct {
	At       time.Time     // when it began, by the client's clock
	Duration time.Duration // with a token that is fetched for it
	Status   int           // 0 when there was no answer
	// Effect is what is known of this try: EffectDone of a success, else as an
	// Error's.
	Effect Effect
	// Refused: the service said a definite no, as Error.Refused tells it.
	Refused bool
	Code    string // the service's error code, "" for none
}

// triesKey is where a context holds who is told of tries.
type triesKey struct{}

// WithTries gives a context whose calls that write tell of each try as soon as
// it has ended, from the calling goroutine. The last one of a call is what the
// call ends with. For a call that was not tried at all (ErrOrderID, or no slot
// or token, see Reserve) tell is not called.
func WithTries(ctx context.Context, tell func(Try)) context.Context {
	return context.WithValue(ctx, triesKey{}, tell)
}

func triesOf(ctx context.Context) func(Try) {
	if tell, ok := ctx.Value(triesKey{}).(func(Try)); ok && tell != nil {
		return tell
	}
	return func(Try) {}
}

// begunTry is a try that has not ended.
type begunTry struct {
	writing *writing
	at      time.Time // by the client's clock
	start   time.Time
}

func (w *writing) begin() begunTry {
	return begunTry{writing: w, at: w.client.clock(), start: time.Now()}
}

// end tells how the try ended; a nil error is a success.
func (b begunTry) end(got *answer, e *Error) {
	try := Try{At: b.at, Duration: time.Since(b.start), Effect: EffectDone}
	if e == nil {
		try.Status = got.status
	} else {
		try.Status, try.Effect, try.Refused, try.Code = e.Status, e.Effect, e.refused, e.Code
	}
	b.writing.tell(try)
}
