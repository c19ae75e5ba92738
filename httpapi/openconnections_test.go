package httpapi_test

import (
	"io"
	"net"
	"net/http"
	"strings"
	"testing"
	"time"

	logtest "github.com/sirupsen/logrus/hooks/test"

	"larder.local/httpapi"
	"larder.local/internal/testkit/apitest"
)

// dial opens a connection to the running server.
func dial(w *apitest.Fixture) net.Conn {
	w.T.Helper()
	return dialFrom(w, nil)
}

// dialFrom is dial from one of the machine's own addresses; on Linux, all addresses that begin with
// 127 work. nil means any.
func dialFrom(w *apitest.Fixture, own net.IP) net.Conn {
	w.T.Helper()
	var dialer net.Dialer
	if own != nil {
		dialer.LocalAddr = &net.TCPAddr{IP: own}
	}
	conn, err := dialer.DialContext(w.T.Context(), "tcp", w.Server.Addr())
	if err != nil {
		w.T.Fatal(err)
	}
	w.T.Cleanup(func() { _ = conn.Close() })
	if err := conn.SetDeadline(time.Now().Add(20 * time.Second)); err != nil {
		w.T.Fatal(err)
	}
	return conn
}

// exchange sends a request on an open connection and reads its small response.
func exchange(t *testing.T, conn net.Conn, request string) {
	t.Helper()
	if _, err := io.WriteString(conn, request); err != nil {
		t.Fatal(err)
	}
	if got := receive(t, conn); !strings.HasPrefix(got, "HTTP/1.1 200 ") {
		t.Fatalf("got %q", got)
	}
}

func receive(t *testing.T, conn net.Conn) string {
	t.Helper()
	got := make([]byte, 4096)
	n, err := conn.Read(got)
	if err != nil {
		t.Fatal(err)
	}
	return string(got[:n])
}

// logged counts the log lines with that event.
func logged(w *apitest.Fixture, name string) int {
	n := 0
	for _, entry := range w.Logs.AllEntries() {
		if entry.Data["event"] == name {
			n++
		}
	}
	return n
}

// reaches waits until a condition is true.
func reaches(t *testing.T, what string, so func() bool) {
	t.Helper()
	tick := time.NewTicker(time.Millisecond)
	defer tick.Stop()
	for limit := time.Now().Add(time.Minute); !so(); <-tick.C {
		if time.Now().After(limit) {
			t.Fatalf("it never came to this: %s", what)
		}
	}
}

// At the limit, new connections wait until a place is free, on either path. Open connections
// continue, ops routes stay reachable, and one line is logged.
func TestConnectionsAreLimited(t *testing.T) {
	t.Parallel()
	const limit = 20 // so that a tenth of it is more than one
	head := "HEAD" + rawGet(apitest.MenuPath)[3:]
	for name, on := range map[string]bool{"with the fast path": true, "without": false} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := newFixture(t, onPort0, func(p *apitest.Plan) { p.HTTP.MaxConnections, p.HTTP.FastPath = limit, &on })
			stop := run(w)
			shows := func(line string) bool {
				return strings.Contains(string(apitest.Do(t, http.MethodGet, "http://"+w.Server.OpsAddr()+"/metrics", "").Body), "\n"+line+"\n")
			}
			in := make([]net.Conn, limit)
			for i := range in {
				in[i] = dial(w)
				exchange(t, in[i], head)
			}
			if !on { // net/http has it, whatever the setting
				exchange(t, in[0], rawGet("/livez"))
			}
			reaches(t, "the log says that all places are taken", func() bool { return logged(w, "http.connection_limit") == 1 })
			late := []net.Conn{dial(w), dial(w)}
			for _, conn := range late {
				if _, err := io.WriteString(conn, head); err != nil {
					t.Fatal(err)
				}
			}
			for range 5 {
				for _, conn := range in {
					exchange(t, conn, head)
				}
			}
			if !shows("larder_http_connections 20") || !shows("larder_http_connections_limit 20") || !shows("larder_http_connections_full_total 1") {
				t.Error("the metrics do not show twenty connections of twenty")
			}
			_ = late[0].SetReadDeadline(time.Now().Add(50 * time.Millisecond)) //testwaits:allow the test expects no response
			if n, err := late[0].Read(make([]byte, 1)); err == nil {
				t.Errorf("one too many is answered with %d bytes", n)
			}
			for i, conn := range late {
				_ = conn.SetDeadline(time.Now().Add(20 * time.Second))
				_ = in[i].Close()
				if got := receive(t, conn); !strings.HasPrefix(got, "HTTP/1.1 200 ") {
					t.Errorf("who waited got %q", got)
				}
			}
			for _, conn := range append(late, in...) {
				_ = conn.Close()
			}
			reaches(t, "the log says that there is room", func() bool { return logged(w, "http.connections_available") == 1 })
			reaches(t, "no connection is counted", func() bool { return shows("larder_http_connections 0") })
			if n := logged(w, "http.connection_limit"); n != 1 {
				t.Errorf("logged %d times that all places are taken, want once", n)
			}
			if err := stop(); err != nil {
				t.Error(err)
			}
		})
	}
}

// An instance whose places are all taken still stops.
func TestAFullServerStops(t *testing.T) {
	t.Parallel()
	for _, on := range []bool{true, false} {
		w := newFixture(t, onPort0, func(p *apitest.Plan) { p.HTTP.MaxConnections, p.HTTP.FastPath = 1, &on })
		stop := run(w)
		conn := dial(w)
		exchange(t, conn, rawGet("/livez"))
		reaches(t, "all places are taken", func() bool { return logged(w, "http.connection_limit") == 1 })
		waits := dial(w)
		if err := stop(); err != nil {
			t.Error(err)
		}
		_ = conn.Close()
		_ = waits.Close()
	}
}

// Without http.max_connections there is no limit. A low limit of open files reduces the places.
func TestPlacesForConnections(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ limit, files, want, logged int }{
		{0, 1024, 0, 0}, {100, 1024, 100, 0}, {25_000, 1024, 896, 1}, {25_000, 0, 25_000, 0}, {10, 1, 1, 1},
	} {
		log, hook := logtest.NewNullLogger()
		if got := httpapi.PlacesFor(c.limit, c.files, log); got != c.want || len(hook.AllEntries()) != c.logged {
			t.Errorf("max_connections %d with %d files: %d places, logged %d times; want %d and %d", c.limit, c.files, got, len(hook.AllEntries()), c.want, c.logged)
		}
	}
}
