package fastpath_test

import (
	"bufio"
	"strings"
	"testing"
)

// A large body arrives complete for each of many clients, even if some of them read late.
func TestALargeBodyForManyReadersArrivesComplete(t *testing.T) {
	t.Parallel()
	const asked = 12
	for _, size := range []int{8 << 10, 8<<10 + 1, 100 << 10, 384 << 10, 3<<20 + 1} {
		r := newFixture(t, size)
		clients := make([]*client, 4)
		for i := range clients { // all responses are sent before the first is read
			clients[i] = r.dial()
			clients[i].send(strings.Repeat(ask("/body"), asked))
		}
		for _, c := range clients {
			for range asked {
				if got := c.receive(); got.body != string(r.ready.body) {
					t.Errorf("%d bytes of %d, or others", len(got.body), size)
				}
			}
		}
		if n := r.behind.Load(); n != 0 {
			t.Errorf("%d requests got to net/http", n)
		}
		if err := r.stop(); err != nil {
			t.Error(err)
		}
	}
}

// The same holds for a large body from net/http behind the fast path, for clients that read late
// and for clients that read in small pieces.
func TestALargeBodyFromNetHTTPArrivesComplete(t *testing.T) {
	t.Parallel()
	const asked = 3
	r := newFixture(t, 5<<20+1) // more than one write of the fast path, and more than a socket buffer holds
	clients := make([]*client, 4)
	for i := range clients {
		clients[i] = r.dial()
		clients[i].send(strings.Repeat(ask("/large"), asked))
	}
	for i, c := range clients {
		if i%2 == 1 {
			c.in = bufio.NewReaderSize(c.Conn, 1<<i)
		}
		for range asked {
			if got := c.receive(); got.body != string(r.ready.body) {
				t.Errorf("%d bytes of %d, or others", len(got.body), len(r.ready.body))
			}
		}
	}
	if n := r.behind.Load(); n != int64(asked*len(clients)) {
		t.Errorf("%d requests got to net/http, want %d", n, asked*len(clients))
	}
}
