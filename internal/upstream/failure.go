package upstream

import (
	"context"
	"errors"
	"net/http"

	"golang.org/x/oauth2"
)

// failure makes an Error of an answer: the service's words where it has the
// document's shape, the body, Retry-After, and whether a read may
// be tried again. What it means for a call that writes is judged by write.
func (c *Client) failure(op Operation, got *answer, cause error, tokens ...*oauth2.Token) *Error {
	d := readDocument(got.body)
	e := &Error{
		Operation: op, Status: got.status,
		Code:        clip(c.redact(d.code, tokens...), maxCodeBytes),
		Msg:         clip(c.redact(d.msg, tokens...), maxTextBytes),
		RequestID:   clip(c.redact(d.requestID, tokens...), maxCodeBytes),
		ContentType: got.contentType(),
		RetryAfter:  retryAfter(got.header, c.clock()),
		Err:         cause,
	}
	e.Body, e.Cut = c.keep(got, tokens...)
	switch {
	case got.status >= 500, got.status == http.StatusRequestTimeout:
		e.again, e.fault = true, true
	case got.status == http.StatusTooManyRequests:
		e.again = true
	case cause != nil && !errors.Is(cause, ErrTooLarge) && !errors.Is(cause, ErrAnswer):
		e.again, e.fault = true, true // the body broke off
	}
	return e
}

// unreached makes an Error of a request that got no answer.
func (c *Client) unreached(op Operation, err error) *Error {
	return &Error{Operation: op, Err: err, again: true, fault: !errors.Is(err, context.Canceled)}
}
