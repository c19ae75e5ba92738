package upstream_test

import (
	"bytes"
	"context"
	"errors"
	"io"
	"net"
	"strings"
	"testing"
	"time"

	"larder.local/internal/upstream"
)

// clientOf returns a client of a service that handles each connection for writes with serve.
func clientOf(t *testing.T, serve func(net.Conn)) *upstream.Client {
	t.Helper()
	s := serveWire(t, false, nil)
	dial := func(ctx context.Context, network, _ string) (net.Conn, error) {
		listener, err := new(net.ListenConfig).Listen(ctx, network, "127.0.0.1:0")
		if err != nil {
			return nil, err
		}
		go func() {
			defer func() { _ = listener.Close() }()
			if conn, err := listener.Accept(); err == nil {
				serve(conn)
				_ = conn.Close()
			}
		}()
		return new(net.Dialer).DialContext(ctx, network, listener.Addr().String())
	}
	return s.client(t, nil, upstream.WithWriteDial(dial, nil))
}

// A service refuses a large order after its header, and closes the connection while larder
// sends the body. The refusal is read, so the outcome is certain.
func TestALargeOrderIsRefusedEarly(t *testing.T) {
	t.Parallel()
	client := clientOf(t, func(conn net.Conn) {
		_, _ = io.ReadFull(conn, make([]byte, 100))
		_, _ = io.WriteString(conn, "HTTP/1.1 413 Content Too Large\r\nConnection: close\r\nContent-Length: 0\r\n\r\n")
		<-time.After(200 * time.Millisecond) //testwaits:allow so that the client reads the response before the end of the connection
	})
	_, err := client.CreateOrder(t.Context(), append(bytes.Repeat([]byte(" "), 8<<20), "{}"...))
	var refused *upstream.Error
	if !errors.As(err, &refused) || refused.Effect == upstream.EffectUnknown || refused.Status != 413 {
		t.Errorf("CreateOrder = %+v, want a certain 413", err)
	}
}

// A header without an end is read up to a limit.
func TestAnEndlessHeaderIsNotReadToItsEnd(t *testing.T) {
	t.Parallel()
	const most = 64 << 20
	sent := make(chan int, 1)
	client := clientOf(t, func(conn net.Conn) {
		_, _ = conn.Read(make([]byte, 4096))
		_, _ = io.WriteString(conn, "HTTP/1.1 201 Created\r\n")
		line, total := strings.Repeat("X-A: "+strings.Repeat("b", 1000)+"\r\n", 64), 0
		for total < most {
			n, err := io.WriteString(conn, line)
			total += n
			if err != nil {
				break
			}
		}
		sent <- total
	})
	if _, err := client.CreateOrder(t.Context(), []byte("{}")); !isUnknownError(err) {
		t.Errorf("CreateOrder = %v, want unknown", err)
	}
	if total := <-sent; total >= most/2 {
		t.Errorf("the service sent %d MiB of a header, want about 1 MiB and the socket's buffers", total>>20)
	}
}
