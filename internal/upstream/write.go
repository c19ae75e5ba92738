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

// Created is the answer to a created order.
type Created struct {
	Answer

	OrderID string // not empty; a number keeps its digits (policy W4)
}

// Answer is the answer to a call that writes. Body may be empty (policy W13). It has no secrets and
// at most 64 KiB; Cut means that it was longer.
type Answer struct {
	Status      int
	ContentType string // may be empty
	Body        []byte
	Cut         bool
}

// CreateOrder creates an order (docs/ordering-service.md, section 4.1); body is an encoded Order. The error
// is an *Error with the certainty of policy O8: with EffectUnknown the order may exist, and the call must not
// be repeated. The write timeout limits the whole call and starts when the request was read (see Reserve). The
// call also ends with ctx; to prevent that, pass context.WithoutCancel. After either, nothing is sent, even
// if the process was suspended in between.
func (c *Client) CreateOrder(ctx context.Context, body []byte) (Created, error) {
	got, used, err := c.write(ctx, request{op: OpCreate, method: http.MethodPost, url: c.orders, body: body})
	if err != nil {
		return Created{}, err
	}
	return Created{OrderID: readResponseBody(got.body).orderID, Answer: c.storedAnswer(got, used)}, nil
}

// Pay pays an order (docs/ordering-service.md, section 4.2); body is an encoded array of payments.
// Its errors are those of CreateOrder.
func (c *Client) Pay(ctx context.Context, orderID string, body []byte) (Answer, error) {
	return c.change(ctx, OpPay, orderID, body)
}

// Complete closes a paid order (docs/ordering-service.md, section 4.3). Its errors are those of CreateOrder.
func (c *Client) Complete(ctx context.Context, orderID string) (Answer, error) {
	return c.change(ctx, OpComplete, orderID, nil)
}

// Reject rejects an order (docs/ordering-service.md, section 4.5); body is an encoded Rejection.
// Its errors are those of CreateOrder.
func (c *Client) Reject(ctx context.Context, orderID string, body []byte) (Answer, error) {
	return c.change(ctx, OpReject, orderID, body)
}

func (c *Client) change(ctx context.Context, op Operation, orderID string, body []byte) (Answer, error) {
	if !InPath(orderID) {
		return Answer{}, &Error{Operation: op, Err: errOrderID}
	}
	got, used, err := c.write(ctx, request{
		op:     op,
		method: http.MethodPut,
		body:   body,
		url:    at(c.cfg.BaseURL, pathOrders+"/"+url.PathEscape(orderID)+"/"+string(op)),
	})
	if err != nil {
		return Answer{}, err
	}
	return c.storedAnswer(got, used), nil
}

func (c *Client) storedAnswer(got *httpAnswer, used *oauth2.Token) Answer {
	body, cut := c.storedBody(got, used)
	return Answer{Status: got.status, ContentType: got.contentType(), Body: body, Cut: cut}
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

// write makes a call that writes, and returns the token of the answer. It repeats the call only
// while certainly nothing was executed (policy O8).
func (c *Client) write(ctx context.Context, r request) (*httpAnswer, *oauth2.Token, error) {
	w := &writeCall{client: c, request: r}
	w.options, _ = ctx.Value(callKey{}).(callOptions)
	if end, bounded := ctx.Deadline(); bounded && keptconn.Past(end) {
		e := &Error{Operation: r.op, Err: keptconn.ErrTooLate}
		w.report(c.clock(), time.Now(), nil, e)
		return nil, nil, e
	}
	slot := w.options.slot
	if slot == nil || slot.client != c {
		var err error
		if slot, err = c.Reserve(ctx, r.op, "", time.Now()); err != nil {
			return nil, nil, err
		}
	}
	defer slot.Release()
	if end, bounded := ctx.Deadline(); !bounded || end.After(slot.deadline) { // see EarlierEnd
		limited, cancel := context.WithDeadline(ctx, slot.deadline)
		defer cancel()
		ctx = limited
	}
	w.slot, w.request.write, w.request.limit = slot, true, maxAnswerBytes
	if r.body != nil {
		w.request.header = jsonBody
	}
	got, err := c.retry(ctx, slot.repeatBy, writePause, w.exchangeWithRefresh)
	return got, w.used, err
}

// writeCall is one call that writes, with all its attempts.
type writeCall struct {
	client  *Client
	request request
	options callOptions
	slot    *Slot
	used    *oauth2.Token // in the last exchange
	renewed bool          // the token was renewed
	by      time.Time     // latest start of the next attempt
	last    *Error        // result of the last attempt; nil before the first
}

// exchangeWithRefresh makes the request, and repeats it once if the service rejects the token
// (policy O8). It releases the slot for the pause before the next attempt. If a repeat gets no
// slot, or too little time remains, the call ends with the result of its last attempt (policy O8a).
func (w *writeCall) exchangeWithRefresh(ctx context.Context) (*httpAnswer, error) {
	if err := w.slot.hold(ctx); err != nil {
		return nil, w.giveUp(err)
	}
	defer w.slot.Release()
	for {
		at, start := w.client.clock(), time.Now()
		e := w.prepare(ctx)
		if e != nil && w.last != nil && keptconn.Past(w.slot.repeatBy) {
			return nil, w.giveUp(e)
		}
		var got *httpAnswer
		if e == nil {
			got, e = w.exchange(ctx)
		}
		w.report(at, start, got, e)
		w.last = e
		switch {
		case e == nil:
			return got, nil
		case e.Status != http.StatusUnauthorized || w.renewed || e.Effect == EffectUnknown:
			return nil, e
		}
		w.renewed = true
		w.client.dropToken(w.used)
	}
}

// giveUp returns the result of a call whose next attempt is not made.
func (w *writeCall) giveUp(err error) *Error {
	if w.last == nil {
		return &Error{Operation: w.request.op, Err: err}
	}
	w.last.again = false
	return w.last
}

// prepare gets a token, and checks that enough of the time limit remains: two thirds for the first
// attempt, one third for a repeat (policy O8a).
func (w *writeCall) prepare(ctx context.Context) *Error {
	w.by = w.slot.sendBy
	if w.last != nil {
		w.by = w.slot.repeatBy
	}
	if w.used = w.client.validToken(ctx); w.used == nil {
		limited, cancel := context.WithDeadline(ctx, w.by)
		defer cancel()
		used, err := w.client.Token(limited)
		if err != nil {
			return notSent(w.request.op, err)
		}
		w.used = used
	}
	if keptconn.Past(w.by) {
		return &Error{Operation: w.request.op, Err: keptconn.ErrTooLate}
	}
	return nil
}

// exchange makes one attempt and returns its result; a nil error means done. The connection can carry another call
// only after the response was decoded (policy O17).
func (w *writeCall) exchange(ctx context.Context) (*httpAnswer, *Error) {
	c, op := w.client, w.request.op
	w.slot.used = true
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
	}, &w.request, w.used)
	if err != nil {
		e := noResponse(op, err)
		if sent {
			e.Effect, e.again = EffectUnknown, false
		}
		return nil, e
	}
	e := c.certaintyOf(op, got, w.used)
	var orderID string
	if e == nil && op == OpCreate {
		orderID = readResponseBody(got.body).orderID
	}
	repeated := orderID != "" && res.Seen(orderID)
	if e != nil && e.Effect != EffectUnknown && res.Followed(c.listen) {
		c.DoubtResponses()
		e.Effect, e.again, e.refused = EffectUnknown, false, false
	}
	if res.Release(e == nil && !repeated); repeated { // after a gateway's error, the service's response may still come
		c.DoubtResponses()
		e = c.failure(op, got, &IDRepeatedError{OrderID: orderID}, w.used)
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
	// Refused is Error.Refused.
	Refused bool
	Code    string // the service's error code; may be empty
}

// report reports the result of an attempt, which began at the time at of the client's clock. A nil error is a success.
func (w *writeCall) report(at, start time.Time, got *httpAnswer, e *Error) {
	if w.options.report == nil {
		return
	}
	attempt := Attempt{At: at, Duration: time.Since(start), Effect: EffectDone}
	if e == nil {
		attempt.Status = got.status
	} else {
		attempt.Status, attempt.Effect, attempt.Refused, attempt.Code = e.Status, e.Effect, e.refused, e.Code
	}
	w.options.report(attempt)
}

// notSent returns the error of a call that writes for which there is no token.
func notSent(op Operation, err error) *Error {
	e := &Error{Operation: op, Err: err}
	if cause, ok := errors.AsType[*Error](err); ok {
		e.RetryAfter, e.again = cause.RetryAfter, cause.again
	}
	return e
}
