package loadgen_test

import (
	"context"
	"errors"
	"net"
	"net/http"
	"net/http/httptest"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"larder.local/tools/bench/loadgen"
)

func plan(server *httptest.Server) loadgen.Plan {
	return loadgen.Plan{
		Addresses:   []string{server.Listener.Addr().String()},
		Requests:    [][]byte{[]byte("GET / HTTP/1.1\r\nHost: x\r\n\r\n")},
		Status:      http.StatusOK,
		Rate:        500,
		Connections: 4,
		For:         time.Second,
	}
}

func serve(t *testing.T, handler http.HandlerFunc) *httptest.Server {
	t.Helper()
	server := httptest.NewServer(handler)
	t.Cleanup(server.Close)
	return server
}

func TestRunAsksAtItsRate(t *testing.T) {
	t.Parallel()
	var asked atomic.Int64
	const length = 300 << 10 // more than one read returns
	server := serve(t, func(w http.ResponseWriter, _ *http.Request) {
		asked.Add(1)
		w.Header().Set("Content-Length", strconv.Itoa(length))
		_, _ = w.Write(make([]byte, length))
	})
	p := plan(server)
	p.Rate, p.Warm = 200, 500*time.Millisecond
	began := time.Now()
	found, err := loadgen.Run(t.Context(), p)
	if err != nil {
		t.Fatal(err)
	}
	if asked.Load() != 200 || found.Answered != 100 || found.Unanswered != 0 {
		t.Errorf("asked %d times, %+v; want 200, half of them counted", asked.Load(), found)
	}
	if took := time.Since(began); took < 990*time.Millisecond {
		t.Errorf("200 requests at 200 a second took %v", took)
	}
	if found.P50 <= 0 || found.P50 > found.P99 || found.P99 > found.Max {
		t.Errorf("quantiles %+v", found)
	}
}

// Without a rate, every connection is always busy; keys differ, and values end the load.
func TestRunWithoutARateSendsAfterEachResponse(t *testing.T) {
	t.Parallel()
	var mu sync.Mutex
	paths, keys := map[string]int{}, map[string]int{}
	handler := func(name string) http.HandlerFunc {
		return func(w http.ResponseWriter, r *http.Request) {
			mu.Lock()
			defer mu.Unlock()
			paths[name+r.URL.Path]++
			keys[r.Header.Get("Key")]++
			_, _ = w.Write([]byte("body of " + r.URL.Path))
		}
	}
	first, second := serve(t, handler("first")), serve(t, handler("second"))
	p := plan(first)
	p.Addresses = append(p.Addresses, second.Listener.Addr().String())
	p.Rate, p.FirstKey, p.Keys = 0, 7, 3
	bodies := map[string]int{}
	p.Body = func(body []byte) { bodies[string(body)]++ }
	request := func(path string) []byte {
		return []byte("GET " + path + " HTTP/1.1\r\nHost: x\r\nKey: " + loadgen.KeyMark + "\r\n\r\n")
	}
	p.Requests = [][]byte{request("/a"), request("/b")}
	p.For = 100 * time.Millisecond
	found, err := loadgen.Run(t.Context(), p)
	if err != nil {
		t.Fatal(err)
	}
	mu.Lock() // a late request may still be served
	if total := bodies["body of /a"] + bodies["body of /b"]; total != found.Answered || found.Answered < 4 || found.PerSecond <= 0 || found.Unanswered > 0 {
		t.Errorf("%+v, %d bodies", found, total)
	}
	for _, name := range []string{"first/a", "first/b", "second/a", "second/b"} {
		if paths[name] == 0 {
			t.Errorf("%s was not sent: %v", name, paths)
		}
	}
	if len(keys) != 3 || keys["000000000007"] == 0 || keys["000000000009"] == 0 {
		t.Errorf("keys %v, want three in turn", keys)
	}
	mu.Unlock()
	p.Requests, p.Values, p.For = [][]byte{request("/" + loadgen.ValueMark)}, []string{"x", "y", "z"}, time.Minute
	if found, err = loadgen.Run(t.Context(), p); err != nil || found.Answered != 3 || bodies["body of /z"] != 1 {
		t.Errorf("%+v, %v, %v; want one request for each value", found, err, bodies)
	}
}

func TestRunThatSleepsKeepsItsRate(t *testing.T) {
	t.Parallel()
	p := plan(serve(t, func(http.ResponseWriter, *http.Request) {}))
	p.Sleep = true
	found, err := loadgen.Run(t.Context(), p)
	if err != nil || found.Answered != 500 || found.PerSecond > 600 { // on a busy machine the last responses come later
		t.Errorf("%+v, %v; want 500 a second", found, err)
	}
}

// If a server stops for 300 ms, all requests that were due in this time count, not
// only those of the four connections.
func TestRunChargesAStopWithAllThatWasDue(t *testing.T) {
	t.Parallel()
	const stop = 300 * time.Millisecond
	var asked atomic.Int64
	stopped := make(chan struct{})
	server := serve(t, func(_ http.ResponseWriter, _ *http.Request) {
		if asked.Add(1) == 100 {
			time.AfterFunc(stop, func() { close(stopped) }) //testwaits:allow the server stops for this time
		}
		if asked.Load() >= 100 {
			<-stopped
		}
	})
	found, err := loadgen.Run(t.Context(), plan(server))
	if err != nil {
		t.Fatal(err)
	}
	// 150 of the 500 were due in those 300 ms, and waited 150 ms on average.
	if found.P90 < stop/3 || found.Max < stop {
		t.Errorf("%+v: a stop of %v is not seen", found, stop)
	}
}

func TestRunCountsWhatIsNeverAnswered(t *testing.T) {
	t.Parallel()
	if testing.Short() {
		t.Skip("waits five seconds for answers that do not come")
	}
	end := make(chan struct{})
	server := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { <-end }))
	defer server.Close()
	defer close(end)
	found, err := loadgen.Run(t.Context(), plan(server))
	if err != nil {
		t.Fatal(err)
	}
	if found.Unanswered != 500 || found.Answered != 0 || found.P50 < 5*time.Second {
		t.Errorf("%+v: want 500 requests that wait for more than five seconds", found)
	}
}

func TestRunEndsWithItsContext(t *testing.T) {
	t.Parallel()
	asked := make(chan struct{}, 1000)
	server := serve(t, func(http.ResponseWriter, *http.Request) { asked <- struct{}{} })
	ctx, cancel := context.WithCancel(t.Context())
	go func() {
		<-asked
		cancel()
	}()
	p := plan(server)
	p.For = time.Minute
	if _, err := loadgen.Run(ctx, p); !errors.Is(err, context.Canceled) {
		t.Errorf("got %v, want that it was cancelled", err)
	}
}

func TestRunFailsWithItsServer(t *testing.T) {
	t.Parallel()
	refuses := serve(t, func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusTeapot) })
	closes := serve(t, func(w http.ResponseWriter, _ *http.Request) {
		connection, _, err := http.NewResponseController(w).Hijack()
		if err == nil {
			_ = connection.Close()
		}
	})
	for want, server := range map[string]*httptest.Server{"418": refuses, "closed a connection": closes} {
		if _, err := loadgen.Run(t.Context(), plan(server)); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("got %v, want %q", err, want)
		}
	}
	listener, err := new(net.ListenConfig).Listen(t.Context(), "tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	nobody := plan(refuses)
	nobody.Addresses = []string{listener.Addr().String()}
	_ = listener.Close()
	if _, err := loadgen.Run(t.Context(), nobody); err == nil || !strings.Contains(err.Error(), nobody.Addresses[0]) {
		t.Errorf("nobody listens: %v", err)
	}
}
