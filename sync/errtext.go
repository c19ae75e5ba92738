package sync

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"strings"
	"time"

	"larder/cache"
	"larder/internal/jsontext"
	"larder/internal/menu"
	"larder/internal/upstream"
)

// maxError bounds the error of a run record, in bytes.
const maxError = 1000

// stepError is a step of a run that failed.
type stepError struct {
	doing string // "fetch the menu view of restaurant 7"
	err   error
}

func (e *stepError) Error() string { return e.doing + ": " + e.err.Error() }
func (e *stepError) Unwrap() error { return e.err }

// deadlineError ends a run that took longer than sync.deadline.
type deadlineError struct{ after time.Duration }

func (e deadlineError) Error() string {
	return fmt.Sprintf("given up after %v (sync.deadline)", e.after)
}

func (deadlineError) Is(target error) bool { return target == context.DeadlineExceeded }

// explain says for a person what failed, with what was tried, and why the run
// ended there if it was ended. cause is the run's context's, nil while it
// lives; rest says what readers have all the same.
func explain(err, cause error, took time.Duration, rest string) string {
	var text strings.Builder
	text.WriteString(failure(err))
	if errors.Is(err, errService) {
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
	rest = "; " + rest
	if text.Len()+len(rest) > maxError {
		return strings.ToValidUTF8(text.String()[:maxError-len(rest)], "") + rest
	}
	return text.String() + rest
}

// errService marks what went wrong at the ordering service.
var errService = errors.New("the ordering service gave no menu")

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
		return doing + "another larder has taken this restaurant over"
	case errors.Is(err, cache.ErrStale):
		return doing + "other versions were published meanwhile, again and again"
	default:
		return doing + err.Error()
	}
}

// upstreamFailure tells an answer of the service from none at all.
func upstreamFailure(e *upstream.Error) string {
	if errors.Is(e.Err, upstream.ErrBreakerOpen) {
		return fmt.Sprintf("the ordering service was not asked, for its last answers failed (%v); the next try may come in %s",
			e.Err, max(e.RetryAfter.Round(time.Second), time.Second))
	}
	if e.Status == 0 {
		if e.Err == nil {
			return "the ordering service gave no answer"
		}
		return "the ordering service gave no answer: " + e.Err.Error()
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
		fmt.Fprintf(&text, " (its request id %s)", e.RequestID)
	}
	if e.Err != nil {
		fmt.Fprintf(&text, ": %v", e.Err)
	}
	return text.String()
}
