package fastpath_test

import (
	"net"
	"strings"
	"testing"
	"time"
)

// finish ends what the client sends.
func (c *client) finish() {
	c.Helper()
	half, ok := c.Conn.(*net.TCPConn)
	if !ok {
		c.Fatalf("a connection of type %T", c.Conn)
	}
	if err := half.CloseWrite(); err != nil {
		c.Fatal(err)
	}
}

// A client may end its side together with its last request, the first or a later
// one: that is seen long before the idle time is over.
func TestAnEndThatComesWithTheLastRequestIsSeen(t *testing.T) {
	t.Parallel()
	for name, before := range map[string]int{"the first": 0, "a later one": 1} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			r := newFixture(t, 10)
			clients := make([]*client, 50) // of many some have both read at once
			for i := range clients {
				clients[i] = r.dial()
				for range before {
					clients[i].send(ask("/body"))
					clients[i].receive()
				}
			}
			begun := time.Now()
			for _, c := range clients {
				c.send(ask("/body"))
				c.finish()
			}
			for _, c := range clients {
				if got := c.receive(); got.body != string(r.ready.body) {
					t.Errorf("got %q", got.body)
				}
				c.ends()
			}
			if took := time.Since(begun); took > limit/4 {
				t.Errorf("ended after %v, of an idle time of %v", took, limit)
			}
		})
	}
}

// Half a request that is followed by the end has net/http's answer at once.
func TestAnEndBehindHalfARequestIsSeen(t *testing.T) {
	t.Parallel()
	r := newFixture(t, 10)
	begun := time.Now()
	for range 50 {
		c := r.dial()
		c.send(ask("/body"))
		c.receive()
		c.send("GET /body HTTP/1.1\r\nHo")
		c.finish()
		if status, err := c.in.ReadString('\n'); err != nil || !strings.HasPrefix(status, "HTTP/1.1 400 ") {
			t.Fatalf("got %q, %v", status, err)
		}
	}
	if took := time.Since(begun); took > limit/4 {
		t.Errorf("answered after %v", took)
	}
}

// A client that resets its connection ends it, and nothing else.
func TestAResetEndsOneConnection(t *testing.T) {
	t.Parallel()
	r := newFixture(t, 3<<20)
	other := r.dial()
	for _, sent := range []string{"", "GET /bo", ask("/body"), strings.Repeat(ask("/body"), 3)} {
		c := r.dial()
		c.send(ask("/body"))
		c.receive()
		c.send(sent)
		tcp, _ := c.Conn.(*net.TCPConn)
		if err := tcp.SetLinger(0); err != nil {
			t.Fatal(err)
		}
		if err := tcp.Close(); err != nil {
			t.Fatal(err)
		}
		other.send(ask("/body"))
		if got := other.receive(); got.body != string(r.ready.body) {
			t.Errorf("another connection got %d bytes", len(got.body))
		}
	}
	if n := r.panicked.Load(); n != 0 {
		t.Errorf("%d panics", n)
	}
	if err := r.stop(); err != nil {
		t.Error(err)
	}
}
