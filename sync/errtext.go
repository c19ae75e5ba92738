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

// limitError ends a run because of a limit of the configuration. text describes the cause.
type limitError struct {
	text  string
	cause error
}

func (e limitError) Error() string { return e.text }
func (e limitError) Unwrap() error { return e.cause }

// explain describes for a person what failed, how long larder tried, and why the run was ended, if it
// was. cause is the cause of the run's context, or nil. fallback describes what readers get.
func explain(err, cause error, took time.Duration, fallback string) string {
	text := failure(err)
	if errors.Is(err, errService) && !errors.As(err, new(*waitingError)) {
		text += fmt.Sprintf(" (tried for %v)", took.Round(time.Millisecond))
	}
	switch {
	case errors.As(cause, new(limitError)), errors.Is(cause, errLeaseLost):
		text += "; " + cause.Error()
	case errors.Is(cause, context.Canceled):
		text += "; larder was stopped"
	}
	fallback = "; " + fallback
	if most := maxError - len(fallback); len(text) > most {
		text = strings.ToValidUTF8(text[:most], "")
	}
	return text + fallback
}

// errService marks errors of the ordering service.
var errService = errors.New("the ordering service returned no menu")

func failure(err error) string {
	var (
		doing   string
		service *upstream.Error
		syntax  *jsontext.SyntaxError
		shape   *menu.ShapeError
	)
	if step, ok := errors.AsType[*stepError](err); ok {
		doing, err = step.doing+": ", step.err
	}
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
	text := "the ordering service did not respond"
	if e.Status != 0 {
		text = fmt.Sprintf("the ordering service answered %d %s", e.Status, http.StatusText(e.Status))
		if e.Operation == upstream.OpToken {
			text += " to the token request"
		}
		text += ifSet(", code %s", e.Code) + ifSet(": %s", e.Msg) + ifSet(" (request id %s)", e.RequestID)
	}
	if e.Err != nil {
		text += ": " + e.Err.Error()
	}
	return text
}

// ifSet formats a value; an empty one as an empty text.
func ifSet(format, value string) string {
	if value == "" {
		return ""
	}
	return fmt.Sprintf(format, value)
}
