package upstream

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"time"

	"github.com/failsafe-go/failsafe-go/circuitbreaker"
	"github.com/sirupsen/logrus"
	"golang.org/x/oauth2"
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

// RejectionReasons returns the reasons for rejecting an order (docs/ordering-service.md, section
// 4.4). There are none if the service has reasons turned off. It retries as MenuView does.
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
	reasons, err := readReasons(got.body)
	if err != nil {
		return nil, c.failure(OpReasons, got, err)
	}
	return reasons, nil
}

// read makes a read with retries and the circuit breaker (policy S5).
func (c *Client) read(ctx context.Context, r *request, conditional bool) (*httpAnswer, error) {
	if !c.breaker.TryAcquirePermit() {
		return nil, &Error{Operation: r.op, Err: ErrBreakerOpen, RetryAfter: c.breaker.RemainingDelay()}
	}
	got, err := c.retry(ctx, time.Time{}, readPause, func(ctx context.Context) (*httpAnswer, error) { return c.readOnce(ctx, r, conditional) })
	failed, _ := errors.AsType[*Error](err)
	switch answered := err == nil || failed != nil && failed.Status != 0; {
	case failed != nil && failed.fault, !answered && !c.breaker.IsClosed(): // a half-open breaker needs a result
		c.breaker.RecordFailure()
	case answered:
		c.breaker.RecordSuccess()
	}
	return got, err
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
	var used *oauth2.Token
	for renewed := false; ; renewed = true {
		used, err = c.Token(ctx)
		if err != nil {
			return nil, err
		}
		got, err := c.send(ctx, c.reads.RoundTrip, r, used)
		switch {
		case err != nil:
			return nil, c.noResponse(r.op, err)
		case got.status == http.StatusUnauthorized && !renewed:
			c.dropToken(used)
			continue
		case got.bodyErr != nil:
			return nil, c.failure(r.op, got, got.bodyErr, used)
		case got.status >= 200 && got.status <= 299,
			got.status == http.StatusNotModified && conditional:
			return got, nil
		default:
			return nil, c.failure(r.op, got, nil, used)
		}
	}
}

// The thresholds and the delay of the circuit breaker.
const (
	breakerFailures = 5
	breakerDelay    = 15 * time.Second
)

// newBreaker returns a connection's circuit breaker. It opens after 5 consecutive reads that failed, with all
// their retries, through the service's fault. After about 15 s it lets one read through.
func newBreaker(log logrus.FieldLogger) circuitbreaker.CircuitBreaker[*httpAnswer] {
	return circuitbreaker.NewBuilder[*httpAnswer]().
		WithFailureThreshold(breakerFailures).
		WithSuccessThreshold(1).
		WithDelay(breakerDelay).
		WithJitterFactor(0.2).
		OnStateChanged(func(event circuitbreaker.StateChangedEvent) {
			entry := log.WithFields(logrus.Fields{
				"event": "upstream.breaker", "from": event.OldState.String(), "to": event.NewState.String(),
			})
			switch {
			case event.NewState == circuitbreaker.ClosedState:
				entry.Info("circuit breaker closed: reads continue")
			case event.OldState == circuitbreaker.ClosedState:
				entry.Warn("circuit breaker opened: reads are skipped for about 15 s")
			default: // single reads while it is open
				entry.Debug("circuit breaker is testing the service with one read, or that read failed")
			}
		}).
		Build()
}

// BreakerState returns the state of the circuit breaker: "closed", "open" or "half-open".
func (c *Client) BreakerState() string {
	return c.breaker.State().String()
}
