package upstream

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"strconv"
	"strings"
	"time"

	"golang.org/x/oauth2"

	"larder/internal/jsontext"
)

// maxDepth is how deep an answer may nest before it counts as no JSON.
const maxDepth = 64

// responseBody is the part of an answer that larder reads, names in any spelling
// (policy W3).
type responseBody struct {
	json      bool // the body is well-formed JSON
	result    string
	hasResult bool   // and it is not null
	orderID   string // of the result, else of the body itself
	code, msg string
	requestID string
}

// isErrorShape reports whether the body is the interface's error shape: code and
// msg (docs/ordering-service.md, section 7).
func (d responseBody) isErrorShape() bool { return d.code != "" && d.msg != "" }

// readResponseBody reads an answer's body; the zero value if it is not JSON.
func readResponseBody(body []byte) responseBody {
	d := responseBody{json: true}
	r := jsontext.NewReader(string(body), maxDepth)
	for name := range r.Members() {
		switch jsontext.FoldName(name) {
		case "result":
			d.hasResult = r.Kind() != jsontext.KindNull
			d.result = r.Raw()
		case "orderid":
			d.orderID, _ = r.ID()
		case "code":
			d.code, _ = r.ID()
		case "msg":
			d.msg, _ = r.Text()
		case "requestid":
			d.requestID, _ = r.ID()
		}
	}
	if r.Err() != nil {
		return responseBody{}
	}
	if d.hasResult {
		inner := jsontext.NewReader(d.result, maxDepth)
		for name := range inner.Members() {
			if jsontext.FoldName(name) == "orderid" {
				d.orderID, _ = inner.ID()
			}
		}
	}
	return d
}

// readReasons reads {"result":[…]} or a bare array of reasons; null is none.
func readReasons(body []byte) ([]Reason, error) {
	text, err := jsontext.Check(string(body), maxDepth)
	if err != nil {
		return nil, fmt.Errorf("%w: %w", ErrResponse, err)
	}
	r := jsontext.NewReader(text, maxDepth)
	if r.Kind() == jsontext.KindObject {
		list := ""
		for name := range r.Members() {
			if jsontext.FoldName(name) == "result" {
				list = r.Raw()
			}
		}
		if list == "" {
			return nil, fmt.Errorf("%w: rejection reasons without result", ErrResponse)
		}
		r = jsontext.NewReader(list, maxDepth)
	}
	reasons := []Reason{}
	switch r.Kind() {
	case jsontext.KindNull:
		return reasons, nil
	case jsontext.KindArray:
	default:
		return nil, fmt.Errorf("%w: rejection reasons are no array", ErrResponse)
	}
	for i := range r.Elements() {
		if r.Kind() != jsontext.KindObject {
			return nil, fmt.Errorf("%w: rejection reason %d is no object", ErrResponse, i)
		}
		reasons = append(reasons, readReason(&r))
	}
	return reasons, nil
}

func readReason(r *jsontext.Reader) (reason Reason) {
	for name := range r.Members() {
		switch jsontext.FoldName(name) {
		case "id":
			reason.ID, _ = r.ID()
		case "reason":
			reason.Reason, _ = r.Text()
		case "type":
			reason.Type, _ = r.Text()
		case "ispossibledelete":
			reason.IsPossibleDelete, _ = r.Bool()
		}
	}
	return reason
}

// retryAfter reads the header: seconds or a date; 0 for none or nonsense.
func retryAfter(header http.Header, now time.Time) time.Duration {
	value := strings.TrimSpace(header.Get("Retry-After"))
	if seconds, err := strconv.ParseInt(value, 10, 32); err == nil {
		return time.Duration(max(0, seconds)) * time.Second
	}
	if at, err := http.ParseTime(value); err == nil {
		return max(0, at.Sub(now))
	}
	return 0
}

// failure makes an Error of an answer: the service's words where it has the
// document's shape, the body, Retry-After, and whether a read may
// be tried again. What it means for a call that writes is judged by write.
func (c *Client) failure(op Operation, got *answer, cause error, tokens ...*oauth2.Token) *Error {
	d := readResponseBody(got.body)
	e := &Error{
		Operation: op, Status: got.status,
		Code:        clip(c.redact(d.code, tokens...), maxCodeBytes),
		Msg:         clip(c.redact(d.msg, tokens...), maxTextBytes),
		RequestID:   clip(c.redact(d.requestID, tokens...), maxCodeBytes),
		ContentType: got.contentType(),
		RetryAfter:  retryAfter(got.header, c.clock()),
		Err:         cause,
	}
	e.Body, e.Cut = c.storedBody(got, tokens...)
	switch {
	case got.status >= 500, got.status == http.StatusRequestTimeout:
		e.again, e.fault = true, true
	case got.status == http.StatusTooManyRequests:
		e.again = true
	case cause != nil && !errors.Is(cause, ErrTooLarge) && !errors.Is(cause, ErrResponse):
		e.again, e.fault = true, true // the body broke off
	}
	return e
}

// noResponse makes an Error of a request that got no answer.
func (c *Client) noResponse(op Operation, err error) *Error {
	return &Error{Operation: op, Err: err, again: true, fault: !errors.Is(err, context.Canceled)}
}
