package httpapi_test

import (
	"io"
	"net"
	"net/http"
	"strings"
	"testing"

	"larder.local/internal/testkit/apitest"
)

// Both paths enforce the connection limit of an address. Other addresses can connect, a closed
// connection frees its place, and a trusted proxy has no limit.
func TestConnectionsOfAnAddressAreLimited(t *testing.T) {
	t.Parallel()
	const limit, greedy, other, proxy = 3, "127.0.0.1", "127.0.0.2", "127.0.0.3"
	head := "HEAD" + rawGet(apitest.MenuPath)[3:]
	for name, on := range map[string]bool{"with the fast path": true, "without": false} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := newFixture(t, onPort0, func(p *apitest.Plan) {
				p.HTTP.MaxConnections, p.HTTP.MaxConnectionsPerAddress = 4*limit, limit
				p.HTTP.FastPath, p.HTTP.TrustedProxies = &on, []string{proxy}
			})
			stop := run(w)
			shows := func(line string) bool {
				return strings.Contains(string(apitest.Do(t, http.MethodGet, "http://"+w.Server.OpsAddr()+"/metrics", "").Body), "\n"+line+"\n")
			}
			in := make([]net.Conn, limit)
			for i := range in {
				in[i] = dialFrom(w, net.ParseIP(greedy))
				exchange(t, in[i], head)
			}
			if !on { // net/http has it, whatever the setting
				exchange(t, in[0], rawGet("/livez"))
			}
			for range 2 * limit { // more connections than places: none is lost
				refused := dialFrom(w, net.ParseIP(greedy))
				if got, err := io.ReadAll(refused); len(got) > 0 || timedOut(err) {
					t.Errorf("one too many of an address is open, with %q", got)
				}
			}
			if !shows("larder_http_connections_refused_total 6") || !shows("larder_http_connections 3") {
				t.Error("the metrics do not show six refused and three open")
			}
			exchange(t, dialFrom(w, net.ParseIP(other)), head)
			for range 2 * limit {
				exchange(t, dialFrom(w, net.ParseIP(proxy)), head)
			}
			for _, conn := range in {
				exchange(t, conn, head)
			}
			_ = in[0].Close()
			reaches(t, "the place of one that left is free", func() bool {
				conn := dialFrom(w, net.ParseIP(greedy))
				defer func() { _ = conn.Close() }()
				_, err := io.WriteString(conn, head)
				n, readErr := conn.Read(make([]byte, 1))
				return err == nil && readErr == nil && n == 1
			})
			if err := stop(); err != nil {
				t.Error(err)
			}
		})
	}
}

func timedOut(err error) bool {
	timeout, ok := err.(net.Error) //nolint:errorlint // as the connection gives it
	return ok && timeout.Timeout()
}
