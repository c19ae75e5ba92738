package upstream_test

import (
	"context"
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

	"larder.local/internal/upstream"
)

// writeOutcome is the expected result of a call that writes (policy O8b).
type writeOutcome struct {
	effect upstream.Effect
	done   bool // without an error
	tries  int64
}

var (
	isDone    = writeOutcome{done: true, tries: 1}
	isRefused = writeOutcome{effect: upstream.EffectRefused, tries: 1}
	isUnknown = writeOutcome{effect: upstream.EffectUnknown, tries: 1}
	notSent   = writeOutcome{tries: 4} // retried, certainly not executed
	none      = writeOutcome{}
)

// operations are the four calls that write.
func operations(ctx context.Context, c *upstream.Client) map[upstream.Operation]func() error {
	return map[upstream.Operation]func() error{
		upstream.OpCreate:   func() error { _, err := c.CreateOrder(ctx, []byte(`{"dishList":[]}`)); return err },
		upstream.OpPay:      func() error { _, err := c.Pay(ctx, "765", []byte(`[]`)); return err },
		upstream.OpComplete: func() error { _, err := c.Complete(ctx, "765"); return err },
		upstream.OpReject:   func() error { _, err := c.Reject(ctx, "765", []byte(`{}`)); return err },
	}
}

func check(t *testing.T, op upstream.Operation, err error, tries int64, want writeOutcome) {
	t.Helper()
	if want.done {
		if err != nil || tries != want.tries {
			t.Errorf("%s = %v after %d attempts, want done after %d", op, err, tries, want.tries)
		}
		return
	}
	e := asError(t, err)
	if e.Operation != op || e.Effect != want.effect || tries != want.tries {
		t.Errorf("%s = %v: effect %s, %d attempts; want effect %s, %d attempts", op, err, e.Effect, tries, want.effect, want.tries)
	}
}

func TestCertaintyOfResponses(t *testing.T) {
	t.Parallel()
	const shape = `{"code":"pos_close_order","msg":"not paid","requestId":"r","errors":null}`
	for name, tc := range map[string]struct {
		status         int
		body           string
		create, change writeOutcome // change: pay, complete, reject
		pay            writeOutcome // if it differs
	}{
		"201 with orderID":                       {201, `{"result":{"orderID":"765"}}`, isDone, isDone, none},
		"200 with orderId, a number":             {200, `{"result":{"orderId":765}}`, isDone, isDone, none},
		"2xx with an empty result":               {200, `{"result":{}}`, isUnknown, isDone, none},
		"2xx with other JSON":                    {202, `[1]`, isUnknown, isDone, none},
		"2xx with a null result":                 {200, `{"result":null}`, isUnknown, isDone, none},
		"2xx with an empty orderID":              {201, `{"result":{"orderID":""}}`, isUnknown, isDone, none},
		"2xx without a body":                     {200, ``, isUnknown, isDone, none},
		"204":                                    {204, ``, isUnknown, isDone, none},
		"2xx with garbage":                       {200, `{"result":{"orderID":"7`, isUnknown, isUnknown, none},
		"2xx with HTML":                          {200, `<html>welcome</html>`, isUnknown, isUnknown, none},
		"2xx in the error shape":                 {200, shape, isUnknown, isRefused, isUnknown},
		"2xx with an error code only":            {200, `{"code":"ERR_EXTERNAL_ERROR_WS","msg":""}`, isUnknown, isUnknown, none},
		"2xx with another member for the text":   {200, `{"result":{"code":"error","message":"no money"}}`, isUnknown, isUnknown, none},
		"2xx with a result and a code":           {200, `{"result":{"orderID":1},"code":"OK","msg":"fine"}`, isDone, isDone, none},
		"300":                                    {300, ``, isUnknown, isUnknown, none},
		"302 is not followed":                    {302, ``, isRefused, isRefused, none},
		"307 is not followed":                    {307, ``, isRefused, isRefused, none},
		"400":                                    {400, shape, isRefused, isRefused, none},
		"403 with HTML":                          {403, `<html>`, isRefused, isRefused, none},
		"404":                                    {404, ``, isRefused, isRefused, none},
		"409":                                    {409, ``, isUnknown, isRefused, none},
		"425":                                    {425, ``, notSent, notSent, none},
		"401 with a new token":                   {401, ``, writeOutcome{tries: 2}, writeOutcome{tries: 2}, none},
		"408":                                    {408, ``, isUnknown, isUnknown, none},
		"429":                                    {429, ``, notSent, notSent, none},
		"500 in the error shape":                 {500, shape, isUnknown, isRefused, isUnknown},
		"500 in the error shape, other spelling": {500, `{"Code":"x","Msg":"y"}`, isUnknown, isRefused, isUnknown},
		"500 of the POS":                         {500, `{"code":"ERR_EXTERNAL_ERROR_WS","msg":"no money"}`, isUnknown, isRefused, none},
		"500 of the POS, too late":               {500, `{"code":"ERR_EXTERNAL_ERROR_WS","msg":"request timed out"}`, isUnknown, isUnknown, none},
		"500 of a canceled call":                 {500, `{"code":"x","msg":"A task was canceled."}`, isUnknown, isUnknown, none},
		"500 of a reset connection":              {500, `{"code":"x","msg":"POS: Connection reset by peer"}`, isUnknown, isUnknown, none},
		"500 of the POS, without a response":     {500, `{"code":"ERR_EXTERNAL_ERROR_WS","msg":"Касса не отвечает"}`, isUnknown, isUnknown, none},
		"500 with HTML":                          {500, `<html>oops</html>`, isUnknown, isUnknown, none},
		"500 with a code only":                   {500, `{"code":"x"}`, isUnknown, isUnknown, none},
		"502 without a body":                     {502, ``, isUnknown, isUnknown, none},
		"502 in the error shape":                 {502, shape, isUnknown, isUnknown, none},
		"503 without a body":                     {503, ``, isUnknown, isUnknown, none},
		"503 in the error shape":                 {503, shape, isUnknown, isUnknown, none},
		"504 with HTML":                          {504, `<html>`, isUnknown, isUnknown, none},
		"the unknown status 777":                 {777, shape, isUnknown, isUnknown, none},
	} {
		for _, on := range []string{"own connections", "a new connection", "a kept connection"} {
			t.Run(name+" on "+on, func(t *testing.T) {
				t.Parallel()
				var redirected atomic.Bool
				s := &service{handler: func(w http.ResponseWriter, r *http.Request) {
					if r.Method == http.MethodPut && strings.Contains(r.URL.Path, "/first/") {
						return
					}
					if r.URL.Path == "/elsewhere" {
						redirected.Store(true)
					}
					w.Header().Set("Location", "/elsewhere")
					w.WriteHeader(tc.status)
					_, _ = io.WriteString(w, tc.body)
				}}
				for _, op := range []upstream.Operation{upstream.OpCreate, upstream.OpPay, upstream.OpComplete, upstream.OpReject} {
					client := start(t, s, upstream.WithReuse(reuseOf(on != "own connections")))
					want := tc.change
					switch {
					case op == upstream.OpCreate:
						want = tc.create
					case op == upstream.OpPay && tc.pay != none:
						want = tc.pay
					}
					if on == "a kept connection" {
						if _, err := client.Complete(t.Context(), "first"); err != nil {
							t.Fatal(err)
						}
					}
					before := s.calls.Load()
					err := operations(t.Context(), client)[op]()
					check(t, op, err, s.calls.Load()-before, want)
				}
				if redirected.Load() {
					t.Error("a redirect was followed")
				}
			})
		}
	}
}

// reuseOf returns a time for timeouts.reuse.
func reuseOf(kept bool) time.Duration {
	if kept {
		return 2 * time.Second
	}
	return 0
}

// breaking handles a connection of a raw TCP service.
type breaking func(conn *net.TCPConn)

func TestCertaintyOfBrokenConnections_O8(t *testing.T) {
	t.Parallel()
	reset := func(conn *net.TCPConn) {
		_ = conn.SetLinger(0)
		_ = conn.Close()
	}
	for name, do := range map[string]breaking{
		"reset before the response's first byte": reset,
		"closed before the first byte":           func(conn *net.TCPConn) { _ = conn.Close() },
		"reset in the headers": func(conn *net.TCPConn) {
			_, _ = io.WriteString(conn, "HTTP/1.1 201 Crea")
			_ = conn.Close()
		},
		"closed in the body": func(conn *net.TCPConn) {
			_, _ = io.WriteString(conn, "HTTP/1.1 201 Created\r\nContent-Length: 99\r\n\r\n{\"result\":{\"orderID\":\"7\"}}")
			_ = conn.Close()
		},
		"closed before the body": func(conn *net.TCPConn) {
			_, _ = io.WriteString(conn, "HTTP/1.1 200 OK\r\nContent-Length: 99\r\n\r\n")
			_ = conn.Close()
		},
		"500 closed in the body, in the error shape so far": func(conn *net.TCPConn) {
			_, _ = io.WriteString(conn, "HTTP/1.1 500 Oops\r\nContent-Length: 99\r\n\r\n{\"code\":\"x\",\"msg\":\"y\"}")
			_ = conn.Close()
		},
		"reset in a body without a length": func(conn *net.TCPConn) {
			_, _ = io.WriteString(conn, "HTTP/1.1 200 OK\r\nContent-Type: application/json\r\n\r\n")
			<-time.After(20 * time.Millisecond) //testwaits:allow so that the client reads the response before the reset
			reset(conn)
		},
		"another protocol, without end": func(conn *net.TCPConn) {
			_, _ = io.WriteString(conn, "HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: x\r\n\r\n")
			_, _ = io.Copy(io.Discard, conn) // until the client disconnects
		},
		"a response that is not HTTP": func(conn *net.TCPConn) {
			_, _ = io.WriteString(conn, "220 mail ready\r\n\r\n")
			_ = conn.Close()
		},
	} {
		for _, kept := range []bool{false, true} {
			t.Run(fmt.Sprintf("%s, kept %v", name, kept), func(t *testing.T) {
				t.Parallel()
				address, requests := rawService(t, do)
				for _, op := range []upstream.Operation{upstream.OpCreate, upstream.OpPay, upstream.OpComplete, upstream.OpReject} {
					client := withTokens(t, "http://"+address, upstream.WithReuse(reuseOf(kept)))
					before := requests.Load()
					err := operations(t.Context(), client)[op]()
					check(t, op, err, requests.Load()-before, isUnknown)
				}
			})
		}
	}
}

// rawService reads one request per connection, counts it and calls do to respond.
func rawService(t *testing.T, do breaking) (address string, requests *atomic.Int64) {
	t.Helper()
	var sockets net.ListenConfig
	listener, err := sockets.Listen(t.Context(), "tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	requests = new(atomic.Int64)
	done := make(chan struct{})
	go func() {
		defer close(done)
		for {
			accepted, err := listener.Accept()
			if err != nil {
				return
			}
			conn, ok := accepted.(*net.TCPConn)
			if !ok {
				return
			}
			var got []byte
			block := make([]byte, 4096)
			for !strings.Contains(string(got), "\r\n\r\n") {
				n, err := conn.Read(block)
				if err != nil {
					break
				}
				got = append(got, block[:n]...)
			}
			if len(got) > 0 {
				requests.Add(1)
				do(conn)
			}
			_ = conn.Close()
		}
	}()
	t.Cleanup(func() {
		_ = listener.Close()
		<-done
	})
	return listener.Addr().String(), requests
}

// withTokens returns a client with a working token endpoint, independent of base.
func withTokens(t *testing.T, base string, opts ...upstream.Option) *upstream.Client {
	t.Helper()
	tokens := httptest.NewServer(&service{})
	t.Cleanup(tokens.Close)
	cfg := config(base)
	cfg.AuthURL = tokens.URL
	return connect(t, cfg, opts...)
}

func TestCertaintyOfUnsentRequests_O8(t *testing.T) {
	t.Parallel()
	var sockets net.ListenConfig
	gone, err := sockets.Listen(t.Context(), "tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	refusing := gone.Addr().String()
	if err := gone.Close(); err != nil {
		t.Fatal(err)
	}
	secured := httptest.NewTLSServer(http.NotFoundHandler())
	t.Cleanup(secured.Close)
	plain := httptest.NewServer(http.NotFoundHandler())
	t.Cleanup(plain.Close)
	nowhere := &net.Dialer{Resolver: &net.Resolver{
		PreferGo: true,
		Dial:     func(context.Context, string, string) (net.Conn, error) { return nil, net.ErrClosed },
	}}
	var dialer net.Dialer
	for name, tc := range map[string]struct {
		base string
		dial func(ctx context.Context, network, address string) (net.Conn, error)
		want writeOutcome
	}{
		"DNS failure":                          {"http://service.invalid", nowhere.DialContext, notSent},
		"connect refused":                      {"http://" + refusing, dialer.DialContext, notSent},
		"TLS: the certificate is not trusted":  {secured.URL, dialer.DialContext, notSent},
		"TLS: the service does not support it": {strings.Replace(plain.URL, "http:", "https:", 1), dialer.DialContext, notSent},
		"connected, but nothing written":       {plain.URL, writing(0, io.ErrClosedPipe), notSent},
		"connected, but at its end":            {plain.URL, writing(0, io.EOF), notSent},
		"a part was written before the end":    {plain.URL, writing(10, io.EOF), isUnknown},
		"a part of the request was written":    {plain.URL, writing(10, io.ErrClosedPipe), isUnknown},
	} {
		for _, kept := range []bool{false, true} {
			t.Run(fmt.Sprintf("%s, kept %v", name, kept), func(t *testing.T) {
				t.Parallel()
				var dials atomic.Int64
				client := withTokens(t, tc.base, upstream.WithWriteDial(
					func(ctx context.Context, network, address string) (net.Conn, error) {
						dials.Add(1)
						return tc.dial(ctx, network, address)
					}, nil), upstream.WithReuse(reuseOf(kept)))
				for op, call := range operations(t.Context(), client) {
					before := dials.Load()
					err := call()
					check(t, op, err, dials.Load()-before, tc.want)
				}
			})
		}
	}
}

// A header of this length is sent in several writes; the connection breaks before it is
// complete.
func TestPartlySentHeadersHaveAnUnknownOutcome(t *testing.T) {
	t.Parallel()
	s := &service{token: func(w http.ResponseWriter, _ *http.Request) {
		_, _ = io.WriteString(w, `{"access_token":"`+strings.Repeat("x", 8<<10)+`"}`)
	}}
	client := start(t, s, upstream.WithWriteDial(writing(10, io.ErrClosedPipe), nil))
	for op, call := range operations(t.Context(), client) {
		check(t, op, call(), 1, isUnknown)
	}
}

// writing returns connections that accept the given number of bytes and then fail.
func writing(bytes int, failure error) func(context.Context, string, string) (net.Conn, error) {
	return func(ctx context.Context, network, address string) (net.Conn, error) {
		var dialer net.Dialer
		conn, err := dialer.DialContext(ctx, network, address)
		if err != nil {
			return nil, err
		}
		return &failingConn{Conn: conn, left: bytes, failure: failure}, nil
	}
}

type failingConn struct {
	net.Conn
	left    int
	failure error
}

func (c *failingConn) Write(p []byte) (int, error) {
	n := min(c.left, len(p))
	c.left -= n
	if n > 0 {
		if _, err := c.Conn.Write(p[:n]); err != nil {
			return 0, err
		}
	}
	return n, c.failure
}

func TestCertaintyOfTimeouts_O8(t *testing.T) {
	t.Parallel()
	for name, tc := range map[string]struct {
		token   http.HandlerFunc
		handler http.HandlerFunc
		effect  upstream.Effect
		calls   int64
		took    time.Duration
	}{
		"while the service works on it": {nil, hang, upstream.EffectUnknown, 1, upstream.DefaultWriteTimeout},
		"while the response's body arrives": {nil, func(w http.ResponseWriter, r *http.Request) {
			w.WriteHeader(http.StatusCreated)
			_, _ = io.WriteString(w, `{"result":`)
			_ = http.NewResponseController(w).Flush()
			hang(w, r)
		}, upstream.EffectUnknown, 1, upstream.DefaultWriteTimeout},
		"while waiting for a token": {hang, nil, upstream.EffectNone, 0, 3 * upstream.DefaultWriteTimeout / 10},
	} {
		for _, kept := range []bool{false, true} {
			t.Run(fmt.Sprintf("%s, kept %v", name, kept), func(t *testing.T) {
				t.Parallel()
				synctest.Test(t, func(t *testing.T) {
					s := &service{token: tc.token, handler: tc.handler}
					client, _, stop := within(t, s, upstream.WithReuse(reuseOf(kept)))
					defer stop()
					begun := time.Now()
					_, err := client.CreateOrder(t.Context(), []byte("{}"))
					e := asError(t, err)
					if e.Effect != tc.effect || s.calls.Load() != tc.calls {
						t.Errorf("error = %v: effect %s after %d calls, want %s after %d", err, e.Effect, s.calls.Load(), tc.effect, tc.calls)
					}
					if took := time.Since(begun); took != tc.took {
						t.Errorf("took %s, want %s", took, tc.took)
					}
				})
			})
		}
	}
}

func TestCancellingASentRequestIsUnknown(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		s := &service{handler: hang}
		client, _, stop := within(t, s)
		defer stop()
		ctx, cancel := context.WithCancel(t.Context())
		go func() {
			synctest.Wait() // the service has the request
			cancel()
		}()
		_, err := client.CreateOrder(ctx, []byte("{}"))
		check(t, upstream.OpCreate, err, s.calls.Load(), isUnknown)
		_, err = client.CreateOrder(ctx, []byte("{}"))
		check(t, upstream.OpCreate, err, s.calls.Load()-1, writeOutcome{tries: 0})
	})
}
