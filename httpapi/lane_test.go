package httpapi_test

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"runtime"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"golang.org/x/sync/errgroup"
	"pgregory.net/rapid"

	"larder/httpapi"
)

// Requests put together from parts that matter, in any order and number, cut
// anywhere, are answered alike by both lanes.
func TestGeneratedRequestsAreAnsweredAlike(t *testing.T) {
	t.Parallel()
	w := newWorld(t, func(p *plan) { p.cfg.CORSOrigins = []string{"*"} })
	w.pull("@main")
	l := newLanes(t, w)
	token := "Authorization: " + w.as(clientShop)[1]
	streams := streamsOf(token)
	rapid.Check(t, func(r *rapid.T) {
		text := streams.Draw(r, "stream")
		cut := rapid.IntRange(0, len(text)/4).Draw(r, "cut")
		l.same(t, []byte(text[:len(text)-cut]), rapid.IntRange(1, 200).Draw(r, "chunk"))
	})
}

// Sixty-four connections that read without pause while versions are swapped get
// whole bodies, each of the version that its tag names.
func TestSwapsUnderSixtyFourConnections(t *testing.T) {
	t.Parallel()
	const connections, publishes = 64, 40
	w := newWorld(t, func(p *plan) { p.unsynced = true })
	w.service.setMenu(bistro, edition(1))
	w.pull(bistro)
	var done atomic.Bool
	var reads atomic.Int64
	var group errgroup.Group
	for n := range connections {
		path := []string{menuPath, "/v1/restaurants/bistro/products/d3"}[n%2]
		transport := &http.Transport{MaxConnsPerHost: 1, DisableCompression: n%4 < 2} // the others ask for gzip, and unpack it
		t.Cleanup(transport.CloseIdleConnections)
		r := &reader{client: &http.Client{Transport: transport}, address: w.url + path}
		group.Go(func() error {
			for !done.Load() {
				if err := r.readTagged(t.Context()); err != nil {
					return err
				}
				reads.Add(1)
			}
			return nil
		})
	}
	for n := 2; n <= publishes; n++ {
		before := reads.Load()
		w.service.setMenu(bistro, edition(n))
		w.pull(bistro)
		for limit := time.Now().Add(10 * time.Second); reads.Load() < before+connections; runtime.Gosched() {
			if time.Now().After(limit) {
				t.Fatalf("%d reads since the last version", reads.Load()-before)
			}
		}
	}
	done.Store(true)
	if err := group.Wait(); err != nil {
		t.Error(err)
	}
}

// readTagged is read that also holds the body against its tag.
func (r *reader) readTagged(ctx context.Context) error {
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, r.address, http.NoBody)
	if err != nil {
		return err
	}
	response, err := r.client.Do(request)
	if err != nil {
		return err
	}
	defer func() { _ = response.Body.Close() }()
	body, err := io.ReadAll(response.Body)
	if err != nil {
		return err
	}
	sum := sha256.Sum256(body)
	var version int64
	if _, err := fmt.Sscan(response.Header.Get("Larder-Menu-Version"), &version); err != nil || version < r.last {
		return fmt.Errorf("%s: version %q after %d: %w", r.address, response.Header.Get("Larder-Menu-Version"), r.last, err)
	}
	r.last = version
	if want := fmt.Sprintf(`W/"%d-%s"`, version, hex.EncodeToString(sum[:4])); response.Header.Get("Etag") != want {
		return fmt.Errorf("%s: a body of the tag %s came with %s", r.address, want, response.Header.Get("Etag"))
	}
	return nil
}

// What the log and the metrics tell of a request is the same on both lanes.
func TestLanesAreToldOfAlike(t *testing.T) {
	t.Parallel()
	told := func(express bool) string {
		w := newWorld(t, func(p *plan) { p.cfg.AccessLog = httpapi.LogAll })
		w.pull("@main")
		token := "Authorization: " + w.as(clientShop)[1]
		l := newLanes(t, w)
		for _, path := range []string{viewPath, menuPath, productPath} {
			l.plain.ask(t, []byte(rawGet(path, token)), 1<<20)
		}
		w.logs.Reset()
		through := l.plain
		if express {
			through = l.express
		}
		for _, request := range []string{
			rawGet(menuPath), rawGet(menuPath, token), rawGet(productPath), rawGet(viewPath, token), rawGet(viewPath+"/?restaurantId=bistro", token),
			"HEAD" + rawGet(menuPath)[3:], rawGet(menuPath, "If-None-Match: *"), rawGet(menuPath, "X-Request-Id: mine"),
		} {
			through.ask(t, []byte(request), 1<<20)
		}
		if fell := l.fell.Load(); fell > 1 || !express && fell > 0 {
			t.Errorf("%d requests got through the lane", fell)
		}
		var lines []string
		for _, entry := range w.logs.AllEntries() {
			fields := []string{entry.Message, entry.Level.String()}
			for _, name := range []string{"event", "requestId", "method", "route", "path", "status", "bytes", "client", "cause"} {
				fields = append(fields, name+"="+leveled(fmt.Sprint(entry.Data[name])))
			}
			if took, timed := entry.Data["ms"].(float64); !timed || took < 0 {
				fields = append(fields, "without a time")
			}
			lines = append(lines, strings.Join(fields, " "))
		}
		for line := range strings.SplitSeq(string(w.get("/metrics").body), "\n") {
			if strings.HasPrefix(line, "larder_http_requests_total") || strings.HasPrefix(line, "larder_http_request_duration_seconds_count") {
				lines = append(lines, line)
			}
		}
		return strings.Join(lines, "\n")
	}
	if plain, express := told(false), told(true); plain != express || strings.Count(plain, "event=http.request") != 8 {
		t.Errorf("of net/http alone is told\n%s\nand of the express lane\n%s", plain, express)
	}
}

// A token that was read before is good in the lane for as long as it is good.
func TestTheLaneForgetsTokens(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.pull("@main")
	request := []byte(rawGet(viewPath, "Authorization: "+w.as(clientShop)[1]))
	l := newLanes(t, w)
	if _, fell := l.same(t, request, 1<<20); fell != 0 {
		t.Error("a token that was read before is not known")
	}
	w.ahead(2 * time.Hour)
	if got, fell := l.same(t, request, 1<<20); fell != 1 || statusOf(got) != "401" {
		t.Errorf("an expired token got %s, with %d requests to net/http", statusOf(got), fell)
	}
}

func TestTheLaneKnowsWhatIsClosed(t *testing.T) {
	t.Parallel()
	w := newWorld(t, func(p *plan) { p.auth.OpenMenu = new(false) })
	l := newLanes(t, w)
	for range 2 {
		if got, fell := l.same(t, []byte(rawGet(menuPath)), 1<<20); fell != 1 || statusOf(got) != "401" {
			t.Errorf("a closed menu got %s, with %d requests to net/http", statusOf(got), fell)
		}
	}
	token := []byte(rawGet(menuPath, "Authorization: "+w.as(clientRead)[1]))
	got, fell := l.same(t, token, 1<<20)
	if fell != 0 || !strings.Contains(got, "\r\nCache-Control: private, no-cache\r\n") || !strings.Contains(got, "\r\nVary: Authorization\r\n") {
		t.Errorf("with a token: %d requests to net/http, %.400s", fell, got)
	}
}

func TestTheLaneCanBeTurnedOff(t *testing.T) {
	t.Parallel()
	for _, on := range []bool{true, false} {
		w := newWorld(t, onPort0, func(p *plan) { p.cfg.ExpressLane = &on })
		stop := w.running()
		var dialer net.Dialer
		conn, err := dialer.DialContext(t.Context(), "tcp", w.server.Addr())
		if err != nil {
			t.Fatal(err)
		}
		if _, err := io.WriteString(conn, rawGet(menuPath)+rawGet("/livez", "Connection: close")); err != nil {
			t.Fatal(err)
		}
		got, err := io.ReadAll(conn)
		if err != nil || strings.Count(string(got), "HTTP/1.1 200 OK\r\n") != 2 {
			t.Errorf("express_lane %v: got %.300q, %v", on, got, err)
		}
		_ = conn.Close()
		if err := stop(); err != nil {
			t.Error(err)
		}
	}
}

// Where TLS is spoken behind the lane it gives every connection away at its
// first byte, and h2 works.
func TestTLSPassesTheLane(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	behind := httptest.NewUnstartedServer(w.server.Handler())
	lane := w.server.Express(behind.Listener)
	behind.Listener = lane
	behind.EnableHTTP2 = true
	var group errgroup.Group
	group.Go(func() error { return lane.Run(context.WithoutCancel(t.Context())) })
	behind.StartTLS()
	t.Cleanup(func() {
		behind.Close()
		if err := group.Wait(); err != nil {
			t.Error(err)
		}
	})
	for range 3 {
		request, err := http.NewRequestWithContext(t.Context(), http.MethodGet, behind.URL+menuPath, http.NoBody)
		if err != nil {
			t.Fatal(err)
		}
		response, err := behind.Client().Do(request)
		if err != nil {
			t.Fatal(err)
		}
		_, err = io.Copy(io.Discard, response.Body)
		_ = response.Body.Close()
		if err != nil || response.ProtoMajor != 2 || response.StatusCode != http.StatusOK {
			t.Errorf("%s %d, %v", response.Proto, response.StatusCode, err)
		}
	}
}

// Answering takes nothing from the heap.
func TestTheLaneAllocatesNothing(t *testing.T) { //nolint:paralleltest // counts what the process allocates
	w := newWorld(t, func(p *plan) { p.cfg.AccessLog = httpapi.LogErrors }) // a line in the log is worth many
	w.pull("@main")
	token := "Authorization: " + w.as(clientShop)[1]
	l := newLanes(t, w)
	gzip := "Accept-Encoding: gzip, deflate, br, zstd"
	for name, request := range map[string]string{
		"menu": rawGet(menuPath, gzip), "product": rawGet(productPath, gzip, browser), "view": rawGet(viewPath, gzip, token),
		"304": rawGet(menuPath, gzip, "If-None-Match: *"), "HEAD": "HEAD" + rawGet(menuPath, gzip, "X-Request-Id: x")[3:],
		"since": rawGet(menuPath, "If-Modified-Since: Fri, 01 Jan 2100 00:00:00 GMT"),
	} {
		const requests = 2000
		l.plain.ask(t, []byte(request), 1<<20) // makes it ready
		stream := []byte(strings.Repeat(request, requests))
		l.express.ask(t, stream[:len(request)*10], 4096)
		wire := newWire(stream, 4096)
		wire.answered.Grow(requests * 16 << 10)
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		l.express.queue <- wire
		<-wire.end
		runtime.ReadMemStats(&after)
		// The process may allocate otherwise, and the race detector lets go of half of what is pooled.
		if took := after.Mallocs - before.Mallocs; took >= requests {
			t.Errorf("%s: %d requests took %d allocations", name, requests, took)
		}
	}
	if fell := l.fell.Load(); fell != 0 {
		t.Errorf("%d requests got through the lane", fell)
	}
}
