package sync

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"strings"
	"time"

	"larder.local/cache"
	"larder.local/internal/jsontext"
	"larder.local/internal/menu"
	"larder.local/internal/upstream"
)

// maxError limits the error of a run record, in bytes.
const maxError = 1000

type stepError struct {
	doing string // "fetch the menu view of restaurant 7"
	err   error
}

func (e *stepError) Error() string { return e.doing + ": " + e.err.Error() }
func (e *stepError) Unwrap() error { return e.err }

// deadlineError ends a run that took longer than sync.deadline.
type deadlineError struct{ after time.Duration }

func (e deadlineError) Error() string {
	return fmt.Sprintf("stopped after %v (sync.deadline)", e.after)
}

func (deadlineError) Is(target error) bool { return target == context.DeadlineExceeded }

// explain describes for a person what failed, how long larder tried, and why the run was ended, if it
// was. cause is the cause of the run's context, or nil. fallback describes what readers get.
func explain(err, cause error, took time.Duration, fallback string) string {
	var text strings.Builder
	text.WriteString(failure(err))
	if errors.Is(err, errService) && !errors.As(err, new(*waitingError)) {
		fmt.Fprintf(&text, " (tried for %v)", took.Round(time.Millisecond))
	}
	var late deadlineError
	switch {
	case errors.As(cause, &late):
		text.WriteString("; " + late.Error())
	case errors.Is(cause, errLeaseLost):
		text.WriteString("; " + errLeaseLost.Error())
	case errors.Is(cause, context.Canceled):
		text.WriteString("; larder was stopped")
	}
	fallback = "; " + fallback
	if text.Len()+len(fallback) > maxError {
		return strings.ToValidUTF8(text.String()[:maxError-len(fallback)], "") + fallback
	}
	return text.String() + fallback
}

// errService marks errors of the ordering service.
var errService = errors.New("the ordering service returned no menu")

func failure(err error) string {
	doing := ""
	if step, ok := errors.AsType[*stepError](err); ok {
		doing, err = step.doing+": ", step.err
	}
	var (
		service *upstream.Error
		syntax  *jsontext.SyntaxError
		shape   *menu.ShapeError
	)
	switch {
	case errors.As(err, &service):
		return doing + upstreamFailure(service)
	case errors.As(err, &syntax):
		return fmt.Sprintf("%sit is not valid JSON at line %d, column %d: %s", doing, syntax.Line, syntax.Column, syntax.Msg)
	case errors.As(err, &shape):
		return doing + shape.Error()
	case errors.Is(err, cache.ErrFenced), errors.Is(err, errLeaseLost):
		return doing + "another instance has taken over this restaurant"
	case errors.Is(err, cache.ErrStale):
		return doing + "other versions were published at the same time, in every attempt"
	default:
		return doing + err.Error()
	}
}

func upstreamFailure(e *upstream.Error) string {
	if e.Status == 0 {
		if e.Err == nil {
			return "the ordering service did not respond"
		}
		return "the ordering service did not respond: " + e.Err.Error()
	}
	var text strings.Builder
	fmt.Fprintf(&text, "the ordering service answered %d %s", e.Status, http.StatusText(e.Status))
	if e.Operation == upstream.OpToken {
		text.WriteString(" to the token request")
	}
	if e.Code != "" {
		fmt.Fprintf(&text, ", code %s", e.Code)
	}
	if e.Msg != "" {
		fmt.Fprintf(&text, ": %s", e.Msg)
	}
	if e.RequestID != "" {
		fmt.Fprintf(&text, " (request id %s)", e.RequestID)
	}
	if e.Err != nil {
		fmt.Fprintf(&text, ": %v", e.Err)
	}
	return text.String()
}
