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

// Deps is what a Client works with. What is left out has a default.
type Deps struct {
	// Log gets the events upstream.retry, upstream.breaker and upstream.token; silent by default.
	Log logrus.FieldLogger
	// Observe is called after every exchange, from the calling goroutine.
	Observe func(Call)
	// Dial opens the connections to the service, of reads and of writes; by default over TCP.
	Dial DialFunc
	// Jitter is the random part of a pause between attempts: given the most, it
	// returns how long. By default any duration up to the most.
	Jitter func(most time.Duration) time.Duration
}

// New makes the client of one connection, with the defaults of cfg filled in.
// It does no I/O. The error joins *setting.Errors.
func New(cfg Config, deps Deps) (*Client, error) {
	cfg.SetDefaults()
	cfg.BaseURL = strings.TrimRight(cfg.BaseURL, "/")
	cfg.AuthURL = strings.TrimRight(cfg.AuthURL, "/")
	if err := cfg.Validate(); err != nil {
		return nil, err
	}
	if deps.Log == nil {
		deps.Log = silentlog.New()
	}
	if deps.Observe == nil {
		deps.Observe = func(Call) {}
	}
	if deps.Dial == nil {
		deps.Dial = (&net.Dialer{Timeout: dialTimeout, KeepAlive: 30 * time.Second}).DialContext
	}
	if deps.Jitter == nil {
		deps.Jitter = fullJitter
	}
	c := &Client{
		cfg: cfg, clock: time.Now, jitter: deps.Jitter, log: deps.Log.WithField("connection", cfg.Name), observe: deps.Observe,
		reads: newReadTransport(cfg, deps.Dial), writes: newWriteTransport(deps.Dial), queue: newQueue(cfg),
	}
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
