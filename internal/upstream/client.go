package upstream

import (
	"cmp"
	"math/rand/v2"
	"net"
	"net/http"
	"net/url"
	"strings"
	"sync/atomic"
	"time"

	"github.com/sirupsen/logrus"

	"larder.local/internal/keptconn"
	"larder.local/internal/silentlog"
)

// Observer is called after each HTTP exchange with the ordering service: an attempt of a call, a read, or a token request.
// The status is 0 if there was no response. It runs on the caller's goroutine.
type Observer func(op Operation, status int, took time.Duration)

// Client is a client of the ordering service for one configured connection. It is safe for
// concurrent use. It starts goroutines only for token requests and for TCP connections.
type Client struct {
	cfg     Config
	clock   func() time.Time
	jitter  func(time.Duration) time.Duration
	log     logrus.FieldLogger
	observe Observer
	dial    keptconn.DialFunc
	reads   atomic.Pointer[http.Transport] // menu, reasons, token
	writes  sender
	listen  time.Duration // listenAfterError; tests wait longer
	secret  atomic.Pointer[string]
	files   atomic.Pointer[TLSFiles]
	held    heldToken
	queue   *queue
}

// Deps are the dependencies of a Client. All are optional.
type Deps struct {
	// Log receives the events upstream.retry, upstream.reuse, upstream.token and
	// upstream.token_refused. nil means no log.
	Log     logrus.FieldLogger
	Observe Observer
	// Dial opens the TCP connections to the ordering service. The default is net.Dialer.DialContext.
	Dial keptconn.DialFunc
	// Jitter returns the random part of a pause between attempts. By default, it is from 0 to the argument most.
	Jitter func(most time.Duration) time.Duration
}

// New returns a client for one connection. It sets the defaults of cfg. It reads the files of TLS, and nothing else. The error
// joins values of type *setting.Error.
func New(cfg Config, deps Deps) (*Client, error) {
	cfg.SetDefaults()
	cfg.BaseURL = strings.TrimRight(cfg.BaseURL, "/")
	cfg.AuthURL = strings.TrimRight(cfg.AuthURL, "/")
	if err := cfg.Validate(); err != nil {
		return nil, err
	}
	files, err := cfg.TLS.Load()
	if err != nil {
		return nil, err
	}
	if deps.Observe == nil {
		deps.Observe = func(Operation, int, time.Duration) {}
	}
	if deps.Dial == nil {
		deps.Dial = (&net.Dialer{Timeout: dialTimeout, KeepAlive: 30 * time.Second}).DialContext
	}
	if deps.Jitter == nil {
		deps.Jitter = func(most time.Duration) time.Duration { return rand.N(max(most, 0) + 1) }
	}
	c := &Client{
		cfg:     cfg,
		clock:   time.Now,
		jitter:  deps.Jitter,
		log:     cmp.Or(deps.Log, silentlog.New()).WithField("connection", cfg.Name),
		observe: deps.Observe,
		dial:    deps.Dial,
		queue:   newQueue(cfg),
		listen:  listenAfterError,
	}
	c.secret.Store(&c.cfg.ClientSecret)
	c.writes = newWriteSender(cfg, deps.Dial, http.ProxyFromEnvironment, c.log)
	c.secure(files)
	return c, nil
}

// at returns the URL of a path under one of the configured addresses, which Validate has checked.
func at(address, path string) *url.URL {
	to, _ := url.Parse(address + path)
	to.Host = strings.TrimSuffix(to.Host, ":") // an empty port
	return to
}

// Name returns the name of the connection.
func (c *Client) Name() string { return c.cfg.Name }

// Config returns the configuration, in which missing values have their defaults. The secret may have changed since.
func (c *Client) Config() Config { return c.cfg }

// Close closes idle connections. The client can still be used.
func (c *Client) Close() {
	c.reads.Load().CloseIdleConnections()
	c.writes.Close()
}
