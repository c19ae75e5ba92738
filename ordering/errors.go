package ordering

import (
	"errors"
	"fmt"
	"strings"

	"larder.local/ordering/violation"
)

// errUnknownConnection is returned if the restaurant's connection is not configured.
var errUnknownConnection = errors.New("ordering: unknown connection")

// InvalidError reports the violations of an order. Nothing was sent, or the service refused what was sent.
type InvalidError struct {
	// Ref is the refused order if the service refused it and its newer menu explains that (policy O18). Violations may
	// then be empty: what would be sent differs from what was refused in something that has no code.
	Ref string
	// Answer is what the service answered then.
	Answer *Answer
	// Violations and More are those of validate.Result.
	Violations []violation.Violation
	More       bool
}

func (e *InvalidError) Error() string {
	return fmt.Sprintf("ordering: violations in the order: %d", len(e.Violations))
}

// KeyReusedError reports that a different request has used the key (policy O7).
type KeyReusedError struct {
	Ref string // the order of the first request with the key
}

func (e *KeyReusedError) Error() string {
	return "ordering: the key was used for another request: order " + e.Ref
}

// InFlightError reports that the first request with the same key is still in progress (policy O7).
type InFlightError struct{ Ref string }

func (e *InFlightError) Error() string {
	return "ordering: the request is still in progress: order " + e.Ref
}

// SourceError reports that an order belongs to another ordering service than the one of its connection (policy O16).
type SourceError struct{ Record Record }

func (e *SourceError) Error() string {
	return fmt.Sprintf("ordering: order %s belongs to another ordering service: %s", e.Record.Ref, e.Record.Source)
}

// AmbiguousError reports that orders of several connections match.
type AmbiguousError struct{ Connections []string }

func (e *AmbiguousError) Error() string {
	return "ordering: orders of several connections match: " + strings.Join(e.Connections, ", ")
}

// NotSentError reports that no call was begun and nothing was sent. Either the client has disconnected, or
// Err is the *upstream.Error of a service that has no capacity or issues no token (policy O8a).
type NotSentError struct {
	Ref string // the order whose call was to be sent again; empty for a new call
	Err error
}

func (e *NotSentError) Error() string { return fmt.Sprintf("ordering: nothing sent: %v", e.Err) }

func (e *NotSentError) Unwrap() error { return e.Err }

func is[E error](err error) bool {
	_, ok := errors.AsType[E](err)
	return ok
}
