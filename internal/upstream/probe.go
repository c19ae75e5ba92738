package upstream

import (
	"context"
	"time"
)

// Probe is what came of one form of the token request.
type Probe struct {
	Request    TokenRequest
	Configured bool          // it is the connection's own form
	Lifetime   time.Duration // of the token that came
	Err        error         // nil: this form works
}

// Works tells whether the form gave a token.
func (p Probe) Works() bool { return p.Err == nil }

// ProbeToken tries the configured form of the token request and, when it does
// not work, the presets, each once (policy W1). It is for `larder check
// --online`: nothing else ever guesses how credentials are to be sent. The
// error is the configured form's, nil when that one works.
func (c *Client) ProbeToken(ctx context.Context) ([]Probe, error) {
	own := c.probe(ctx, c.cfg.TokenRequest)
	own.Configured = true
	probes := []Probe{own}
	if own.Err == nil {
		return probes, nil
	}
	for _, preset := range []TokenRequest{TokenRequestDocument(), TokenRequestOAuth()} {
		if preset != c.cfg.TokenRequest && ctx.Err() == nil {
			probes = append(probes, c.probe(ctx, preset))
		}
	}
	return probes, own.Err
}

func (c *Client) probe(ctx context.Context, form TokenRequest) Probe {
	ctx, cancel := context.WithTimeout(ctx, c.cfg.Timeouts.Token)
	defer cancel()
	token, err := c.requestToken(ctx, form)
	if err != nil {
		return Probe{Request: form, Err: err}
	}
	return Probe{Request: form, Lifetime: time.Duration(token.ExpiresIn) * time.Second}
}
