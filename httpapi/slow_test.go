package httpapi_test

import (
	"io"
	"net"
	"strings"
	"testing"
	"time"

	"larder.local/internal/testkit/apitest"
)

// A client that sends single bytes cannot keep a connection open: a request must arrive within 10 s
// (policy H1).
func TestSlowRequestsAreCut(t *testing.T) {
	t.Parallel()
	w := newFixture(t, onPort0)
	stop := run(w)
	t.Cleanup(func() {
		if err := stop(); err != nil {
			t.Error(err)
		}
	})
	for name, c := range map[string]struct{ sent, answer string }{
		"a header that does not end": {"GET /livez HTTP/1.1\r\nHost: larder\r\nX-Slow: ", ""},
		"a body that does not come":  {"POST " + apitest.ValidatePath + " HTTP/1.1\r\nHost: larder\r\nContent-Type: application/json\r\nContent-Length: 90\r\n\r\n{", "HTTP/1.1 408 "},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			var dialer net.Dialer
			conn, err := dialer.DialContext(t.Context(), "tcp", w.Server.Addr())
			if err != nil {
				t.Fatal(err)
			}
			defer func() { _ = conn.Close() }()
			begun := time.Now()
			if _, err := io.WriteString(conn, c.sent); err != nil {
				t.Fatal(err)
			}
			if err := conn.SetReadDeadline(begun.Add(20 * time.Second)); err != nil {
				t.Fatal(err)
			}
			got, err := io.ReadAll(conn)
			if err != nil {
				t.Fatalf("still open after %v: %v", time.Since(begun), err)
			}
			if took := time.Since(begun); took < 9*time.Second || took > 15*time.Second {
				t.Errorf("cut after %v, want about 10 s", took)
			}
			if !strings.HasPrefix(string(got), c.answer) {
				t.Errorf("answered %q, want %q", got, c.answer)
			}
			if c.answer != "" && !strings.Contains(string(got), `"code":"request_timeout"`) {
				t.Errorf("answered %q, want request_timeout", got)
			}
		})
	}
}

// Clients that take every place without making progress lose the places after the timeout, on
// either path. Then waiting clients are answered.
func TestSlowClientsLoseTheirPlaces(t *testing.T) {
	t.Parallel()
	held := []string{
		"",                                      // no bytes
		rawGet(apitest.MenuPath)[:20],           // half a request header
		"POST " + apitest.OrdersPath + " HTTP/", // half a request header that the fast path does not answer
		"POST " + apitest.ValidatePath + " HTTP/1.1\r\nHost: l\r\nContent-Type: application/json\r\nContent-Length: 90\r\n\r\n{",
	}
	for name, on := range map[string]bool{"with the fast path": true, "without": false} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := newFixture(t, onPort0, func(p *apitest.Plan) { p.HTTP.MaxConnections, p.HTTP.FastPath = len(held), &on })
			stop := run(w)
			for _, sent := range held {
				if _, err := io.WriteString(dial(w), sent); err != nil {
					t.Fatal(err)
				}
			}
			reaches(t, "all places are taken", func() bool { return logged(w, "http.connection_limit") == 1 })
			begun := time.Now()
			for range held { // each place is released
				waits := dial(w)
				if err := waits.SetDeadline(begun.Add(40 * time.Second)); err != nil {
					t.Fatal(err)
				}
				exchange(t, waits, "HEAD"+rawGet(apitest.MenuPath)[3:])
			}
			if took := time.Since(begun); took < 5*time.Second {
				t.Errorf("answered after %v: the places were not taken", took)
			}
			if err := stop(); err != nil {
				t.Error(err)
			}
		})
	}
}
