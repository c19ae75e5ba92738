package main

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

	"larder/httpapi"
)

// errForeignAnswer is an answer that no instance of this version sends.
var errForeignAnswer = errors.New("the answer is not what larder sends")

// apiError is a refusal of the daemon.
type apiError struct {
	Status    int         `json:"status"`
	Code      string      `json:"code"`
	Msg       string      `json:"msg"`
	RequestID string      `json:"requestId"`
	Errors    []violation `json:"errors"`
	More      bool        `json:"more"` // there are more violations than Errors
	Ref       string      `json:"ref"`  // of an order that may have been sent
	Upstream  *struct {
		Errors json.RawMessage `json:"errors"` // the ordering service's reasons, in whatever shape
	} `json:"upstream"`
	Body      json.RawMessage `json:"-"` // all of it, when it is JSON
	anonymous bool            // asked without credentials
	ofOps     bool            // about a path of /v1/ops
	// retryAfter is how long to wait before asking again; 0 where it is not said.
	retryAfter time.Duration
}

func refusal(response *http.Response, body []byte, anonymous bool) error {
	status, refused := response.StatusCode, &apiError{anonymous: anonymous}
	if asked := response.Request; asked != nil {
		refused.ofOps = strings.HasPrefix(asked.URL.Path, opsRoutes)
	}
	if wait, err := strconv.Atoi(response.Header.Get("Retry-After")); err == nil {
		refused.retryAfter = time.Duration(max(wait, 0)) * time.Second
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

func (e *apiError) Error() string {
	text := fmt.Sprintf("larder answered %d %s: %s", e.Status, e.Code, e.Msg)
	if e.RequestID != "" {
		text += " (request " + e.RequestID + ")"
	}
	if e.ofOps && e.Code == string(httpapi.CodeNotFound) {
		text += "; the routes of operators are not at this address"
	}
	if e.Status == http.StatusUnauthorized && e.anonymous {
		text += "; say who asks: --config FILE, or --client-id and --client-secret"
	}
	return text
}

// refusedWith reports whether err is a refusal with one of the statuses.
func refusedWith(err error, statuses ...int) bool {
	refused, ok := errors.AsType[*apiError](err)
	return ok && slices.Contains(statuses, refused.Status)
}

// violation is one thing that is wrong with an order.
type violation struct {
	Path string `json:"path"`
	Code string `json:"code"`
	Msg  string `json:"msg"`
}

// unreachableError is a message for people: why a daemon did not answer.
type unreachableError struct {
	msg string
	err error
}

func (e *unreachableError) Error() string { return e.msg }

func (e *unreachableError) Unwrap() error { return e.err }

// unreachable makes an unreachableError of a call that got no answer.
func (a *api) unreachable(err error) error {
	msg := fmt.Sprintf("larder at %s does not answer%s; is it running? (larder serve, or larder demo; --url names another)",
		a.base, transportText(err))
	if errors.Is(err, context.Canceled) {
		msg = "interrupted"
	}
	if denied, ok := errors.AsType[*oauth2.RetrieveError](err); ok {
		text := strings.TrimSpace(denied.ErrorCode + " " + denied.ErrorDescription)
		if text == "" {
			text = fmt.Sprintf("status %d, and the answer is not larder's: is this address a larder's?", denied.Response.StatusCode)
		}
		msg = fmt.Sprintf("larder at %s gives no token: %s", a.base, text)
		if denied.ErrorCode == "invalid_client" {
			msg = fmt.Sprintf("authentication failed at %s: unknown client or wrong secret; check --client-id and --client-secret", a.base)
		}
	}
	return &unreachableError{msg, err}
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
		return " (" + rootCause(err).Error() + ")"
	}
}

// rootCause is the cause at the bottom, without the layers that repeat the
// address.
func rootCause(err error) error {
	for inner := errors.Unwrap(err); inner != nil; inner = errors.Unwrap(err) {
		err = inner
	}
	return err
}
