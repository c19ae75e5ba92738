package upstream

import (
	"cmp"
	"context"
	"crypto/tls"
	"net"
	"net/http"
	"net/http/httptrace"
	"net/url"
	"strings"
	"sync/atomic"
	"time"
	"unicode"

	"github.com/sirupsen/logrus"

	"larder.local/internal/keptconn"
)

// Limits of the connections to the service.
const (
	dialTimeout      = 10 * time.Second
	handshakeTimeout = 10 * time.Second
	// maxKeptBody is the largest body that is sent on a kept connection. Only a few orders are larger.
	maxKeptBody = 32 << 10
	readIdle    = 90 * time.Second
)

// newReadTransport returns the transport for menus, reasons and tokens. This package, not the
// transport, decompresses answers, because it has its own limits.
func newReadTransport(cfg Config, dial keptconn.DialFunc, settings *tls.Config) *http.Transport {
	return &http.Transport{
		Proxy:               http.ProxyFromEnvironment,
		DialContext:         dial,
		TLSClientConfig:     settings.Clone(), // HTTP/2 changes it
		ForceAttemptHTTP2:   true,
		MaxIdleConns:        cfg.Concurrency,
		MaxIdleConnsPerHost: cfg.Concurrency,
		IdleConnTimeout:     readIdle,
		TLSHandshakeTimeout: handshakeTimeout,
		DisableCompression:  true,
	}
}

// sender sends the requests of calls that write. It reports whether a byte of a request may have been sent, and sends
// none twice. fresh means a new connection.
type sender interface {
	Send(req *http.Request, limits keptconn.Limits, fresh bool) (res *keptconn.Response, sent bool, err error)
	Doubt() // each request has a new connection for some time
	Close()
}

// proxyFunc returns the proxy of a request; see http.ProxyFromEnvironment.
type proxyFunc func(*http.Request) (*url.URL, error)

// writeSender is the sender of a Client. It uses kept connections, where they are possible and useful.
type writeSender struct {
	*keptconn.Pool

	base   *url.URL
	proxy  proxyFunc
	direct bool // no proxy, and a host that is sent as it is
}

func newWriteSender(cfg Config, open keptconn.DialFunc, proxy proxyFunc, log logrus.FieldLogger) *writeSender {
	base := at(cfg.BaseURL, "")
	used, err := proxy(&http.Request{URL: base})
	translated := strings.ContainsFunc(base.Host, func(r rune) bool { return r > unicode.MaxASCII || r == '%' })
	w := &writeSender{base: base, proxy: proxy, direct: used == nil && err == nil && !translated, Pool: &keptconn.Pool{
		Address: net.JoinHostPort(base.Hostname(), cmp.Or(base.Port(), "80")),
		Open:    open,
		Reuse:   *cfg.Timeouts.Reuse,
		Doubted: func() {
			log.WithField("event", "upstream.reuse").
				Infof("a kept connection ended early or failed: each order has its own for %s", keptconn.DoubtTime)
		},
	}}
	if base.Scheme == "https" {
		w.Address = net.JoinHostPort(base.Hostname(), cmp.Or(base.Port(), "443"))
		w.TLS = orderTLS(base, &tls.Config{MinVersion: tls.VersionTLS12})
	}
	return w
}

// Send implements sender. A service may respond before it has read a large body, and http.Transport reads while it
// writes. A request through a proxy has a new connection too.
func (w *writeSender) Send(req *http.Request, limits keptconn.Limits, fresh bool) (*keptconn.Response, bool, error) {
	if w.direct && req.ContentLength <= maxKeptBody {
		return w.Pool.Send(req, limits, fresh)
	}
	settings := w.Settings()
	transport := &http.Transport{
		Proxy:               w.proxy,
		DialContext:         w.dial(nil, limits),
		DialTLSContext:      w.dial(settings, limits),
		TLSClientConfig:     settings, // behind a proxy
		DisableKeepAlives:   true,
		WriteBufferSize:     maxKeptBody,
		TLSHandshakeTimeout: handshakeTimeout,
		DisableCompression:  true,
	}
	var used atomic.Pointer[net.Conn]
	got, err := transport.RoundTrip(req.WithContext( //nolint:bodyclose // the caller releases it
		httptrace.WithClientTrace(req.Context(), &httptrace.ClientTrace{
			GotConn: func(info httptrace.GotConnInfo) { used.Store(&info.Conn) },
		})))
	if err == nil {
		return &keptconn.Response{Response: got}, true, nil
	}
	if used.Load() == nil {
		return nil, false, err
	}
	counted, ok := (*used.Load()).(*keptconn.Conn) // not ok if http.Transport added TLS behind a proxy: its bytes are not counted
	return nil, !ok || counted.Written() > 0, err
}

// dial returns a function that opens a connection for one call.
func (w *writeSender) dial(settings *tls.Config, limits keptconn.Limits) keptconn.DialFunc {
	return func(ctx context.Context, _, address string) (net.Conn, error) {
		if settings != nil {
			settings = settings.Clone()
			settings.ServerName, _, _ = net.SplitHostPort(address)
		}
		c, err := keptconn.Dial(ctx, w.Open, address, settings, limits)
		if err != nil {
			return nil, err // not c, a nil pointer
		}
		return c, nil
	}
}
