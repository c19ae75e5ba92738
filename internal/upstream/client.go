package upstream

import (
	"math/rand/v2"
	"net"
	"net/http"
	"strings"
	"time"

	"github.com/failsafe-go/failsafe-go/circuitbreaker"
	"github.com/sirupsen/logrus"

	"larder/internal/silentlog"
)

// Call is one HTTP exchange as an observer sees it, attempts counted singly.
type Call struct {
	Operation Operation
	Status    int // 0 when there was no answer
	Err       error
	Duration  time.Duration
}

// Client speaks to the ordering service over one API connection. It is safe
// for concurrent use and starts no goroutine that outlives a token request.
type Client struct {
	cfg     Config
	clock   func() time.Time
	jitter  func(time.Duration) time.Duration
	log     logrus.FieldLogger
	observe func(Call)
	reads   http.RoundTripper // menu, reasons, token
	writes  http.RoundTripper
	held    heldToken
	breaker circuitbreaker.CircuitBreaker[*answer]
	queue   *queue
}

// Option changes how a Client works.
type Option func(*Client)

// WithDial replaces how connections to the service are opened, of reads and of
// the calls that write: for tests over a network in memory.
func WithDial(dial DialFunc) Option {
	return func(c *Client) { c.reads, c.writes = newReadTransport(c.cfg, dial), newWriteTransport(dial) }
}

// WithPauses replaces the random part of the pauses between attempts: given the
// most, it says how long. Without randomness a run can be repeated.
func WithPauses(pause func(most time.Duration) time.Duration) Option {
	return func(c *Client) { c.jitter = pause }
}

// WithLogger sets the log; events are upstream.retry, upstream.breaker and
// upstream.token.
func WithLogger(log logrus.FieldLogger) Option { return func(c *Client) { c.log = log } }

// WithObserver is called after every exchange, from the calling goroutine.
func WithObserver(observe func(Call)) Option { return func(c *Client) { c.observe = observe } }

// New makes the client of one connection, with the defaults of cfg filled in.
// It does no I/O. The error joins *setting.Errors.
func New(cfg Config, opts ...Option) (*Client, error) {
	cfg.SetDefaults()
	cfg.BaseURL = strings.TrimRight(cfg.BaseURL, "/")
	cfg.AuthURL = strings.TrimRight(cfg.AuthURL, "/")
	if err := cfg.Validate(); err != nil {
		return nil, err
	}
	dialer := &net.Dialer{Timeout: dialTimeout, KeepAlive: 30 * time.Second}
	c := &Client{
		cfg: cfg, clock: time.Now, jitter: fullJitter, log: silentlog.New(), observe: func(Call) {}, queue: newQueue(cfg),
		reads: newReadTransport(cfg, dialer.DialContext), writes: newWriteTransport(dialer.DialContext),
	}
	for _, opt := range opts {
		opt(c)
	}
	c.log = c.log.WithField("connection", cfg.Name)
	c.breaker = newBreaker(c.log)
	return c, nil
}

// Name returns the connection's name.
func (c *Client) Name() string { return c.cfg.Name }

// Config returns the configuration with its defaults filled in.
func (c *Client) Config() Config { return c.cfg }

// Close closes idle connections, which only reads have. The client stays usable.
func (c *Client) Close() {
	if idle, ok := c.reads.(interface{ CloseIdleConnections() }); ok {
		idle.CloseIdleConnections()
	}
}

// fullJitter returns a random duration from 0 up to and including most.
func fullJitter(most time.Duration) time.Duration {
	return rand.N(max(most, 0) + 1) //nolint:gosec // spreads retries in time; nothing secret hangs on it
}
