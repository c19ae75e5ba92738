package upstream

import (
	"bufio"
	"bytes"
	"cmp"
	"context"
	"io"
	"math"
	"net"
	"net/http"
	"net/http/httptrace"
	"sync"
	"time"
)

// onceBuffers are the buffers of one exchange. Most requests to a service have a connection of their own. With
// http.Transport, each would also have two goroutines and new buffers of 40 KB.
type onceBuffers struct {
	request  bytes.Buffer
	response *bufio.Reader
	head     io.LimitedReader // between the connection and response: limits interim responses and the header
}

//nolint:gochecknoglobals // only caches buffers
var oncePool = sync.Pool{New: func() any { return &onceBuffers{response: bufio.NewReader(nil)} }}

// once sends a request on a connection of its own. The caller must close the response's body.
func (p *writePool) once(req *http.Request) (*http.Response, error) {
	ctx, dial, port := req.Context(), p.single.DialContext, "80"
	if req.URL.Scheme == "https" {
		dial, port = p.single.DialTLSContext, "443"
	}
	conn, err := dial(ctx, "tcp", net.JoinHostPort(req.URL.Hostname(), cmp.Or(req.URL.Port(), port)))
	if err != nil {
		return nil, cmp.Or(context.Cause(ctx), err)
	}
	if trace := httptrace.ContextClientTrace(ctx); trace != nil && trace.GotConn != nil {
		trace.GotConn(httptrace.GotConnInfo{Conn: conn})
	}
	req.Close = true
	b, _ := oncePool.Get().(*onceBuffers)
	body := &onceBody{ctx: ctx, conn: conn, buffers: b}
	body.stop = context.AfterFunc(ctx, func() { _ = conn.SetDeadline(time.Unix(1, 0)) })
	res, err := b.exchange(conn, req)
	if err != nil {
		_ = body.Close()
		return nil, cmp.Or(context.Cause(ctx), err)
	}
	body.reader, res.Body = res.Body, body
	return res, nil
}

// exchange sends the request with one write and reads the header of the response.
func (b *onceBuffers) exchange(conn net.Conn, req *http.Request) (res *http.Response, err error) {
	b.request.Reset()
	if err := req.Write(&b.request); err != nil {
		return nil, err
	}
	if _, err := conn.Write(b.request.Bytes()); err != nil {
		return nil, err
	}
	b.head = io.LimitedReader{R: conn, N: http.DefaultMaxHeaderBytes}
	b.response.Reset(&b.head)
	for interim := true; interim && err == nil; { // until the limit of head
		if res, err = http.ReadResponse(b.response, req); err == nil {
			interim = res.StatusCode < http.StatusOK && res.StatusCode != http.StatusSwitchingProtocols
		}
	}
	b.head.N = math.MaxInt64 // readBody limits the body
	return res, err
}

// onceBody is the body of a response on a connection of its own. Close ends the connection.
type onceBody struct {
	ctx     context.Context //nolint:containedctx // of the exchange, which ends with Close
	conn    net.Conn
	stop    func() bool
	reader  io.Reader
	buffers *onceBuffers
}

// Read implements io.Reader. If ctx has ended, that is the error.
func (b *onceBody) Read(p []byte) (int, error) {
	n, err := b.reader.Read(p)
	if err != nil && err != io.EOF { //nolint:errorlint // io.EOF is never wrapped here
		err = cmp.Or(context.Cause(b.ctx), err)
	}
	return n, err
}

// Close implements io.Closer. Nothing uses the buffers afterwards: bytes in them would answer another order.
func (b *onceBody) Close() error {
	if b.buffers != nil {
		b.stop()
		b.reader, b.buffers.head.R = http.NoBody, nil
		oncePool.Put(b.buffers)
		b.buffers = nil
	}
	return b.conn.Close()
}
