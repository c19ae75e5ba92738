package upstream_test

import (
	"context"
	"net"
	"slices"
	"sync"
	"testing"
	"time"

	"larder.local/internal/keptconn"
	"larder.local/internal/upstream"
)

// roundTripTime is the simulated time of a packet to the service and back. It is long compared with what other tests
// on the same cores cost.
const roundTripTime = 200 * time.Millisecond

// farAway opens connections on which a handshake of TCP and each response take a round trip. Bytes that are
// sent at the same time arrive at the same time.
func farAway(t *testing.T) keptconn.DialFunc {
	t.Helper()
	var copying sync.WaitGroup
	t.Cleanup(copying.Wait)
	return func(ctx context.Context, network, address string) (net.Conn, error) {
		var dialer net.Dialer
		far, err := dialer.DialContext(ctx, network, address)
		if err != nil {
			return nil, err
		}
		// The client needs a socket, so the delay is between two of them.
		listener, err := new(net.ListenConfig).Listen(ctx, "tcp", "127.0.0.1:0")
		if err != nil {
			return nil, err
		}
		defer func() { _ = listener.Close() }()
		near, err := dialer.DialContext(ctx, network, listener.Addr().String())
		if err != nil {
			return nil, err
		}
		middle, err := listener.Accept()
		if err != nil {
			return nil, err
		}
		copying.Go(func() { delayed(far, middle) })
		copying.Go(func() { delayed(middle, far) })
		<-time.After(roundTripTime) //testwaits:allow the simulated round trip
		return near, nil
	}
}

// delayed copies bytes, each half a round trip later, and then closes the connection.
func delayed(to, from net.Conn) {
	type packet struct {
		at    time.Time
		bytes []byte
	}
	sent := make(chan packet, 1024)
	var writing sync.WaitGroup
	writing.Go(func() {
		for p := range sent {
			<-time.After(time.Until(p.at)) //testwaits:allow the simulated round trip
			_, _ = to.Write(p.bytes)       // an error is seen by the other side
		}
		_ = to.Close()
	})
	for block := make([]byte, 64<<10); ; {
		n, err := from.Read(block)
		sent <- packet{time.Now().Add(roundTripTime / 2), slices.Clone(block[:n])} //testwaits:allow the simulated round trip
		if err != nil {
			break
		}
	}
	close(sent)
	writing.Wait()
}

// roundTripsOf places orders at intervals and returns their times in round trips, sorted.
func roundTripsOf(t *testing.T, reuse, interval time.Duration, orders int) []float64 {
	t.Helper()
	s := serveWire(t, true, func(p peer) bool { p.says(created201); return true })
	client := s.client(t, func(cfg *upstream.Config) { cfg.Timeouts.Reuse = new(reuse) },
		upstream.WithWriteDial(farAway(t), s.roots))
	if _, err := client.CreateOrder(t.Context(), []byte(`{}`)); err != nil { // with the token
		t.Fatal(err)
	}
	<-time.After(2*reuse + 4*roundTripTime) //testwaits:allow until the connection is watched
	var took []float64
	for range orders {
		begun := time.Now()
		if _, err := client.CreateOrder(t.Context(), []byte(`{"dishList":[]}`)); err != nil {
			t.Error(err)
		}
		took = append(took, float64(time.Since(begun))/float64(roundTripTime))
		<-time.After(time.Until(begun.Add(interval))) //testwaits:allow orders arrive at this interval
	}
	slices.Sort(took)
	return took
}

// The service is one round trip away and uses TLS. An order takes about one round trip, if orders
// follow each other in less than timeouts.reuse; otherwise three: for the connection, the handshake and the request.
func TestAnOrderOverTLSTakesOneRoundTrip(t *testing.T) {
	t.Parallel()
	for name, tc := range map[string]struct {
		reuse    time.Duration
		interval time.Duration
		least    float64
		most     float64
	}{
		"kept connections, one order per second": {2 * time.Second, time.Second, 1, 1.6},
		"new connections":                        {0, 200 * time.Millisecond, 3, 30},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			took := roundTripsOf(t, tc.reuse, tc.interval, 9)
			t.Logf("round trips of an order over TLS: %.2f, median %.2f", took, took[len(took)/2])
			// The fastest, because other tests use the same cores.
			if got := took[0]; got < tc.least || got > tc.most {
				t.Errorf("an order over TLS takes %.2f round trips, want %.1f to %.1f", got, tc.least, tc.most)
			}
		})
	}
}
