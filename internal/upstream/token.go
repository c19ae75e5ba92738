package upstream

import (
	"context"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"net/http"
	"strings"
	"time"

	"golang.org/x/oauth2"

	"larder.local/internal/jsontext"
)

// Limits of token lifetimes (policy W2).
const (
	defaultLifetime = 5 * time.Minute
	maxLifetime     = 365 * 24 * time.Hour
)

// requestToken makes one token request in the given format (policies W1, W2).
func (c *Client) requestToken(ctx context.Context, form TokenRequest) (*oauth2.Token, error) {
	body, contentType := form.encode(c.cfg.ClientID, *c.secret.Load())
	asked := c.clock()
	got, err := c.send(ctx, c.reads.Load().RoundTrip, &request{
		op:     OpToken,
		method: http.MethodPost,
		url:    at(c.cfg.AuthURL, pathToken),
		header: http.Header{"Content-Type": {contentType}},
		body:   body,
		limit:  maxAnswerBytes,
	}, nil)
	if err != nil {
		return nil, noResponse(OpToken, err)
	}
	reply := readTokenReply(got.body)
	if got.status < 200 || got.status > 299 || got.bodyErr != nil {
		return nil, c.tokenFailure(got, reply, got.bodyErr)
	}
	if !usableToken(reply.accessToken) {
		return nil, c.tokenFailure(got, reply, fmt.Errorf("%w: no usable access_token", errResponse))
	}
	lifetime := reply.lifetime
	if lifetime <= 0 {
		lifetime = jwtLifetime(reply.accessToken, asked)
	}
	return &oauth2.Token{
		AccessToken: reply.accessToken,
		ExpiresIn:   int64(lifetime / time.Second),
		Expiry:      asked.Add(lifetime),
	}, nil
}

// tokenFailure returns the error for an answer without a usable token. The body of a successful
// answer is not kept, because it may contain a token.
func (c *Client) tokenFailure(got *httpAnswer, reply tokenReply, cause error) *Error {
	e := c.failure(OpToken, got, cause)
	if e.Code == "" {
		e.Code = clip(c.redact(reply.problem, nil), maxCodeBytes)
		e.Msg = clip(c.redact(reply.description, nil), maxTextBytes)
	}
	if got.status >= 200 && got.status <= 299 {
		e.Body, e.Cut = nil, false
	}
	e.RetryAfter = min(e.RetryAfter, maxTokenWait)
	return e
}

// tokenReply is the answer of the token endpoint, success or error.
type tokenReply struct {
	accessToken string
	lifetime    time.Duration
	problem     string // error of RFC 6749
	description string
}

// readTokenReply decodes the answer, with names in any spelling and with or without an envelope
// result. The lifetime may be a number or a string.
func readTokenReply(body []byte) tokenReply {
	text, err := jsontext.Check(string(body), maxDepth)
	if err != nil {
		return tokenReply{}
	}
	var reply tokenReply
	if result := reply.read(text); result != "" && reply.accessToken == "" {
		reply.read(result)
	}
	return reply
}

// read decodes the members of an object and returns the member result.
func (t *tokenReply) read(object string) (result string) {
	r := jsontext.NewReader(object, maxDepth)
	for name := range r.Members() {
		switch jsontext.FoldName(name) {
		case "accesstoken":
			t.accessToken, _ = r.Text()
		case "expiresin":
			seconds, _ := r.Number()
			t.lifetime = boundedSeconds(seconds.Decimal().InexactFloat64())
		case "error":
			t.problem, _ = r.Text()
		case "errordescription":
			t.description, _ = r.Text()
		case "result":
			result = r.Raw()
		}
	}
	return result
}

func boundedSeconds(seconds float64) time.Duration {
	return time.Duration(min(max(seconds, 0), maxLifetime.Seconds())) * time.Second
}

// maxToken is the maximum length of a token. Servers reject longer headers, so each call would fail
// until the token expires.
const maxToken = 8 << 10

// usableToken reports whether the text is valid in an Authorization header.
func usableToken(text string) bool {
	return len(text) <= maxToken && text != "" && !strings.ContainsFunc(text, func(c rune) bool { return c <= ' ' || c >= 0x7f })
}

// jwtLifetime returns the remaining lifetime in the claims of a token: until exp or, if exp has
// passed by the local clock, the time from iat to exp. The default is 5 minutes.
func jwtLifetime(token string, now time.Time) time.Duration {
	parts := strings.Split(token, ".")
	if len(parts) != 3 {
		return defaultLifetime
	}
	payload, err := base64.RawURLEncoding.DecodeString(strings.TrimRight(parts[1], "="))
	var claims struct{ Exp, Iat json.Number } // seconds; some services write strings
	if err != nil || json.Unmarshal(payload, &claims) != nil {
		return defaultLifetime
	}
	ends, _ := claims.Exp.Float64()
	issued, _ := claims.Iat.Float64()
	begins := float64(now.Unix())
	if ends <= begins && issued > 0 {
		begins = issued
	}
	if ends <= begins {
		return defaultLifetime
	}
	return boundedSeconds(ends - begins)
}

// Probe is the result of one format of the token request.
type Probe struct {
	Request  TokenRequest
	Lifetime time.Duration // of the token
	Err      error         // nil if the format works
}

// ProbeToken tries the configured format of the token request. If it does not work, it tries each
// preset once (policy W1). Only `larder check --online` uses it; larder never guesses formats
// otherwise. The configured format is the first result; the error is its error.
func (c *Client) ProbeToken(ctx context.Context) ([]Probe, error) {
	probes := []Probe{c.probe(ctx, c.cfg.TokenRequest)}
	err := probes[0].Err
	if err == nil {
		return probes, nil
	}
	for _, name := range []string{"document", "oauth"} {
		if preset := presets()[name]; preset != c.cfg.TokenRequest && ctx.Err() == nil {
			probes = append(probes, c.probe(ctx, preset))
		}
	}
	return probes, err
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
