package upstream_test

import (
	"io"
	"net"
	"net/http"
	"net/http/httptrace"
	"strings"
	"sync/atomic"
	"testing"

	"larder/internal/upstream"
)

func TestATransportWithoutHooks(t *testing.T) {
	t.Parallel()
	dial := &net.OpError{Op: "dial", Err: io.EOF}
	for name, tc := range map[string]struct {
		err   error
		wrote bool // the one hook that it runs says so
		want  verdict
	}{
		"a failed dial is sure":          {dial, false, verdict{tries: 4}},
		"anything else is not":           {io.ErrUnexpectedEOF, false, isUnknown},
		"nor is a failed reading":        {&net.OpError{Op: "read", Err: io.EOF}, false, isUnknown},
		"nor a dial when it has written": {dial, true, isUnknown},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			var tries atomic.Int64
			client := withTokens(t, "http://service.test", upstream.WithWriteTransport(roundTrip(
				func(r *http.Request) (*http.Response, error) {
					tries.Add(1)
					if tc.wrote {
						httptrace.ContextClientTrace(r.Context()).WroteHeaders()
					}
					return nil, tc.err
				})))
			_, err := client.CreateOrder(t.Context(), []byte("{}"))
			check(t, upstream.OpCreate, err, tries.Load(), tc.want)
		})
	}
}

// A transport that runs the hooks over connections that are not counted cannot
// tell what left on them.
func TestATransportWithConnectionsOfItsOwn(t *testing.T) {
	t.Parallel()
	broken, requests := rawService(t, func(conn *net.TCPConn) { _ = conn.Close() })
	var sockets net.ListenConfig
	gone, err := sockets.Listen(t.Context(), "tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	refusing := gone.Addr().String()
	if err := gone.Close(); err != nil {
		t.Fatal(err)
	}
	for address, want := range map[string]verdict{broken: isUnknown, refusing: {}} {
		client := withTokens(t, "http://"+address, upstream.WithWriteTransport(&http.Transport{DisableKeepAlives: true}))
		for op, call := range operations(t.Context(), client) {
			before := requests.Load()
			err := call()
			check(t, op, err, requests.Load()-before, want)
		}
	}
	// So long a head leaves in parts; the first one breaks before it is whole.
	s := &service{token: func(w http.ResponseWriter, _ *http.Request) {
		_, _ = io.WriteString(w, `{"access_token":"`+strings.Repeat("x", 8<<10)+`"}`)
	}}
	client := start(t, s, upstream.WithWriteTransport(&http.Transport{DisableKeepAlives: true, DialContext: writing(10)}))
	for op, call := range operations(t.Context(), client) {
		check(t, op, call(), 1, isUnknown)
	}
}

type roundTrip func(*http.Request) (*http.Response, error)

// RoundTrip implements http.RoundTripper.
func (f roundTrip) RoundTrip(r *http.Request) (*http.Response, error) { return f(r) }
