package client

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"time"

	"golang.org/x/oauth2"

	"larder.local/httpapi/respond"
)

// ErrForeignAnswer means that the response is not from larder, or from another version.
var ErrForeignAnswer = errors.New("the response is not from larder, or from another version")

// Error is an error response of the daemon.
type Error struct {
	Status               int
	Code, Msg, RequestID string
	Ref                  string // the order that may have been sent
	Errors               []Violation
	More                 bool                              // there are more violations than Errors
	Upstream             *struct{ Errors json.RawMessage } // the ordering service's reasons, in any shape
	Body                 json.RawMessage                   `json:"-"` // the whole response, if it is JSON
	Foreign              bool                              `json:"-"` // the response has no error code, for example that of /readyz
	Anonymous            bool                              `json:"-"` // the request had no credentials
	NoToken              bool                              `json:"-"` // the token request failed: the call itself was not sent
	OpsRoute             bool                              `json:"-"` // the path is below /v1/ops
	// RetryAfter is the value of the header Retry-After, or 0.
	RetryAfter time.Duration `json:"-"`
}

// refusal returns the *Error of a response with an error status.
func refusal(response *http.Response, body []byte, anonymous bool) error {
	status, refused := response.StatusCode, &Error{Anonymous: anonymous}
	if asked := response.Request; asked != nil {
		refused.OpsRoute = strings.HasPrefix(asked.URL.Path, opsRoutes)
	}
	if wait, err := strconv.Atoi(response.Header.Get("Retry-After")); err == nil {
		refused.RetryAfter = time.Duration(max(wait, 0)) * time.Second
	}
	if err := json.Unmarshal(body, refused); err != nil || refused.Code == "" {
		refused.Foreign = true
		refused.Code, refused.Msg = http.StatusText(status), "the response is not from larder; check the address"
	}
	// An entry that only carries params repeats the text.
	refused.Errors = slices.DeleteFunc(refused.Errors, func(v Violation) bool { return v.Path == "" && v.Msg == refused.Msg })
	if json.Valid(body) {
		refused.Body = body
	}
	refused.Status = status
	return refused
}

// tokenRefusal returns the *Error of a failed token request, whose response has the OAuth format.
func (c *Client) tokenRefusal(denied *oauth2.RetrieveError) error {
	e := &Error{}
	errors.As(refusal(denied.Response, denied.Body, false), &e)
	e.NoToken, e.Body = true, nil
	switch denied.ErrorCode {
	case "":
		e.Msg = fmt.Sprintf("no token from %s: %d %s: %s", c.Base, e.Status, e.Code, e.Msg)
	case "invalid_client":
		e.Code = string(respond.CodeUnauthorized)
		e.Msg = fmt.Sprintf("authentication failed at %s: unknown client or wrong secret", c.Base)
	default:
		e.Code = denied.ErrorCode
		e.Msg = fmt.Sprintf("no token from %s: %s: %s", c.Base, denied.ErrorCode, denied.ErrorDescription)
	}
	return e
}

func (e *Error) Error() string {
	if e.NoToken {
		return e.Msg
	}
	text := fmt.Sprintf("larder answered %d %s: %s", e.Status, e.Code, e.Msg)
	if e.RequestID != "" {
		text += " (request " + e.RequestID + ")"
	}
	if e.OpsRoute && e.Code == string(respond.CodeNotFound) {
		text += "; the operators' API is at another address"
	}
	return text
}

// WithMsg returns a copy of the error with another message.
func (e *Error) WithMsg(msg string) *Error {
	changed, body := *e, map[string]json.RawMessage{}
	changed.Msg = msg
	if json.Unmarshal(e.Body, &body) == nil {
		body["msg"], _ = json.Marshal(msg) // a string
		changed.Body, _ = json.Marshal(body)
	}
	return &changed
}

// RefusedWith reports whether err is an *Error with one of the statuses.
func RefusedWith(err error, statuses ...int) bool {
	refused, ok := errors.AsType[*Error](err)
	return ok && slices.Contains(statuses, refused.Status)
}

// Violation is one reason why an order is not valid.
type Violation struct{ Path, Code, Msg string }

// UnreachableError means that no response arrived.
type UnreachableError struct {
	msg string
	err error
}

func (e *UnreachableError) Error() string { return e.msg }

func (e *UnreachableError) Unwrap() error { return e.err }

// failed returns the error of a call without a response: an *Error if the token
// request failed, otherwise an *UnreachableError.
func (c *Client) failed(err error) error {
	if denied, ok := errors.AsType[*oauth2.RetrieveError](err); ok {
		return c.tokenRefusal(denied)
	}
	msg := fmt.Sprintf("larder at %s does not answer%s", c.Base, transportText(err))
	if errors.Is(err, context.Canceled) {
		msg = "interrupted"
	}
	return &UnreachableError{msg, err}
}

// transportText returns the cause of a missing response. It is empty for a refused connection.
func transportText(err error) string {
	dns, unknownHost := errors.AsType[*net.DNSError](err)
	timeout, ok := errors.AsType[net.Error](err)
	switch {
	case unknownHost && dns.IsNotFound:
		return ": unknown host " + dns.Name
	case ok && timeout.Timeout(), errors.Is(err, context.DeadlineExceeded):
		return " in time"
	case errors.Is(err, syscall.ECONNREFUSED):
		return ""
	case errors.Is(err, syscall.ECONNRESET), errors.Is(err, io.EOF), errors.Is(err, io.ErrUnexpectedEOF):
		return ": the connection was closed"
	case strings.Contains(err.Error(), "server gave HTTP response to HTTPS client"):
		return " over https; use http://"
	default:
		return " (" + RootCause(err).Error() + ")"
	}
}

// RootCause returns the innermost error. The outer errors repeat the address.
func RootCause(err error) error {
	for inner := errors.Unwrap(err); inner != nil; inner = errors.Unwrap(err) {
		err = inner
	}
	return err
}
