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

	"larder.local/internal/keptconn"
)

// WriteRequest describes a call that writes: it creates, pays, completes or rejects an order.
type WriteRequest struct {
	Operation Operation
	OrderID   string // of the changed order; empty for a new one
	Body      []byte // an encoded Order, array of payments or Rejection; nil for a completion
	Slot      *Slot  // from Reserve; without one, the call reserves its own for the client ""
	// Report is called with each attempt when it has ended, on the calling goroutine. The result of the last attempt is
	// the result of the call. It may be nil. It is not called if the orderID is not valid in a path, or without a slot.
	Report func(Attempt)
}

// Answer is the answer to a call that writes. Body may be empty (policy W13). It has no secrets and
// at most 64 KiB; Cut means that it was longer.
type Answer struct {
	OrderID     string // of a created order, not empty; a number keeps its digits (policy W4)
	Status      int
	ContentType string // may be empty
	Body        []byte
	Cut         bool
}

// InPath reports whether an orderID is valid in a path: it is not empty and cannot change the path.
// A proxy may unescape the path and resolve "..", so escaping is not enough: a client that may name
// any order must not reach any other path.
func InPath(orderID string) bool {
	if orderID == "" || strings.ContainsFunc(orderID, unicode.IsControl) {
		return false
	}
	const proxies = 3 // each of which unescapes the path
	for range proxies {
		for _, step := range strings.FieldsFunc(orderID, func(c rune) bool { return c == '/' || c == '\\' }) {
			step, _, _ = strings.Cut(step, ";") // parameters of a step, which some servers remove
			if step = strings.TrimSpace(step); step == "." || step == ".." {
				return false
			}
		}
		plain, err := url.PathUnescape(orderID)
		if err != nil {
			break
		}
		orderID = plain
	}
	return true
}

// Write makes a call that writes (docs/ordering-service.md, sections 4.1 to 4.5). It repeats the call only while
// certainly nothing was executed. The error is an *Error with the certainty of policy O8: with EffectUnknown the call may
// have taken effect, and must not be repeated. The write timeout limits the whole call and starts when the request was
// read (see Reserve). The call also ends with ctx; to prevent that, pass context.WithoutCancel. After either, nothing is
// sent, even if the process was suspended in between.
func (c *Client) Write(ctx context.Context, r WriteRequest) (Answer, error) {
	method, path := http.MethodPost, pathOrders
	if r.Operation != OpCreate {
		if !InPath(r.OrderID) {
			return Answer{}, &Error{Operation: r.Operation, Err: errOrderID}
		}
		method, path = http.MethodPut, pathOrders+"/"+url.PathEscape(r.OrderID)+"/"+string(r.Operation)
	}
	w := &writeCall{WriteRequest: r, client: c, request: request{
		op:     r.Operation,
		method: method,
		url:    at(c.cfg.BaseURL, path),
		body:   r.Body,
		limit:  maxAnswerBytes,
	}}
	if r.Body != nil {
		w.request.header = http.Header{"Content-Type": {"application/json"}}
	}
	if end, bounded := ctx.Deadline(); bounded && keptconn.Past(end) {
		e := &Error{Operation: r.Operation, Err: keptconn.ErrTooLate}
		w.report(c.clock(), 0, nil, e)
		return Answer{}, e
	}
	if w.Slot == nil {
		var err error
		if w.Slot, err = c.Reserve(ctx, r.Operation, "", time.Now()); err != nil {
			return Answer{}, err
		}
	}
	defer w.Slot.Release()
	ctx, cancel := context.WithDeadline(ctx, w.Slot.deadline)
	defer cancel()
	got, err := c.retry(ctx, w.Slot.repeatBy, writePause, w.exchangeWithRefresh)
	if err != nil {
		return Answer{}, err
	}
	answer := Answer{OrderID: got.orderID, Status: got.status, ContentType: got.contentType()}
	answer.Body, answer.Cut = c.storedBody(got)
	return answer, nil
}

// writeCall is one call that writes, with all its attempts.
type writeCall struct {
	WriteRequest

	client  *Client
	request request
	token   *oauth2.Token // of the current attempt
	renewed bool          // the token was renewed
	by      time.Time     // latest start of the next attempt
	last    *Error        // result of the last attempt; nil before the first
}

// exchangeWithRefresh makes the request, and repeats it once if the service rejects the token
// (policy O8). It releases the slot for the pause before the next attempt. If a repeat gets no
// slot, or too little time remains, the call ends with the result of its last attempt (policy O8a).
func (w *writeCall) exchangeWithRefresh(ctx context.Context) (*httpAnswer, error) {
	if err := w.Slot.hold(ctx); err != nil {
		return nil, w.giveUp(err)
	}
	defer w.Slot.Release()
	for {
		at, start := w.client.clock(), time.Now()
		e := w.prepare(ctx)
		if e != nil && w.last != nil && keptconn.Past(w.Slot.repeatBy) {
			return nil, w.giveUp(e)
		}
		var got *httpAnswer
		if e == nil {
			got, e = w.exchange(ctx)
		}
		w.report(at, time.Since(start), got, e)
		w.last = e
		switch {
		case e == nil:
			return got, nil
		case e.Status != http.StatusUnauthorized || w.renewed || e.Effect == EffectUnknown:
			return nil, e
		}
		w.renewed = true
		w.client.dropToken(w.token)
	}
}

// giveUp returns the result of a call whose next attempt is not made.
func (w *writeCall) giveUp(err error) *Error {
	if w.last == nil {
		return &Error{Operation: w.Operation, Err: err}
	}
	w.last.again = false
	return w.last
}

// prepare gets a token, and checks that enough of the time limit remains: two thirds for the first
// attempt, one third for a repeat (policy O8a).
func (w *writeCall) prepare(ctx context.Context) *Error {
	w.by = w.Slot.sendBy
	if w.last != nil {
		w.by = w.Slot.repeatBy
	}
	ctx, cancel := context.WithDeadline(ctx, w.by)
	defer cancel()
	var err error
	if w.token, err = w.client.Token(ctx); err != nil {
		return notSent(w.Operation, err)
	}
	if keptconn.Past(w.by) {
		return &Error{Operation: w.Operation, Err: keptconn.ErrTooLate}
	}
	return nil
}

// exchange makes one attempt and returns its result; a nil error means done. The connection can carry another call
// only after the response was decoded (policy O17).
func (w *writeCall) exchange(ctx context.Context) (*httpAnswer, *Error) {
	c, op := w.client, w.Operation
	w.Slot.used = true
	end, _ := ctx.Deadline()
	limits := keptconn.Limits{Begin: w.by, End: end}
	fresh := w.last != nil || op == OpCreate && c.cfg.OrderNumbers == OrderNumbersRestaurant
	var res *keptconn.Response
	var sent bool
	got, err := c.send(ctx, func(req *http.Request) (*http.Response, error) {
		var err error
		if res, sent, err = c.writes.Send(req, limits, fresh); err != nil {
			return nil, err
		}
		return res.Response, nil
	}, &w.request, w.token)
	if err != nil {
		e := noResponse(op, err)
		if sent {
			e.Effect, e.again = EffectUnknown, false
		}
		return nil, e
	}
	e := c.certaintyOf(op, got)
	repeated := got.orderID != "" && res.Seen(got.orderID)
	if e != nil && e.Effect != EffectUnknown && res.Followed(c.listen) {
		c.DoubtResponses()
		e.Effect, e.again = EffectUnknown, false
	}
	if res.Release(e == nil && !repeated); repeated { // after a gateway's error, the service's response may still come
		c.DoubtResponses()
		e = c.failure(op, got, &IDRepeatedError{OrderID: got.orderID})
		e.Effect, e.again = EffectUnknown, false
	}
	return got, e
}

// listenAfterError is how long larder listens on a reused connection after a response that says that nothing was executed. If
// another response arrives, the first one was perhaps sent before the request, and the outcome is unknown (policy O17).
const listenAfterError = 500 * time.Millisecond

// IDRepeatedError is the Err of an Error: the orderID of a new order is not its own, because an earlier response on
// the same TCP connection had it (policy O17).
type IDRepeatedError struct{ OrderID string }

func (e *IDRepeatedError) Error() string {
	return "the response has the orderID of another order: " + e.OrderID
}

// DoubtResponses closes the kept connections. Each call has its own connection for ten minutes from now on. The caller
// has found out that responses may belong to other calls (policy O17).
func (c *Client) DoubtResponses() { c.writes.Doubt() }

// Attempt is one attempt of a call that writes: one exchange with the service, or the reason why it was not
// started (no valid token, no connection). The repeat with a renewed token is another attempt.
type Attempt struct {
	At       time.Time     // its start, by the client's clock
	Duration time.Duration // including a token request
	Status   int           // 0 without an answer
	Effect   Effect        // what is known about this attempt
	Code     string        // the service's error code; may be empty
}

// report reports the result of an attempt, which began at the time at of the client's clock. A nil error is a success.
func (w *writeCall) report(at time.Time, took time.Duration, got *httpAnswer, e *Error) {
	attempt := Attempt{At: at, Duration: took, Effect: EffectDone}
	if e == nil {
		attempt.Status = got.status
	} else {
		attempt.Status, attempt.Effect, attempt.Code = e.Status, e.Effect, e.Code
	}
	if w.Report != nil {
		w.Report(attempt)
	}
}

// notSent returns the error of a call that writes for which there is no token.
func notSent(op Operation, err error) *Error {
	e := &Error{Operation: op, Err: err}
	if cause, ok := errors.AsType[*Error](err); ok {
		e.RetryAfter, e.again = cause.RetryAfter, cause.again
	}
	return e
}
