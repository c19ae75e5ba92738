package baseline_test

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"io"
	"net"
	"net/http"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"larder.local/internal/testkit/leaktest"
	"larder.local/tools/bench/baseline"
)

func TestMain(m *testing.M) { leaktest.Main(m) }

// answer returns a complete response with a body of n bytes.
func answer(n int) []byte {
	return append([]byte("HTTP/1.1 200 OK\r\nContent-Length: "+strconv.Itoa(n)+"\r\n\r\n"), bytes.Repeat([]byte("0123456789abcdef"), n/16+1)[:n]...)
}

// start serves until the test ends, and checks that the server ends.
func start(t *testing.T, answers baseline.Answers) (address string) {
	t.Helper()
	listener, err := new(net.ListenConfig).Listen(t.Context(), "tcp4", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	tcp, ok := listener.(*net.TCPListener)
	if !ok {
		t.Fatalf("a listener of type %T", listener)
	}
	ctx, cancel := context.WithCancel(context.Background())
	ended := make(chan error, 1)
	go func() { ended <- baseline.Serve(ctx, tcp, answers) }()
	t.Cleanup(func() {
		cancel()
		select {
		case err := <-ended:
			if err != nil {
				t.Errorf("Serve: %v", err)
			}
		case <-time.After(time.Minute):
			t.Error("Serve goes on after its context has ended")
		}
	})
	return listener.Addr().String()
}

func dial(t *testing.T, address string) net.Conn {
	t.Helper()
	connection, err := new(net.Dialer).DialContext(t.Context(), "tcp", address)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = connection.Close() })
	if err := connection.SetDeadline(time.Now().Add(20 * time.Second)); err != nil {
		t.Fatal(err)
	}
	return connection
}

// Responses of all sizes, requested in one write and in single bytes, arrive
// completely and in order, on many connections at the same time.
func TestServeAnswersInOrder(t *testing.T) {
	t.Parallel()
	sizes := []int{0, 100, 16 << 10, 200 << 10, 4 << 20}
	answers := baseline.Answers{}
	for _, n := range sizes {
		answers["/"+strconv.Itoa(n)] = answer(n)
	}
	address := start(t, answers)
	var group sync.WaitGroup
	for client := range 8 {
		connection := dial(t, address)
		group.Go(func() {
			var asked strings.Builder
			for i := range sizes {
				asked.WriteString("GET /" + strconv.Itoa(sizes[(i+client)%len(sizes)]) + " HTTP/1.1\r\nHost: x\r\n\r\n")
			}
			step := asked.Len()
			if client == 0 {
				step = 1
			}
			group.Go(func() {
				for rest := asked.String(); len(rest) > 0; rest = rest[step:] {
					if _, err := io.WriteString(connection, rest[:step]); err != nil {
						t.Error(err)
						return
					}
				}
			})
			reader := bufio.NewReader(connection)
			for i := range sizes {
				n := sizes[(i+client)%len(sizes)]
				response, err := http.ReadResponse(reader, nil)
				if err != nil {
					t.Errorf("client %d, answer %d: %v", client, i, err)
					return
				}
				body, err := io.ReadAll(response.Body)
				_ = response.Body.Close()
				if whole := answer(n); err != nil || !bytes.HasSuffix(whole, body) || len(body) != n {
					t.Errorf("client %d, answer %d: %d bytes, %v; want %d", client, i, len(body), err, n)
				}
			}
		})
	}
	group.Wait()
}

func TestServeClosesAtWhatItDoesNotKnow(t *testing.T) {
	t.Parallel()
	address := start(t, baseline.Answers{"/": answer(1)})
	for name, sent := range map[string]string{
		"another path":   "GET /other HTTP/1.1\r\n\r\n",
		"no request":     "\r\n\r\n",
		"a head too big": "GET / HTTP/1.1\r\nX: " + strings.Repeat("x", 9<<10),
	} {
		connection := dial(t, address)
		if _, err := io.WriteString(connection, sent); err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		got, err := io.ReadAll(connection)
		var reset *net.OpError // excess input causes a reset
		if len(got) > 0 || (err != nil && !errors.As(err, &reset)) {
			t.Errorf("%s: %q, %v; want the end of the connection", name, got, err)
		}
	}
	// Other connections are not affected.
	connection := dial(t, address)
	if _, err := io.WriteString(connection, "GET / HTTP/1.1\r\n\r\n"); err != nil {
		t.Fatal(err)
	}
	got := make([]byte, len(answer(1)))
	if _, err := io.ReadFull(connection, got); err != nil || !bytes.Equal(got, answer(1)) {
		t.Errorf("%q, %v", got, err)
	}
}
