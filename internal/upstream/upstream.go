// Package upstream is the client of the ordering service: the token, the menu
// view, the rejection reasons, and the four calls that write (create, pay,
// complete, reject), with the wire types of what they send.
//
// Its one invariant is certainty: every call that writes ends either with an
// answer of the service or with an *Error whose Effect says whether the call
// certainly did not take effect, certainly did, or may have (policy O8). A
// call that may have taken effect is never repeated here. Reads are retried
// within their context's deadline behind a circuit breaker (policy S5).
//
// sync reads through it, ordering writes through it. It knows nothing of
// Redis, of HTTP serving or of schedules, and it never forwards a client's
// headers: least of all Idempotency-Key, which makes net/http send a POST
// twice if the connection breaks.
package upstream

import (
	"errors"
	"fmt"
	"net/http"
	"strings"
	"time"
)

// Operation names a call in errors, logs and metrics. The four that write have
// the names that an order's journal uses.
type Operation string

// The calls of the ordering service.
const (
	OpToken    Operation = "token"
	OpMenu     Operation = "menu"
	OpReasons  Operation = "reasons"
	OpCreate   Operation = "create"
	OpPay      Operation = "pay"
	OpComplete Operation = "complete"
	OpReject   Operation = "reject"
)

// MaxMenuBytes is the largest menu view that is read (policy W15).
const MaxMenuBytes = 64 << 20

// Limits of what else is read from the service.
const (
	// maxExpected is the largest limit of a menu view that is thought to be
	// about its size.
	maxExpected    = 16 << 20
	maxAnswerBytes = 1 << 20
	maxTextBytes   = 2 << 10 // of an error's text, which logs show (policy W14)
	maxCodeBytes   = 256     // of an error's code and request id, and of a content type
)

// MaxErrorBytes is how much of an answer's body is kept, for the journal and
// for the caller who is answered with it (policies W14, O15).
const MaxErrorBytes = 64 << 10

// Paths below the base and token addresses (docs/ordering-service.md, sections 4 and 5).
const (
	pathToken   = "/connect/token"
	pathMenu    = "/orders/api/v1/menu/view"
	pathReasons = "/orders/api/v1/rejectionReasons"
	pathOrders  = "/orders/api/v1/orders"
)

// Causes that an *Error may wrap.
var (
	// ErrBreakerOpen: the read was not tried, for the last ones failed.
	ErrBreakerOpen = errors.New("circuit breaker is open")
	// ErrTooLarge: the answer is above its limit (policy W15).
	ErrTooLarge = errors.New("answer is too large")
	// ErrOrderID: the order's id is empty or cannot stand in a path.
	ErrOrderID = errors.New("order id cannot stand in a path")
	// ErrResponse: the response has not the shape of docs/ordering-service.md.
	ErrResponse = errors.New("response does not match the ordering service's interface")
)

// Effect is what is known of a call that writes (policy O8).
type Effect int

// The effects of a call.
const (
	// EffectNone: the call certainly did not take effect: it was refused, or
	// never sent.
	EffectNone Effect = iota
	// EffectDone: the call certainly took effect.
	EffectDone
	// EffectUnknown: the call may have taken effect; it must not be repeated.
	EffectUnknown
)

// Error is a call of the ordering service that gave no good answer.
type Error struct {
	Operation Operation
	// Status is the answer's HTTP status, 0 when there was no answer.
	Status int
	// Code, Msg and RequestID are the service's own where its body has the
	// interface's error shape (docs/ordering-service.md, section 7), without
	// secrets; Msg is at most 2 KiB, the others 256 bytes.
	Code, Msg, RequestID string
	// ContentType is the body's, "" when the service gave none.
	ContentType string
	// Body is the answer's body without secrets, at most MaxErrorBytes.
	Body []byte
	// Cut reports whether Body is not the whole body: it was longer, or broke off.
	Cut bool
	// Effect is what is known of a call that writes; EffectNone for reads.
	Effect Effect
	// RetryAfter is how long the service asks to wait, 0 when it does not.
	RetryAfter time.Duration
	// Err is the cause, for the log.
	Err error

	refused bool // the service said a definite no
	again   bool // may be tried again
	fault   bool // counts against the service in the breaker
}

// Error returns the operation, the status, and the service's words or the cause.
// It holds no secret and at most 2 KiB, whatever the service said (policy W14).
func (e *Error) Error() string {
	parts := []string{"upstream: " + string(e.Operation)}
	if e.Status != 0 {
		parts = append(parts, strings.TrimSpace(fmt.Sprintf("status %d %s", e.Status, http.StatusText(e.Status))))
	}
	for _, part := range []string{e.Code, e.Msg} {
		if part != "" {
			parts = append(parts, part)
		}
	}
	if e.Err != nil {
		parts = append(parts, e.Err.Error())
	}
	return clip(strings.Join(parts, ": "), maxTextBytes)
}

// Unwrap returns the cause.
func (e *Error) Unwrap() error { return e.Err }

// Refused reports whether the service answered with a definite no (policy O8):
// a 4xx other than 401, 408 and 429, a redirect, or a 5xx in the interface's
// error shape. False for a call that never reached the service or was turned
// away for now (401, 429, 503): there Effect is EffectNone too.
func (e *Error) Refused() bool { return e.refused }
