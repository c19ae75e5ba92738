package express_test

import (
	"strings"
	"testing"
)

// A large body that many ask for, some of whom read late, arrives whole each time.
func TestALargeBodyThatManyAskForArrivesWhole(t *testing.T) {
	t.Parallel()
	const asked = 12
	for _, size := range []int{8 << 10, 8<<10 + 1, 100 << 10, 384 << 10, 3<<20 + 1} {
		r := newRig(t, size)
		clients := make([]*client, 4)
		for i := range clients { // all are answered before one is read
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
