package keptconn

import (
	"bufio"
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"math"
	"net/http"
	"net/http/httptrace"
	"time"
)

// Response is the response to a call. The caller reads the body, decodes it, and calls Release.
type Response struct {
	*http.Response

	pool *Pool
	conn *Conn           // nil if the response is not from a Pool
	ctx  context.Context //nolint:containedctx // of the call, which ends with Release
	stop func() bool     // reports false if the end of ctx has ended the connection
	err  error           // of the exchange; io.EOF after a complete response
}

// Send sends the request and reads the header of the response, or returns an error. sent reports whether a byte of
// the request may have been sent. No request is sent twice. fresh means a new connection. A service may respond before
// it has read a large request, which Send does not notice until it has written all of it.
func (p *Pool) Send(req *http.Request, limits Limits, fresh bool) (res *Response, sent bool, err error) {
	p.mu.Lock()
	req.Close = !p.mayKeep()
	p.mu.Unlock()
	text, err := requestText(req)
	if err != nil {
		return nil, false, err
	}
	ctx := req.Context()
	end, _ := ctx.Deadline() // zero: none
	for {                    // each kept connection at most once
		c, err := p.connect(ctx, limits, fresh)
		if err != nil {
			return nil, false, causeOf(ctx, err)
		}
		if trace := httptrace.ContextClientTrace(ctx); trace != nil && trace.GotConn != nil { // as http.Transport does; tests use it
			trace.GotConn(httptrace.GotConnInfo{Conn: c, Reused: c.used()})
		}
		res := &Response{pool: p, conn: c, ctx: ctx}
		_ = c.SetDeadline(end) // fails only if the connection is closed; then Write fails too
		res.stop = context.AfterFunc(ctx, func() { _ = c.SetDeadline(time.Unix(1, 0)) })
		if res.Response, res.err = c.exchange(text, req); res.err == nil { //nolint:bodyclose // Release ends the exchange
			res.Body = &body{res.Body, res}
			return res, true, nil
		}
		res.Release(false)
		if !errors.Is(res.err, errUnasked) || !c.used() {
			return nil, c.Written() > 0, causeOf(ctx, res.err)
		}
	}
}

// causeOf returns why ctx has ended, or the error. A connection may notice the deadline just before its context does.
func causeOf(ctx context.Context, err error) error {
	if end, bounded := ctx.Deadline(); bounded && !time.Now().Before(end) {
		return cmp.Or(context.Cause(ctx), context.DeadlineExceeded)
	}
	return cmp.Or(context.Cause(ctx), err)
}

// requestText returns a request as it is sent.
func requestText(req *http.Request) (text []byte, err error) {
	var out bytes.Buffer // returns no error of its own
	_, _ = fmt.Fprintf(&out, "%s %s HTTP/1.1\r\nHost: %s\r\nContent-Length: %d\r\n",
		req.Method, req.URL.RequestURI(), req.Host, req.ContentLength)
	if req.Close {
		out.WriteString("Connection: close\r\n")
	}
	_ = req.Header.Write(&out) // replaces line ends in values
	out.WriteString("\r\n")
	if req.Body != nil {
		_, err = out.ReadFrom(req.Body)
	}
	return out.Bytes(), err
}

// connect returns an idle connection, or a new one.
func (p *Pool) connect(ctx context.Context, limits Limits, fresh bool) (*Conn, error) {
	if c := p.take(limits, fresh); c != nil {
		return c, nil
	}
	settings := p.Settings()
	c, err := Dial(ctx, p.Open, p.Address, settings, limits)
	if err == nil {
		c.checked = settings == nil && c.wire.socket != nil // with TLS, its first messages may be incomplete
		c.head.R = c
		c.reader = bufio.NewReader(&c.head)
	}
	return c, err
}

// exchange sends a request with one write and reads the header of the response.
func (c *Conn) exchange(text []byte, req *http.Request) (res *http.Response, err error) {
	c.began = time.Now()
	if _, err := c.Write(text); err != nil {
		return nil, err
	}
	c.head.N = http.DefaultMaxHeaderBytes
	for interim := true; interim && err == nil; { // until the limit of head
		if res, err = http.ReadResponse(c.reader, req); err == nil {
			interim = res.StatusCode < http.StatusOK && res.StatusCode != http.StatusSwitchingProtocols
		}
	}
	c.head.N = math.MaxInt64 // the caller limits the body
	return res, err
}

// body is the body of a response. It notes its end.
type body struct {
	io.ReadCloser

	res *Response
}

// Read implements io.Reader. If the call's context has ended, it returns the error of the context.
func (b *body) Read(p []byte) (n int, err error) {
	if n, err = b.ReadCloser.Read(p); err != nil && err != io.EOF { //nolint:errorlint // io.EOF is never wrapped here
		err = causeOf(b.res.ctx, err)
	}
	b.res.err = err
	return n, err
}

// Close implements io.Closer. Release ends the exchange.
func (*body) Close() error { return nil }

// Seen reports whether an earlier response on the same TCP connection had this name, and remembers the name. A
// connection is used for five minutes at most.
func (r *Response) Seen(name string) bool {
	if r.conn == nil {
		return false
	}
	seen := r.conn.seen[name]
	if r.conn.seen == nil {
		r.conn.seen = map[string]bool{}
	}
	r.conn.seen[name] = true
	return seen
}

// Followed reports whether more bytes arrive within a time after a response on a reused connection, or its body is not
// complete. This response was then perhaps sent before the request had arrived, and the bytes are the one to the request.
// Only Release may follow.
func (r *Response) Followed(within time.Duration) bool {
	switch {
	case r.conn == nil || !r.conn.used() || r.Close:
		return false
	case !errors.Is(r.err, io.EOF):
		return true
	}
	until := time.Now().Add(within)
	if end, bounded := r.ctx.Deadline(); bounded && end.Before(until) {
		until = end
	}
	_ = r.conn.SetReadDeadline(until)
	_, err := r.conn.reader.Peek(1)
	return err == nil
}

// Release ends the exchange. If keep is false or the response is not complete, it closes the connection. If the
// exchange has failed on a reused connection, the pool stops using the others (see Doubt).
func (r *Response) Release(keep bool) {
	if r.conn == nil {
		_ = r.Body.Close()
		return
	}
	running := r.stop() // the connection still has no other deadline
	complete := r.Response != nil && errors.Is(r.err, io.EOF)
	failed := r.err != nil && !complete ||
		r.Response != nil && (r.StatusCode < http.StatusOK || r.StatusCode == http.StatusRequestTimeout)
	r.pool.mu.Lock()
	kept := keep && complete && !failed && running && r.pool.put(r.conn, r.Response)
	if failed && r.conn.used() && !errors.Is(r.ctx.Err(), context.Canceled) && !errors.Is(r.err, ErrTooLate) {
		r.pool.doubt()
	}
	r.pool.mu.Unlock()
	if !kept {
		_ = r.conn.Close()
	}
}
