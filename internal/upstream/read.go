package upstream

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"time"
)

// Validator contains the validators of a menu view for the next conditional request (policy S3).
// Its fields may be empty.
type Validator struct {
	ETag         string
	LastModified string
}

// Menu is the answer to a menu request. Body is the decompressed body, or nil if the service reports no change.
type Menu struct {
	Body        []byte
	Validator   Validator
	NotModified bool
}

// errPartial means that a response has only a part of what was asked for.
var errPartial = errors.New("206 Partial Content: the response is incomplete")

// roomKey is the key of a context's value of WithRoom.
type roomKey struct{}

// WithRoom returns a context for MenuView. If a response announces more bytes than MenuView may read, more is asked
// whether there is room for them; then they are read without another request.
func WithRoom(ctx context.Context, more func(announced int64) bool) context.Context {
	return context.WithValue(ctx, roomKey{}, more)
}

// MenuView fetches the menu view of a restaurant; for "", the connection's default menu
// (docs/ordering-service.md, section 4.6). It retries until ctx's deadline. The error is an *Error; it wraps
// ErrTooLarge if the body has more than most bytes. The maximum of most, and its default, is MaxMenuBytes.
func (c *Client) MenuView(ctx context.Context, restaurant string, seen Validator, most int64) (Menu, error) {
	path := pathMenu
	if restaurant != "" {
		path += "?restaurantId=" + url.QueryEscape(restaurant)
	}
	if most <= 0 || most > MaxMenuBytes {
		most = MaxMenuBytes
	}
	header := http.Header{"Accept-Encoding": {"gzip"}}
	if seen.ETag != "" {
		header.Set("If-None-Match", seen.ETag)
	}
	if seen.LastModified != "" {
		header.Set("If-Modified-Since", seen.LastModified)
	}
	got, err := c.read(ctx, &request{
		op:     OpMenu,
		method: http.MethodGet,
		url:    at(c.cfg.BaseURL, path),
		header: header,
		limit:  most,
	}, seen != Validator{})
	if err != nil {
		return Menu{}, err
	}
	validator := Validator{ETag: got.header.Get("ETag"), LastModified: got.header.Get("Last-Modified")}
	if got.status == http.StatusNotModified {
		if (validator == Validator{}) {
			validator = seen
		}
		return Menu{Validator: validator, NotModified: true}, nil
	}
	return Menu{Body: got.body, Validator: validator}, nil
}

// Reason is a rejection reason of the service (docs/ordering-service.md, section 2.3). Type is "simple" or "text".
type Reason struct {
	ID               string `json:"ID"`
	Reason           string `json:"reason"`
	Type             string `json:"type"`
	IsPossibleDelete bool   `json:"isPossibleDelete"`
}

// RejectionReasons returns the reasons for rejecting an order (docs/ordering-service.md, section
// 4.4). There are none if the service has reasons turned off, also with 204 (policy W17). It retries as MenuView does.
func (c *Client) RejectionReasons(ctx context.Context) ([]Reason, error) {
	got, err := c.read(ctx, &request{
		op:     OpReasons,
		method: http.MethodGet,
		url:    at(c.cfg.BaseURL, pathReasons),
		header: http.Header{"Accept-Encoding": {"gzip"}},
		limit:  maxAnswerBytes,
	}, false)
	if err != nil {
		return nil, err
	}
	if got.status == http.StatusNoContent {
		return []Reason{}, nil
	}
	reasons, err := readReasons(got.body)
	if err != nil {
		return nil, c.failure(OpReasons, got, err)
	}
	return reasons, nil
}

// read makes a read with retries (policy S5).
func (c *Client) read(ctx context.Context, r *request, conditional bool) (*httpAnswer, error) {
	return c.retry(ctx, time.Time{}, readPause, func(ctx context.Context) (*httpAnswer, error) { return c.readOnce(ctx, r, conditional) })
}

// readOnce makes one attempt: slot, token, request, and a second request with a new token if the
// service rejects the first token (policy W2).
func (c *Client) readOnce(ctx context.Context, r *request, conditional bool) (*httpAnswer, error) {
	slot, err := c.queue.acquire(ctx, readsClient, reads, waitLimits{})
	if err != nil {
		if errors.Is(ctx.Err(), context.DeadlineExceeded) {
			err = fmt.Errorf("%w (it is slow, or connections[].concurrency or rate is low): %w", ErrBusy, err)
		}
		return nil, &Error{Operation: r.op, Err: err}
	}
	defer c.queue.release(slot, true)
	ctx, cancel := context.WithTimeout(ctx, c.cfg.Timeouts.Menu)
	defer cancel()
	for renewed := false; ; renewed = true {
		token, err := c.Token(ctx)
		if err != nil {
			return nil, err
		}
		got, err := c.send(ctx, c.reads.Load().RoundTrip, r, token)
		switch {
		case err != nil:
			return nil, noResponse(r.op, err)
		case got.status == http.StatusUnauthorized && !renewed:
			c.dropToken(token)
			continue
		case got.status == http.StatusPartialContent: // a part is no menu (policy W17)
			return nil, c.failure(r.op, got, errPartial)
		case got.bodyErr != nil:
			return nil, c.failure(r.op, got, got.bodyErr)
		case got.status >= 200 && got.status <= 299,
			got.status == http.StatusNotModified && conditional:
			return got, nil
		default:
			return nil, c.failure(r.op, got, nil)
		}
	}
}
