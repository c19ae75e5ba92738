// Package upstream is the client of the ordering service: the token, the menu view, the rejection reasons,
// and the four calls that write (create, pay, complete, reject), with the types of their bodies.
//
// Its one invariant: every call that writes ends with an answer of the service, or with an *Error whose Effect is
// certain (took effect, did not take effect) or unknown (policy O8). A call that may have taken effect is never
// repeated here. Reads are retried until their context's deadline (policy S5).
//
// sync uses it for reads, ordering for writes. It knows neither Redis nor HTTP serving nor schedules. It never forwards
// a client's headers, above all not Idempotency-Key, which makes net/http send a POST twice if the connection breaks.
package upstream

import (
	"errors"
	"fmt"
	"net/http"
	"strings"
	"time"
)

// Operation is the name of a call in errors, logs and metrics. The four calls that write have the
// same names in an order's journal.
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

// MaxMenuBytes is the maximum size of a menu view (policy W15).
const MaxMenuBytes = 64 << 20

// Size limits of other data from the service.
const (
	maxAnswerBytes = 1 << 20
	maxTextBytes   = 2 << 10 // of an error's message in logs (policy W14)
	maxCodeBytes   = 256     // of an error's code and request id, and of a content type
)

// maxErrorBytes is the maximum size of an answer's body in the journal and in responses to clients (policies W14, O15).
const maxErrorBytes = 64 << 10

// Paths relative to the base and token URLs (docs/ordering-service.md, sections 4 and 5).
const (
	pathToken   = "/connect/token"
	pathAPI     = "/orders/api/v1"
	pathMenu    = pathAPI + "/menu/view"
	pathReasons = pathAPI + "/rejectionReasons"
	pathOrders  = pathAPI + "/orders"
)

// Causes that an *Error may wrap.
var (
	ErrTooLarge = errors.New("answer is too large") // the answer exceeds its size limit (policy W15)
	errOrderID  = errors.New("the order id is not valid in a URL path")
	// errResponse means that the answer does not match docs/ordering-service.md.
	errResponse = errors.New("response does not match the ordering service's interface")
)

// Effect is what is known about a call that writes (policy O8).
type Effect int

// The effects of a call.
const (
	// EffectNone means that the call certainly did not take effect: it never reached the service, or the service did not
	// process it for now (401, 425, 429).
	EffectNone    Effect = iota
	EffectRefused        // the service certainly refused the call, which did not take effect (policy O8b)
	EffectDone           // the call certainly took effect
	EffectUnknown        // the call may have taken effect; it must not be repeated
)

// Error is the failure of a call of the ordering service.
type Error struct {
	Operation Operation
	// Status is the HTTP status; 0 without an answer.
	Status int
	// Code, Msg and RequestID are set if the body has the interface's error shape (docs/ordering-service.md,
	// section 7). They contain no secrets; Msg has at most 2 KiB, the others 256 bytes.
	Code, Msg, RequestID string
	ContentType          string // may be empty
	Body                 []byte // without secrets, at most 64 KiB
	// Cut means that Body is not the whole body: it was longer, or incomplete.
	Cut        bool
	Effect     Effect        // what is known about a call that writes; EffectNone for reads
	RetryAfter time.Duration // the wait that the service requested, or 0
	Err        error         // cause, for logs

	again bool // may be retried
	fault bool // see Fault
}

// Error returns the operation, the status, and the service's message or the cause. It contains no
// secrets and has at most 2 KiB (policy W14).
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

// Fault reports whether the service itself failed: it did not answer, or with a 5xx, a 408 or an incomplete body.
func (e *Error) Fault() bool { return e.fault }
