package fastpath_test

import (
	"net"
	"net/http"
	"strings"
	"testing"

	"larder.local/httpapi/fastpath"
)

// finish closes the client's sending side.
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

// newPatientFixture is newFixture with timeouts that end no connection before the client gives up.
func newPatientFixture(t *testing.T) *fixture {
	t.Helper()
	const long = 4 * limit // an end is noticed in a thirtieth of it
	return newFixtureOf(t, bodyOf(10),
		func(cfg *fastpath.Config) { cfg.HeadTimeout, cfg.IdleTimeout = long, long },
		func(server *http.Server) { server.ReadHeaderTimeout = long })
}

// A client may close its sending side together with its last request. This is noticed without
// the idle timeout.
func TestAnEndThatComesWithTheLastRequestIsSeen(t *testing.T) {
	t.Parallel()
	for name, before := range map[string]int{"the first": 0, "a later one": 1} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			r := newPatientFixture(t)
			clients := make([]*client, 50) // among many, some connections deliver both in one read
			for i := range clients {
				clients[i] = r.dial()
				for range before {
					clients[i].send(ask("/body"))
					clients[i].receive()
				}
			}
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
		})
	}
}

// Half a request followed by the end of the connection gets net/http's response at once.
func TestAnEndBehindHalfARequestIsSeen(t *testing.T) {
	t.Parallel()
	r := newPatientFixture(t)
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
}

// A reset by the client ends only that connection.
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
