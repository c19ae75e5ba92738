package upstream

import (
	"context"
	"errors"
	"net/http"
	"net/url"
	"strings"
	"time"
	"unicode"

	"golang.org/x/oauth2"
)

// Created is the service's answer to a created order.
type Created struct {
	Answer

	OrderID string // never empty; a number's digits as they stand (policy W4)
}

// Answer is the service's answer to a call that writes. Body may be
// empty (policy W13); it is without secrets and at most MaxErrorBytes, Cut
// reports whether it was longer.
type Answer struct {
	Status      int
	ContentType string // "" when the service gave none
	Body        []byte
	Cut         bool
}

// CreateOrder creates an order (docs/ordering-service.md, section 4.1); body is an
// encoded Order. The error is an *Error with the certainty of policy O8: with
// EffectUnknown the order may exist, and the call must not be repeated. The
// call as a whole is bounded by the write timeout, which started when the request
// arrived (see Reserve). It ends when ctx does, so a caller that must not give up
// in between gives context.WithoutCancel. Nothing is sent after either, also
// when the process was stopped meanwhile.
func (c *Client) CreateOrder(ctx context.Context, body []byte) (Created, error) {
	got, used, err := c.write(ctx, &request{
		op: OpCreate, method: http.MethodPost, url: c.cfg.BaseURL + pathOrders, body: body,
	})
	if err != nil {
		return Created{}, err
	}
	return Created{OrderID: readResponseBody(got.body).orderID, Answer: c.storedAnswer(got, used)}, nil
}

// Pay pays an order (docs/ordering-service.md, section 4.2); body is an encoded
// array of payments. Errors are as CreateOrder's.
func (c *Client) Pay(ctx context.Context, orderID string, body []byte) (Answer, error) {
	return c.change(ctx, OpPay, orderID, body)
}

// Complete closes a paid order (docs/ordering-service.md, section 4.3). Errors are
// as CreateOrder's.
func (c *Client) Complete(ctx context.Context, orderID string) (Answer, error) {
	return c.change(ctx, OpComplete, orderID, nil)
}

// Reject rejects an order (docs/ordering-service.md, section 4.5); body is an
// encoded Rejection. Errors are as CreateOrder's.
func (c *Client) Reject(ctx context.Context, orderID string, body []byte) (Answer, error) {
	return c.change(ctx, OpReject, orderID, body)
}

func (c *Client) change(ctx context.Context, op Operation, orderID string, body []byte) (Answer, error) {
	if !InPath(orderID) {
		return Answer{}, &Error{Operation: op, Err: ErrOrderID}
	}
	got, used, err := c.write(ctx, &request{
		op: op, method: http.MethodPut, body: body,
		url: c.cfg.BaseURL + pathOrders + "/" + url.PathEscape(orderID) + "/" + string(op),
	})
	if err != nil {
		return Answer{}, err
	}
	return c.storedAnswer(got, used), nil
}

func (c *Client) storedAnswer(got *answer, used *oauth2.Token) Answer {
	body, cut := c.storedBody(got, used)
	return Answer{Status: got.status, ContentType: got.contentType(), Body: body, Cut: cut}
}

// InPath reports whether an orderID can stand in a path: that it is not empty and
// leads nowhere else. What is escaped here may be unescaped on the way, by a
// proxy that then goes up a step for each "..": a client that may name any
// order must not name any other path by it.
func InPath(orderID string) bool {
	for step := range strings.FieldsFuncSeq(orderID, func(c rune) bool { return c == '/' || c == '\\' }) {
		if step == "." || step == ".." {
			return false
		}
	}
	return orderID != "" && !strings.ContainsFunc(orderID, unicode.IsControl)
}

// write does a call that writes, and gives the token that the answer was given
// to. It is tried again only while certainly nothing was executed (policy O8).
func (c *Client) write(ctx context.Context, r *request) (*answer, *oauth2.Token, error) {
	if end, bounded := ctx.Deadline(); bounded && past(end) {
		e := &Error{Operation: r.op, Err: errTooLate}
		c.beginAttempt(ctx)(nil, e)
		return nil, nil, e
	}
	slot, err := c.slotOf(ctx, r.op)
	if err != nil {
		return nil, nil, err
	}
	defer slot.Release()
	ctx, cancel := context.WithDeadline(ctx, slot.deadline)
	defer cancel()
	repeating, stop := context.WithDeadline(ctx, slot.repeatBy)
	defer stop()
	r.limit = maxAnswerBytes
	if r.body != nil {
		r.header = http.Header{"Content-Type": {"application/json"}}
	}
	w := &writeCall{client: c, request: r, slot: slot}
	got, err := c.retry(repeating, writePause, func() (*answer, error) { return w.exchangeWithRefresh(ctx) })
	return got, w.used, err
}

// writeCall is one call that writes, through all its attempts.
type writeCall struct {
	client  *Client
	request *request
	slot    *Slot
	used    *oauth2.Token // of the last exchange
	renewed bool          // the call has renewed its token
	by      time.Time     // until when the next attempt is sent
	last    *Error        // what the last attempt ended with; nil before the first
}

// exchangeWithRefresh does the request, twice when the service refuses the token for the first
// time (policy O8). The slot is given back for the pause before the next attempt.
// A repeat for which there is no slot, or too little time, is not made: the
// call ends as its last attempt did (policy O8a).
func (w *writeCall) exchangeWithRefresh(ctx context.Context) (*answer, error) {
	if err := w.slot.hold(ctx); err != nil {
		return nil, w.giveUp(err)
	}
	defer w.slot.Release()
	for {
		end := w.client.beginAttempt(ctx)
		e := w.prepare(ctx)
		if e != nil && w.last != nil && past(w.slot.repeatBy) {
			return nil, w.giveUp(e)
		}
		var got *answer
		if e == nil {
			got, e = w.exchange(ctx)
		}
		end(got, e)
		w.last = e
		switch {
		case e == nil:
			return got, nil
		case e.Status != http.StatusUnauthorized || w.renewed:
			return nil, e
		}
		w.renewed = true
		w.client.dropToken(w.used)
	}
}

// giveUp is what a call ends with whose next attempt is not made.
func (w *writeCall) giveUp(err error) *Error {
	if w.last == nil {
		return &Error{Operation: w.request.op, Err: err}
	}
	w.last.again = false
	return w.last
}

// prepare gets a token, and checks that enough of the time limit remains for the
// attempt: two thirds for the first, one third for a repeat (policy O8a).
func (w *writeCall) prepare(ctx context.Context) *Error {
	w.by = w.slot.sendBy
	if w.last != nil {
		w.by = w.slot.repeatBy
	}
	limited, cancel := context.WithDeadline(ctx, w.by)
	defer cancel()
	used, err := w.client.Token(limited)
	if err != nil {
		return notSent(w.request.op, err)
	}
	w.used = used
	if past(w.by) {
		return &Error{Operation: w.request.op, Err: errTooLate}
	}
	return nil
}

// exchange is one attempt: the request and the judgement; nil means done.
func (w *writeCall) exchange(ctx context.Context) (*answer, *Error) {
	c, op := w.client, w.request.op
	w.slot.used = true
	left := &sendWatch{}
	end, _ := ctx.Deadline()
	ctx = context.WithValue(ctx, sendWindowKey{}, sendWindow{begin: w.by, end: end})
	got, err := c.send(left.watch(ctx), c.writes, w.request, w.used)
	if err != nil {
		e := c.noResponse(op, err)
		if !left.nothingSent() {
			e.Effect, e.again = EffectUnknown, false
		}
		return nil, e
	}
	return got, c.certaintyOf(op, got, w.used)
}

// Attempt is one attempt of a call that writes: one exchange with the service, or what
// kept it from beginning (no token any more, no connection). The repetition
// with a renewed token is an attempt of its own.
type Attempt struct {
	At       time.Time     // when it began, by the client's clock
	Duration time.Duration // with a token that is fetched for it
	Status   int           // 0 when there was no answer
	// Effect is what is known of this attempt: EffectDone of a success, else as an
	// Error's.
	Effect Effect
	// Refused: the service said a definite no, as Error.Refused reports it.
	Refused bool
	Code    string // the service's error code, "" for none
}

// attemptsKey is where a context holds the receiver of attempts.
type attemptsKey struct{}

// WithAttempts returns a context whose calls that write report each attempt as soon as
// it has ended, from the calling goroutine. The last one of a call is what the
// call ends with. For a call that was not tried at all (ErrOrderID, or no slot
// or token, see Reserve) report is not called.
func WithAttempts(ctx context.Context, report func(Attempt)) context.Context {
	return context.WithValue(ctx, attemptsKey{}, report)
}

// beginAttempt begins an attempt; the function that it returns reports how it ended,
// where a nil error is a success.
func (c *Client) beginAttempt(ctx context.Context) func(got *answer, e *Error) {
	at, start := c.clock(), time.Now()
	return func(got *answer, e *Error) {
		attempt := Attempt{At: at, Duration: time.Since(start), Effect: EffectDone}
		if e == nil {
			attempt.Status = got.status
		} else {
			attempt.Status, attempt.Effect, attempt.Refused, attempt.Code = e.Status, e.Effect, e.refused, e.Code
		}
		if report, ok := ctx.Value(attemptsKey{}).(func(Attempt)); ok && report != nil {
			report(attempt)
		}
	}
}

// notSent returns the error of a call that writes for which there was no token: the
// operation is the call's, the cause says why there is none.
func notSent(op Operation, err error) *Error {
	e := &Error{Operation: op, Err: err}
	if cause, ok := errors.AsType[*Error](err); ok {
		e.RetryAfter, e.again = cause.RetryAfter, cause.again
	}
	return e
}
