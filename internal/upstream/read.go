package upstream

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"time"

	"github.com/failsafe-go/failsafe-go"
	"github.com/failsafe-go/failsafe-go/circuitbreaker"
	"github.com/sirupsen/logrus"
	"golang.org/x/oauth2"
)

// Validator is what a menu view's answer said of its version, to be given back
// with the next request (policy S3). Empty fields were not given.
type Validator struct {
	ETag         string
	LastModified string
}

// Menu is a menu view's answer. Body is as received but for gzip; it is nil
// when the service said that nothing changed.
type Menu struct {
	Body        []byte
	Validator   Validator
	NotModified bool
}

// MenuView reads the menu view of a restaurant, or with "" the connection's
// own (docs/ordering-service.md, section 4.6). It retries within ctx's deadline. The
// error is an *Error, of ErrTooLarge for a body of more than most bytes; most is
// at most MaxMenuBytes, and 0 means that.
func (c *Client) MenuView(ctx context.Context, restaurant string, seen Validator, most int64) (Menu, error) {
	address := c.cfg.BaseURL + pathMenu
	if restaurant != "" {
		address += "?restaurantId=" + url.QueryEscape(restaurant)
	}
	if most <= 0 || most > MaxMenuBytes {
		most = MaxMenuBytes
	}
	expected := int64(0)
	if most <= maxExpected { // the caller expects about this size
		expected = most
	}
	header := http.Header{"Accept-Encoding": {"gzip"}}
	if seen.ETag != "" {
		header.Set("If-None-Match", seen.ETag)
	}
	if seen.LastModified != "" {
		header.Set("If-Modified-Since", seen.LastModified)
	}
	got, err := c.read(ctx, &request{
		op: OpMenu, method: http.MethodGet, url: address, header: header, limit: most, expected: expected,
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

// RejectionReasons lists the reasons for rejecting an order (docs/ordering-service.md,
// section 4.4); none when reasons are turned off. It retries as
// MenuView does.
func (c *Client) RejectionReasons(ctx context.Context) ([]Reason, error) {
	got, err := c.read(ctx, &request{
		op: OpReasons, method: http.MethodGet, url: c.cfg.BaseURL + pathReasons,
		header: http.Header{"Accept-Encoding": {"gzip"}}, limit: maxAnswerBytes,
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

// read does a read with retries, behind the breaker (policy S5).
func (c *Client) read(ctx context.Context, r *request, conditional bool) (*answer, error) {
	got, err := failsafe.With(c.breaker).Get(func() (*answer, error) {
		return c.retry(ctx, readPause, func() (*answer, error) { return c.readOnce(ctx, r, conditional) })
	})
	if errors.Is(err, circuitbreaker.ErrOpen) {
		return nil, &Error{Operation: r.op, Err: ErrBreakerOpen, RetryAfter: c.breaker.RemainingDelay()}
	}
	return got, err
}

// readOnce is one attempt: a slot, a token, the request, and once more with a new
// token when the service refuses the first (policy W2).
func (c *Client) readOnce(ctx context.Context, r *request, conditional bool) (*answer, error) {
	slot, err := c.queue.acquire(ctx, readsClient, reads, waitLimits{})
	if err != nil {
		return nil, &Error{Operation: r.op, Err: fmt.Errorf("waiting for a slot: %w", err)}
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
		got, err := c.send(ctx, c.reads, r, used)
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

// When the breaker of a connection opens, and for how long.
const (
	breakerFailures = 5
	breakerDelay    = 15 * time.Second
)

// newBreaker makes a connection's breaker: it opens after 5 reads in a row
// that failed by the service's fault, retries included, and lets one through
// after about 15 s.
func newBreaker(log logrus.FieldLogger) circuitbreaker.CircuitBreaker[*answer] {
	return circuitbreaker.NewBuilder[*answer]().
		HandleIf(func(_ *answer, err error) bool {
			var e *Error
			return errors.As(err, &e) && e.fault
		}).
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
				entry.Info("circuit breaker closed: reads go on")
			case event.OldState == circuitbreaker.ClosedState:
				entry.Warn("circuit breaker opened: reads are not tried for a while")
			default: // a try now and then while it is open
				entry.Debug("circuit breaker lets a read through, or did in vain")
			}
		}).
		Build()
}

// BreakerState is the state of the breaker for reads: "closed", "open" or
// "half-open".
func (c *Client) BreakerState() string {
	return c.breaker.State().String()
}
