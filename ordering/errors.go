package ordering

import (
	"errors"
	"fmt"
	"strings"
	"time"

	"larder/internal/upstream"
)

// ErrUnknownConnection says that the restaurant's connection is not configured.
var ErrUnknownConnection = errors.New("ordering: unknown connection")

// InvalidError says that the order has violations; nothing was sent.
type InvalidError struct{ Verdict *Verdict }

// Error counts the violations.
func (e *InvalidError) Error() string {
	return fmt.Sprintf("ordering: the order has %d violations", len(e.Verdict.Violations))
}

// KeyReusedError says that the key was taken by a request that asked for
// something else (policy O7).
type KeyReusedError struct {
	// Ref is the order that the key stands for.
	Ref string
}

// Error names the order.
func (e *KeyReusedError) Error() string {
	return "ordering: the key was used for something else: order " + e.Ref
}

// InFlightError says that the same request, with the same key, is still being
// made (policy O7).
type InFlightError struct{ Ref string }

// Error names the order.
func (e *InFlightError) Error() string { return "ordering: still in flight: order " + e.Ref }

// AmbiguousError says that orders of several connections are meant.
type AmbiguousError struct{ Connections []string }

// Error lists the connections.
func (e *AmbiguousError) Error() string {
	return "ordering: orders of several connections: " + strings.Join(e.Connections, ", ")
}

// RefusedError says that the ordering service answered with a definite no
// (policy O8). The order certainly does not exist there.
type RefusedError struct {
	Ref      string
	Upstream *upstream.Error
}

// Error gives the reference and the service's answer.
func (e *RefusedError) Error() string {
	return fmt.Sprintf("ordering: order %s refused: %v", e.Ref, e.Upstream)
}

// Unwrap gives the service's answer.
func (e *RefusedError) Unwrap() error { return e.Upstream }

// NotSentError says that the order certainly did not reach the ordering service,
// or was turned away for now; the client may try again after RetryAfter.
type NotSentError struct {
	Ref string
	// RetryAfter is what the service asked for, 0 when it did not.
	RetryAfter time.Duration
	Err        error
}

// Error gives the reference and the cause.
func (e *NotSentError) Error() string {
	return fmt.Sprintf("ordering: order %s not sent: %v", e.Ref, e.Err)
}

// Unwrap gives the cause.
func (e *NotSentError) Unwrap() error { return e.Err }

// UnknownError says that the order may or may not exist at the ordering
// service. It must not be sent again before that is settled (policy O8).
type UnknownError struct {
	Ref string
	Err error
}

// Error gives the reference and the cause.
func (e *UnknownError) Error() string {
	return fmt.Sprintf("ordering: outcome of order %s unknown: %v", e.Ref, e.Err)
}

// Unwrap gives the cause.
func (e *UnknownError) Unwrap() error { return e.Err }
