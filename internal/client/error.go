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

	"larder/httpapi/respond"
)

// ErrForeignAnswer is an answer that no instance of this version sends.
var ErrForeignAnswer = errors.New("the answer is not what larder sends")

// Error is a refusal of the daemon.
type Error struct {
	Status    int         `json:"status"`
	Code      string      `json:"code"`
	Msg       string      `json:"msg"`
	RequestID string      `json:"requestId"`
	Errors    []Violation `json:"errors"`
	More      bool        `json:"more"` // there are more violations than Errors
	Ref       string      `json:"ref"`  // of an order that may have been sent
	Upstream  *struct {
		Errors json.RawMessage `json:"errors"` // the ordering service's reasons, in whatever shape
	} `json:"upstream"`
	Body      json.RawMessage `json:"-"` // all of it, when it is JSON
	Anonymous bool            `json:"-"` // asked without credentials
	OpsRoute  bool            `json:"-"` // about a path of /v1/ops
	// RetryAfter is how long to wait before asking again; 0 where it is not said.
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
		refused.Code, refused.Msg = http.StatusText(status), "the answer is not larder's: is this address a larder's?"
	}
	if json.Valid(body) {
		refused.Body = body
	}
	refused.Status = status
	return refused
}

func (e *Error) Error() string {
	text := fmt.Sprintf("larder answered %d %s: %s", e.Status, e.Code, e.Msg)
	if e.RequestID != "" {
		text += " (request " + e.RequestID + ")"
	}
	if e.OpsRoute && e.Code == string(respond.CodeNotFound) {
		text += "; the routes of operators are not at this address"
	}
	if e.Status == http.StatusUnauthorized && e.Anonymous {
		text += "; say who asks: --config FILE, or --client-id and --client-secret"
	}
	return text
}

// RefusedWith reports whether err is a refusal with one of the statuses.
func RefusedWith(err error, statuses ...int) bool {
	refused, ok := errors.AsType[*Error](err)
	return ok && slices.Contains(statuses, refused.Status)
}

// Violation is one thing that is wrong with an order.
type Violation struct {
	Path string `json:"path"`
	Code string `json:"code"`
	Msg  string `json:"msg"`
}

// UnreachableError is a message for people: why a daemon did not answer.
type UnreachableError struct {
	msg string
	err error
}

func (e *UnreachableError) Error() string { return e.msg }

func (e *UnreachableError) Unwrap() error { return e.err }

// unreachable makes an UnreachableError of a call that got no answer.
func (c *Client) unreachable(err error) error {
	msg := fmt.Sprintf("larder at %s does not answer%s; is it running? (larder serve, or larder demo; --url names another)",
		c.Base, transportText(err))
	if errors.Is(err, context.Canceled) {
		msg = "interrupted"
	}
	if denied, ok := errors.AsType[*oauth2.RetrieveError](err); ok {
		text := strings.TrimSpace(denied.ErrorCode + " " + denied.ErrorDescription)
		if text == "" {
			text = fmt.Sprintf("status %d, and the answer is not larder's: is this address a larder's?", denied.Response.StatusCode)
		}
		msg = fmt.Sprintf("larder at %s gives no token: %s", c.Base, text)
		if denied.ErrorCode == "invalid_client" {
			msg = fmt.Sprintf("authentication failed at %s: unknown client or wrong secret; check --client-id and --client-secret", c.Base)
		}
	}
	return &UnreachableError{msg, err}
}

// transportText is what is worth saying of a call without an answer; that nothing
// listens is said already.
func transportText(err error) string {
	dns, unknownHost := errors.AsType[*net.DNSError](err)
	timeout, ok := errors.AsType[net.Error](err)
	switch {
	case unknownHost && dns.IsNotFound:
		return ": there is no host " + dns.Name
	case ok && timeout.Timeout(), errors.Is(err, context.DeadlineExceeded):
		return " in time"
	case errors.Is(err, syscall.ECONNREFUSED):
		return ""
	case errors.Is(err, syscall.ECONNRESET), errors.Is(err, io.EOF), errors.Is(err, io.ErrUnexpectedEOF):
		return ": it closed the connection"
	case strings.Contains(err.Error(), "server gave HTTP response to HTTPS client"):
		return " to https; try http"
	default:
		return " (" + RootCause(err).Error() + ")"
	}
}

// RootCause is the cause at the bottom, without the layers that repeat the
// address.
func RootCause(err error) error {
	for inner := errors.Unwrap(err); inner != nil; inner = errors.Unwrap(err) {
		err = inner
	}
	return err
}
