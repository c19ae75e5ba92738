package upstream

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"sync"
	"time"

	"github.com/sirupsen/logrus"
	"golang.org/x/oauth2"
	"golang.org/x/sync/singleflight"
)

// Pauses between token requests (policy W2a).
const (
	renewPause      = 3 * time.Second // after a failure while the old token is valid
	maxTokenWait    = 5 * time.Minute // of a Retry-After
	maxRefusalPause = time.Minute
	askAgainEvery   = 5 * time.Second // see AskTokenAgain
)

// heldToken is the current token and the last answer of the token endpoint. In contrast to the reuse source of
// golang.org/x/oauth2, it holds no lock during a request, each caller waits with its own context, a rejected token can be
// dropped, and a token is renewed while the old one is used.
type heldToken struct {
	flight  singleflight.Group
	mu      sync.Mutex
	current *oauth2.Token
	renewAt time.Time

	failed       *Error    // the last request's; nil if it returned a token
	retryAt      time.Time // end of the endpoint's Retry-After
	refusals     int       // in a row
	refusedUntil time.Time // end of the pause after the last one
	askedAgainAt time.Time // see AskTokenAgain
}

// valid reports whether the current token can be used.
func (h *heldToken) valid(now time.Time) bool {
	return h.current != nil && now.Before(h.current.Expiry)
}

// pause returns how long the token endpoint must not be asked.
func (h *heldToken) pause(now time.Time) time.Duration {
	return max(0, h.retryAt.Sub(now), h.refusedUntil.Sub(now))
}

// Token returns a valid token from memory, and renews it beside that if it expires soon. Without one, it waits for the
// token endpoint until ctx ends, or returns the endpoint's last error while it must not be asked. Concurrent callers share
// one request. The error is an *Error.
func (c *Client) Token(ctx context.Context) (*oauth2.Token, error) {
	if token := c.validToken(ctx); token != nil {
		return token, nil
	}
	if err := ctx.Err(); err != nil {
		return nil, &Error{Operation: OpToken, Err: err, again: true}
	}
	select {
	case <-ctx.Done():
		return nil, &Error{Operation: OpToken, Err: ctx.Err(), again: true}
	case result := <-c.startTokenRequest(ctx):
		token, _ := result.Val.(*oauth2.Token)
		return token, result.Err
	}
}

// startTokenRequest starts a token request, or joins the one in progress. While the token endpoint must not be asked, the
// result is its last error, with the rest of the pause.
func (c *Client) startTokenRequest(ctx context.Context) <-chan singleflight.Result {
	// All callers share the request, so the end of one caller must not stop it.
	detached := context.WithoutCancel(ctx)
	return c.held.flight.DoChan("token", func() (any, error) {
		c.held.mu.Lock()
		wait, failed := c.held.pause(c.clock()), c.held.failed
		c.held.mu.Unlock()
		if wait > 0 {
			own := *failed
			own.RetryAfter, own.fault = wait, false
			return nil, &own
		}
		asking, cancel := context.WithTimeout(detached, c.cfg.Timeouts.Token)
		defer cancel()
		return c.renewToken(asking)
	})
}

// validToken returns the token in memory, or nil. It starts a renewal if the token expires soon.
func (c *Client) validToken(ctx context.Context) *oauth2.Token {
	h := &c.held
	h.mu.Lock()
	defer h.mu.Unlock()
	now := c.clock()
	if !h.valid(now) {
		return nil
	}
	if !now.Before(h.renewAt) && h.pause(now) == 0 {
		h.renewAt = now.Add(c.cfg.Timeouts.Token) // the request has ended by then
		c.startTokenRequest(ctx)
	}
	return h.current
}

// renewToken requests a token in the configured format. If that fails, it returns the old one while it is valid.
func (c *Client) renewToken(ctx context.Context) (*oauth2.Token, error) {
	h := &c.held
	asked := c.clock()
	token, err := c.requestToken(ctx, c.cfg.TokenRequest)
	h.mu.Lock()
	defer h.mu.Unlock()
	if err == nil {
		if !h.refusedUntil.IsZero() { // a refusal came before this token
			c.log.WithField("event", "upstream.token_accepted").Info("the token endpoint returns a token again")
		}
		h.current, h.failed, h.refusals, h.retryAt, h.refusedUntil = token, nil, 0, time.Time{}, time.Time{}
		h.renewAt = token.Expiry.Add(-min(30*time.Second, token.Expiry.Sub(asked)/5))
		return token, nil
	}
	c.log.WithError(err).WithField("event", "upstream.token").Debug("fetching a token failed")
	now := c.clock()
	h.renewAt = now.Add(renewPause)
	failed, _ := errors.AsType[*Error](err)
	h.failed, h.retryAt = failed, now.Add(failed.RetryAfter)
	switch { // other answers without a token say that the same request gets none
	case failed.Status == 0, failed.Status >= http.StatusInternalServerError, failed.Status == http.StatusRequestTimeout,
		failed.Status == http.StatusTooManyRequests && failed.RetryAfter > 0:
		h.refusals = 0
	default:
		h.refusedUntil = now.Add(min(maxRefusalPause, time.Second<<min(h.refusals, 10))) // 1, 2, 4 … 60 s
		h.refusals++
	}
	if h.refusals == 1 {
		c.log.WithFields(logrus.Fields{"event": "upstream.token_refused", "status": failed.Status, "code": LogCode(failed.Code)}).
			Warn("the token endpoint refuses larder's request: check connections[].client_id, client_secret and token_request; " +
				"it is asked again after 1 to 60 s")
	}
	if h.valid(now) {
		return h.current, nil
	}
	return nil, err
}

// dropToken drops a token that the service rejected, unless another caller has already renewed it.
func (c *Client) dropToken(refused *oauth2.Token) {
	c.held.mu.Lock()
	defer c.held.mu.Unlock()
	if c.held.current != nil && c.held.current.AccessToken == refused.AccessToken {
		c.held.current = nil
	}
}

// AskTokenAgain ends the pause after refusals of the token endpoint, at most once every five seconds, because an
// operator may have changed something. A Retry-After holds. It returns how long the endpoint must not be asked.
func (c *Client) AskTokenAgain() time.Duration {
	h := &c.held
	h.mu.Lock()
	defer h.mu.Unlock()
	now := c.clock()
	next := now.Add(max(0, h.askedAgainAt.Add(askAgainEvery).Sub(now)))
	if h.refusedUntil.After(next) {
		h.refusedUntil, h.askedAgainAt, h.renewAt = next, next, next
	}
	return h.pause(now)
}

// Reload uses the client secret and the TLS files of a configuration that was read again. If it has changed, or the token endpoint refused
// the last request, a token is requested as soon as AskTokenAgain allows.
func (c *Client) Reload(secret string, files *TLSFiles) {
	c.secure(files)
	changed := *c.secret.Swap(&secret) != secret
	wait := c.AskTokenAgain()
	c.held.mu.Lock()
	ask := changed && c.held.current != nil || c.held.refusals > 0
	if changed {
		c.held.renewAt, c.held.refusals = c.clock(), 0
	}
	c.held.mu.Unlock()
	if ask {
		time.AfterFunc(wait, func() { _, _ = c.Token(context.Background()) })
	}
}

// TokenState is the state of a connection's token (policy W2a).
type TokenState string

// The states of a token.
const (
	TokenNone    TokenState = "none"    // none was needed, or the last one has expired
	TokenValid   TokenState = "valid"   //
	TokenWaiting TokenState = "waiting" // the token endpoint said when to ask again
	TokenRefused TokenState = "refused" // it refused the last request
	TokenFailing TokenState = "failing" // it did not answer, or with an error of its own
)

// TokenStatus is the state of a connection's token for operators.
type TokenStatus struct {
	State TokenState `json:"state"`
	OK    bool       `json:"ok"`  // a call would get a token, as far as is known
	Msg   string     `json:"msg"` // the problem; empty without one
}

// TokenStatus returns the state of the token.
func (c *Client) TokenStatus() TokenStatus {
	h := &c.held
	h.mu.Lock()
	defer h.mu.Unlock()
	now := c.clock()
	s := TokenStatus{State: TokenFailing, OK: h.valid(now), Msg: "the token endpoint fails"}
	switch {
	case h.failed == nil && s.OK:
		return TokenStatus{State: TokenValid, OK: true}
	case h.failed == nil:
		return TokenStatus{State: TokenNone, OK: true}
	case h.refusals > 0:
		s.State, s.Msg = TokenRefused, "the token endpoint refused larder's request"
	case h.retryAt.After(now):
		s.State, s.Msg = TokenWaiting, "the token endpoint asked larder to wait"
	}
	if h.failed.Status != 0 {
		s.Msg += fmt.Sprintf(" (status %d)", h.failed.Status)
	}
	if wait := h.pause(now); wait > 0 {
		s.Msg += fmt.Sprintf("; it is asked again in %s", max(time.Second, wait.Round(time.Second)))
	}
	if s.OK {
		s.Msg += "; the current token is valid"
	}
	return s
}
