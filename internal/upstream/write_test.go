package upstream_test

import (
	"context"
	"crypto/x509"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"larder.local/internal/upstream"
)

func TestSentWriteRequests(t *testing.T) {
	t.Parallel()
	var got []string
	s := &service{handler: func(w http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		got = append(got, strings.Join([]string{
			r.Method, r.URL.EscapedPath(), r.Header.Get("Content-Type"), r.Header.Get("Authorization"), string(body),
		}, " "))
		_, _ = io.WriteString(w, `{"result":{"orderID":9007199254740993}}`)
	}}
	client := start(t, s)
	created, err := client.CreateOrder(t.Context(), []byte(`{"a":1}`))
	want := upstream.Answer{
		OrderID: "9007199254740993",
		Status:  200, ContentType: "text/plain; charset=utf-8", Body: []byte(`{"result":{"orderID":9007199254740993}}`),
	}
	if diff := cmp.Diff(want, created); err != nil || diff != "" {
		t.Errorf("CreateOrder() error %v (-want +got):\n%s", err, diff)
	}
	answer, err := client.Pay(t.Context(), "a/b ?", []byte(`[]`))
	if err != nil || answer.Status != 200 || string(answer.Body) != string(want.Body) {
		t.Errorf("Pay() = %+v, %v", answer, err)
	}
	if _, err := client.Complete(t.Context(), "765"); err != nil {
		t.Errorf("Complete() = %v", err)
	}
	if _, err := client.Reject(t.Context(), "765", []byte(`{}`)); err != nil {
		t.Errorf("Reject() = %v", err)
	}
	if diff := cmp.Diff([]string{
		`POST /orders/api/v1/orders application/json Bearer token-1 {"a":1}`,
		`PUT /orders/api/v1/orders/a%2Fb%20%3F/pay application/json Bearer token-1 []`,
		`PUT /orders/api/v1/orders/765/complete  Bearer token-1 `,
		`PUT /orders/api/v1/orders/765/reject application/json Bearer token-1 {}`,
	}, got); diff != "" {
		t.Errorf("requests (-want +got):\n%s", diff)
	}
}

func TestOrderIDsThatAreInvalidInAPath(t *testing.T) {
	t.Parallel()
	s := &service{}
	client := start(t, s)
	for _, id := range []string{
		"", ".", "..", "../..", "1/../2", "1/..", `..\1`, `1\.\2`, "1\r\n", "1\x00", "1\u0085",
		"%2e%2e", "%252e%252e/x", "..;/x", "..%3B%2Fx", "x%2F..%3B%2Fy", " .. /x", "%20..%20%2Fx",
	} {
		_, err := client.Complete(t.Context(), id)
		if e := asError(t, err); !errors.Is(err, upstream.ErrOrderID) || e.Effect != upstream.EffectNone {
			t.Errorf("Complete(%q) = %v, want ErrOrderID and no effect", id, err)
		}
	}
	if s.tokens.Load() != 0 {
		t.Errorf("token requests = %d, want none", s.tokens.Load())
	}
	for _, id := range []string{"765", "a/b", "/", "...", "1..2", "a b", "№ 7", "100%", "1%2F2", "1;2", "1?x#y"} {
		if !upstream.InPath(id) {
			t.Errorf("InPath(%q) = false, want true", id)
		}
	}
}

// TestAWriteIsNeverRepeatedByNetHTTP is a regression test: net/http repeats a POST with an
// Idempotency-Key, or with a body that it can create again, if a reused connection breaks.
func TestAWriteIsNeverRepeatedByNetHTTP(t *testing.T) {
	t.Parallel()
	var requests, keys atomic.Int64
	s := &service{handler: func(w http.ResponseWriter, r *http.Request) {
		for _, name := range []string{"Idempotency-Key", "X-Idempotency-Key"} {
			if _, ok := r.Header[name]; ok {
				keys.Add(1)
			}
		}
		_, _ = io.Copy(io.Discard, r.Body)
		if requests.Add(1)%2 == 0 { // executed, then the connection breaks
			conn, _, err := http.NewResponseController(w).Hijack()
			if err == nil {
				_ = conn.Close()
			}
			return
		}
		_, _ = io.WriteString(w, `{"result":{"orderID":"1"}}`)
	}}
	client := start(t, s)
	for op, call := range operations(t.Context(), client) {
		before := requests.Load()
		if err := call(); err != nil {
			t.Fatalf("%s on a new connection: %v", op, err)
		}
		err := call() // on the same connection, which breaks
		if e := asError(t, err); e.Effect != upstream.EffectUnknown {
			t.Errorf("%s on a broken connection: %+v, want unknown", op, e)
		}
		if got := requests.Load() - before; got != 2 {
			t.Errorf("%s: the service got %d requests, want 2", op, got)
		}
	}
	if keys.Load() != 0 {
		t.Errorf("%d requests had an idempotency key, want none", keys.Load())
	}
}

func TestAWriteRespectsRetryAfter(t *testing.T) {
	t.Parallel()
	for name, tc := range map[string]struct {
		status     int
		retryAfter string
		wantErr    bool
		took       time.Duration
		asked      time.Duration
	}{
		"429, seconds, below the limit":   {429, "2", false, 4 * time.Second, 0},
		"425, seconds, below the limit":   {425, "3", false, 6 * time.Second, 0},
		"429 above the limit of 15 s":     {429, "20", true, 0, 20 * time.Second},
		"425 with a date above the limit": {425, "Sat, 01 Jan 2000 00:01:00 GMT", true, 0, time.Minute},
		"425 with a date that has passed": {425, "Sat, 01 Jan 1999 00:01:00 GMT", false, 0, 0},
		"425 with an invalid value":       {425, "soon", false, 0, 0},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				s := &service{}
				s.handler = func(w http.ResponseWriter, _ *http.Request) {
					if s.calls.Load() < 3 {
						w.Header().Set("Retry-After", tc.retryAfter)
						w.WriteHeader(tc.status)
						return
					}
					w.WriteHeader(http.StatusCreated)
					_, _ = io.WriteString(w, `{"result":{"orderID":"1"}}`)
				}
				client, _, stop := within(t, s) // the clock of a bubble starts in the year 2000
				defer stop()
				begun := time.Now()
				_, err := client.CreateOrder(t.Context(), []byte("{}"))
				if (err != nil) != tc.wantErr || time.Since(begun) != tc.took {
					t.Errorf("CreateOrder() = %v after %s, want error %v after %s", err, time.Since(begun), tc.wantErr, tc.took)
				}
				if tc.wantErr {
					if e := asError(t, err); e.RetryAfter != tc.asked || e.Effect != upstream.EffectNone || e.Refused() {
						t.Errorf("error = %+v, want not executed, Retry-After %s", e, tc.asked)
					}
				}
			})
		})
	}
}

// A connection whose handshake failed is closed.
func TestAFailedHandshakeClosesTheConnection(t *testing.T) {
	t.Parallel()
	plain := httptest.NewServer(http.NotFoundHandler())
	t.Cleanup(plain.Close)
	var open atomic.Int64
	var dialer net.Dialer
	client := withTokens(t, strings.Replace(plain.URL, "http:", "https:", 1), upstream.WithWriteDial(
		func(ctx context.Context, network, address string) (net.Conn, error) {
			conn, err := dialer.DialContext(ctx, network, address)
			open.Add(1)
			return &closing{Conn: conn, note: func() { open.Add(-1) }}, err
		}, nil))
	_, err := client.CreateOrder(t.Context(), []byte("{}"))
	check(t, upstream.OpCreate, err, 4, notSent)
	if open.Load() != 0 {
		t.Errorf("%d connections stayed open after failed handshakes", open.Load())
	}
}

// If the token endpoint sends Retry-After, the call sends no other token request, and its
// error contains the wait.
func TestAWriteRespectsRetryAfterOfTheTokenEndpoint(t *testing.T) {
	t.Parallel()
	s := &service{token: func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Retry-After", "600")
		w.WriteHeader(http.StatusServiceUnavailable)
	}}
	_, err := start(t, s).CreateOrder(t.Context(), []byte("{}"))
	e := asError(t, err)
	if e.Operation != upstream.OpCreate || e.Effect != upstream.EffectNone || e.Refused() || e.RetryAfter != 5*time.Minute ||
		s.tokens.Load() != 1 {
		t.Errorf("CreateOrder() = %+v after %d token requests, want it not sent, Retry-After 5m, after one", e, s.tokens.Load())
	}
}

func TestWritesOverTLS(t *testing.T) {
	t.Parallel()
	var protocol []string
	server := httptest.NewUnstartedServer(&service{handler: func(w http.ResponseWriter, r *http.Request) {
		protocol = append(protocol, fmt.Sprint(r.Proto, " resumed ", r.TLS.DidResume))
		_, _ = io.WriteString(w, `{"result":{"orderID":"1"}}`)
	}})
	server.EnableHTTP2 = true
	server.StartTLS()
	t.Cleanup(server.Close)
	roots := x509.NewCertPool()
	roots.AddCert(server.Certificate())
	var dialer net.Dialer
	client := withTokens(t, server.URL, upstream.WithWriteDial(dialer.DialContext, roots))
	for range 2 { // each has its own connection
		if _, err := client.CreateOrder(t.Context(), []byte("{}")); err != nil {
			t.Errorf("CreateOrder() over TLS = %v", err)
		}
	}
	if diff := cmp.Diff([]string{"HTTP/1.1 resumed false", "HTTP/1.1 resumed true"}, protocol); diff != "" {
		t.Errorf("protocols (-want +got):\n%s", diff)
	}
}

// The service responds as soon as it has the headers and closes the connection, like services
// that shed load. If the body were sent separately, its write would fail and the response would
// be lost.
func TestHeadersAndBodyAreOneWrite(t *testing.T) {
	t.Parallel()
	for _, size := range []int{0, 2 << 10, 24 << 10} {
		var writes atomic.Int64
		var dialer net.Dialer
		client := start(t, &service{handler: reply(http.StatusTooManyRequests, "")}, upstream.WithWriteDial(
			func(ctx context.Context, network, address string) (net.Conn, error) {
				writes.Store(0)
				conn, err := dialer.DialContext(ctx, network, address)
				return &writeCounter{Conn: conn, writes: &writes}, err
			}, nil))
		_, err := client.Pay(t.Context(), "1", []byte(strings.Repeat(" ", size)))
		if e := asError(t, err); e.Status != http.StatusTooManyRequests || writes.Load() != 1 {
			t.Errorf("a body of %d bytes: %v with %d writes, want 429 with one", size, err, writes.Load())
		}
	}
}

type writeCounter struct {
	net.Conn
	writes *atomic.Int64
}

// Write implements net.Conn.
func (c *writeCounter) Write(p []byte) (int, error) {
	c.writes.Add(1)
	return c.Conn.Write(p)
}

// A request that net/http could create again could also be sent twice.
func TestAWriteCannotBeRewound(t *testing.T) {
	t.Parallel()
	var rewindable atomic.Int64
	client := withTokens(t, "http://service.test", upstream.WithTransports(http.DefaultTransport, roundTrip(
		func(r *http.Request) (*http.Response, error) {
			if r.GetBody != nil {
				rewindable.Add(1)
			}
			return &http.Response{
				StatusCode: http.StatusOK, Request: r,
				Body: io.NopCloser(strings.NewReader(`{"result":{"orderID":"1"}}`)),
			}, nil
		})))
	for op, call := range operations(t.Context(), client) {
		if err := call(); err != nil || rewindable.Load() != 0 {
			t.Errorf("%s = %v, %d requests with GetBody, want none", op, err, rewindable.Load())
		}
	}
}
