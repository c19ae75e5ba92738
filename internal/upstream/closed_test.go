package upstream_test

import (
	"context"
	"net"
	"testing"

	"larder.local/internal/upstream"
)

// A service, or a proxy without a backend, that accepts and closes a connection has not received the order.
func TestAConnectionThatIsClosedBeforeTheRequestIsCertain(t *testing.T) {
	t.Parallel()
	listener, err := new(net.ListenConfig).Listen(t.Context(), "tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = listener.Close() })
	closed := make(chan struct{})
	go func() {
		for {
			c, err := listener.Accept()
			if err != nil {
				return
			}
			_ = c.Close()
			select {
			case closed <- struct{}{}:
			case <-t.Context().Done():
				return
			}
		}
	}()
	dial := func(ctx context.Context, network, address string) (net.Conn, error) {
		c, err := new(net.Dialer).DialContext(ctx, network, address)
		if err == nil {
			<-closed // on loopback, the end of the connection arrives with this
		}
		return c, err
	}
	client := withTokens(t, "http://"+listener.Addr().String(), upstream.WithWriteDial(dial, nil))
	for range 5 {
		if _, err := client.CreateOrder(t.Context(), []byte(`{}`)); err == nil || isUnknownError(err) {
			t.Fatalf("the outcome is not certain: %v", err)
		}
	}
}
