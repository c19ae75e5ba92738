package ordering

import (
	"errors"
	"fmt"
	"strings"

	"larder/ordering/violation"
)

// ErrUnknownConnection says that the restaurant's connection is not configured.
var ErrUnknownConnection = errors.New("ordering: unknown connection")

// InvalidError says that the order has violations; nothing was sent.
type InvalidError struct {
	// Violations are validate.Result's, and so is More.
	Violations []violation.Violation
	More       bool
}

func (e *InvalidError) Error() string {
	return fmt.Sprintf("ordering: violations of the order: %d", len(e.Violations))
}

// KeyReusedError says that the key was taken by a request that asked for
// something else (policy O7).
type KeyReusedError struct {
	// Ref is the order that the key stands for.
	Ref string
}

func (e *KeyReusedError) Error() string {
	return "ordering: the key was used for something else: order " + e.Ref
}

// InFlightError says that the same request, with the same key, is still being
// made (policy O7).
type InFlightError struct{ Ref string }

func (e *InFlightError) Error() string { return "ordering: still in flight: order " + e.Ref }

// AmbiguousError says that orders of several connections are meant.
type AmbiguousError struct{ Connections []string }

func (e *AmbiguousError) Error() string {
	return "ordering: orders of several connections: " + strings.Join(e.Connections, ", ")
}

// NotSentError says that nothing was begun and nothing was sent: the client has
// left, or Err is the *upstream.Error of a service that has no capacity or gives
// no token (policy O8a).
type NotSentError struct {
	// Ref is the order's whose call was to be sent again; "" of a new call.
	Ref string
	Err error
}

func (e *NotSentError) Error() string { return fmt.Sprintf("ordering: nothing sent: %v", e.Err) }

func (e *NotSentError) Unwrap() error { return e.Err }

func is[E error](err error) bool {
	_, ok := errors.AsType[E](err)
	return ok
}
