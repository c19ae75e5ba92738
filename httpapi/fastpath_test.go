package httpapi_test

import (
	"context"
	"crypto/tls"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"golang.org/x/sync/errgroup"
	"pgregory.net/rapid"

	"larder.local/httpapi"
	"larder.local/internal/testkit/apitest"
)

// Both paths answer the same to requests that are built from critical parts in any order and
// number, and split anywhere.
func TestGeneratedRequestsAreAnsweredAlike(t *testing.T) {
	t.Parallel()
	w := newFixture(t, func(p *apitest.Plan) { p.HTTP.CORSOrigins = []string{"*"} })
	w.SyncOnce("@main")
	l := newBothPaths(t, w)
	token := "Authorization: " + w.As(apitest.ClientShop)[1]
	streams := streamsOf(token)
	rapid.Check(t, func(r *rapid.T) {
		text := streams.Draw(r, "stream")
		cut := rapid.IntRange(0, len(text)/4).Draw(r, "cut")
		l.same(t, []byte(text[:len(text)-cut]), rapid.IntRange(1, 200).Draw(r, "chunk"))
	})
}

// The log and the metrics contain the same for a request on either path.
func TestBothPathsAreLoggedAlike(t *testing.T) {
	t.Parallel()
	logged := func(fast bool) string {
		w := newFixture(t, func(p *apitest.Plan) { p.HTTP.AccessLog = httpapi.LogAll })
		w.SyncOnce("@main")
		token := "Authorization: " + w.As(apitest.ClientShop)[1]
		l := newBothPaths(t, w)
		for _, path := range []string{apitest.ViewPath, apitest.MenuPath, productPath} {
			l.plain.ask(t, []byte(rawGet(path, token)), 1<<20)
		}
		w.Logs.Reset()
		through := l.plain
		if fast {
			through = l.fast
		}
		for _, request := range []string{
			rawGet(apitest.MenuPath), rawGet(apitest.MenuPath, token), rawGet(productPath), rawGet(apitest.ViewPath, token), rawGet(apitest.ViewPath+"/?restaurantId=bistro", token),
			"HEAD" + rawGet(apitest.MenuPath)[3:], rawGet(apitest.MenuPath, "If-None-Match: *"), rawGet(apitest.MenuPath, "X-Request-Id: mine"),
		} {
			through.ask(t, []byte(request), 1<<20)
		}
		if fell := l.fell.Load(); fell > 1 || !fast && fell > 0 {
			t.Errorf("%d requests reached net/http", fell)
		}
		var lines []string
		for _, entry := range w.Logs.AllEntries() {
			fields := []string{entry.Message, entry.Level.String()}
			for _, name := range []string{"event", "requestId", "method", "route", "path", "status", "bytes", "client", "cause"} {
				fields = append(fields, name+"="+leveled(fmt.Sprint(entry.Data[name])))
			}
			if took, timed := entry.Data["ms"].(float64); !timed || took < 0 {
				fields = append(fields, "without a time")
			}
			lines = append(lines, strings.Join(fields, " "))
		}
		for line := range strings.SplitSeq(string(w.Get("/metrics").Body), "\n") {
			if strings.HasPrefix(line, "larder_http_requests_total") || strings.HasPrefix(line, "larder_http_request_duration_seconds_count") {
				lines = append(lines, line)
			}
		}
		return strings.Join(lines, "\n")
	}
	if plain, fast := logged(false), logged(true); plain != fast || strings.Count(plain, "event=http.request") != 8 {
		t.Errorf("net/http alone logged\n%s\nand the fast path\n%s", plain, fast)
	}
}

// A cached token is valid on the fast path until it expires.
func TestFastPathRejectsExpiredTokens(t *testing.T) {
	t.Parallel()
	w := newFixture(t)
	w.SyncOnce("@main")
	request := []byte(rawGet(apitest.ViewPath, "Authorization: "+w.As(apitest.ClientShop)[1]))
	l := newBothPaths(t, w)
	if _, fell := l.same(t, request, 1<<20); fell != 0 {
		t.Error("a token that was read before is not known")
	}
	w.Ahead(2 * time.Hour)
	if got, fell := l.same(t, request, 1<<20); fell != 1 || statusOf(got) != "401" {
		t.Errorf("an expired token got %s, with %d requests to net/http", statusOf(got), fell)
	}
}

func TestFastPathAndClosedMenus(t *testing.T) {
	t.Parallel()
	w := newFixture(t, func(p *apitest.Plan) { p.Auth.OpenMenu = new(false) })
	l := newBothPaths(t, w)
	for range 2 {
		if got, fell := l.same(t, []byte(rawGet(apitest.MenuPath)), 1<<20); fell != 1 || statusOf(got) != "401" {
			t.Errorf("a closed menu got %s, with %d requests to net/http", statusOf(got), fell)
		}
	}
	token := []byte(rawGet(apitest.MenuPath, "Authorization: "+w.As(apitest.ClientRead)[1]))
	got, fell := l.same(t, token, 1<<20)
	if fell != 0 || !strings.Contains(got, "\r\nCache-Control: private, no-cache\r\n") || !strings.Contains(got, "\r\nVary: Authorization\r\n") {
		t.Errorf("with a token: %d requests to net/http, %.400s", fell, got)
	}
}

func TestFastPathCanBeTurnedOff(t *testing.T) {
	t.Parallel()
	for _, on := range []bool{true, false} {
		w := newFixture(t, onPort0, func(p *apitest.Plan) { p.HTTP.FastPath = &on })
		stop := run(w)
		var dialer net.Dialer
		conn, err := dialer.DialContext(t.Context(), "tcp", w.Server.Addr())
		if err != nil {
			t.Fatal(err)
		}
		if _, err := io.WriteString(conn, rawGet(apitest.MenuPath)+rawGet("/livez", "Connection: close")); err != nil {
			t.Fatal(err)
		}
		got, err := io.ReadAll(conn)
		if err != nil || strings.Count(string(got), "HTTP/1.1 200 OK\r\n") != 2 {
			t.Errorf("fast_path %v: got %.300q, %v", on, got, err)
		}
		_ = conn.Close()
		if err := stop(); err != nil {
			t.Error(err)
		}
	}
}

// TLS behind the fast path: the fast path hands off every connection at its first byte, and h2 and
// HTTP/1.1 work as usual.
func TestTLSBehindTheFastPath(t *testing.T) {
	t.Parallel()
	for name, major := range map[string]int{"h2": 2, "http/1.1": 1} {
		w := newFixture(t)
		behind := httptest.NewUnstartedServer(w.Server.Handler())
		fastPath := w.Server.FastPath(behind.Listener)
		behind.Listener = fastPath
		behind.EnableHTTP2 = major == 2
		var group errgroup.Group
		group.Go(func() error { return fastPath.Run(context.WithoutCancel(t.Context())) })
		behind.StartTLS()
		t.Cleanup(func() {
			behind.Close()
			if err := group.Wait(); err != nil {
				t.Error(err)
			}
		})
		var readers errgroup.Group
		for range 8 { // one connection can have several streams
			readers.Go(func() error {
				for _, path := range []string{apitest.MenuPath, productPath, "/livez"} {
					request, err := http.NewRequestWithContext(t.Context(), http.MethodGet, behind.URL+path, http.NoBody)
					if err != nil {
						return err
					}
					response, err := behind.Client().Do(request)
					if err != nil {
						return err
					}
					_, err = io.Copy(io.Discard, response.Body)
					_ = response.Body.Close()
					if err != nil || response.ProtoMajor != major || response.StatusCode != http.StatusOK || response.TLS == nil {
						return fmt.Errorf("%s: %s %d: %w", path, response.Proto, response.StatusCode, err)
					}
				}
				return nil
			})
		}
		if err := readers.Wait(); err != nil {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// TLS in front of the fast path: both paths answer the decrypted requests.
func TestTLSInFrontOfTheFastPath(t *testing.T) {
	t.Parallel()
	w := newFixture(t)
	certified := httptest.NewTLSServer(http.NotFoundHandler()) // its certificate is used
	t.Cleanup(certified.Close)
	var fell atomic.Int64
	behind := httptest.NewUnstartedServer(http.HandlerFunc(func(rw http.ResponseWriter, r *http.Request) {
		fell.Add(1)
		w.Server.Handler().ServeHTTP(rw, r)
	}))
	fastPath := w.Server.FastPath(tls.NewListener(behind.Listener, &tls.Config{MinVersion: tls.VersionTLS13, Certificates: certified.TLS.Certificates}))
	behind.Listener = fastPath
	var group errgroup.Group
	group.Go(func() error { return fastPath.Run(context.WithoutCancel(t.Context())) })
	behind.Start()
	t.Cleanup(func() {
		behind.Close()
		if err := group.Wait(); err != nil {
			t.Error(err)
		}
	})
	dialer := tls.Dialer{Config: certified.Client().Transport.(*http.Transport).TLSClientConfig} //nolint:errcheck,forcetypeassert // httptest's
	conn, err := dialer.DialContext(t.Context(), "tcp", fastPath.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = conn.Close() }()
	if _, err := io.WriteString(conn, rawGet(apitest.MenuPath)+rawGet(productPath)+rawGet("/livez", "Connection: close")); err != nil {
		t.Fatal(err)
	}
	got, err := io.ReadAll(conn)
	if err != nil || strings.Count(string(got), "HTTP/1.1 200 OK\r\n") != 3 || fell.Load() != 1 {
		t.Errorf("got %.300q with %d requests to net/http, %v", got, fell.Load(), err)
	}
}

// Both paths share one sample counter.
func TestLogSamplingOnBothPaths(t *testing.T) {
	t.Parallel()
	const requests = 150 // requests on each path
	for setting, want := range map[httpapi.AccessLog]int{httpapi.LogAll: 2 * requests, httpapi.LogSampled: 3, httpapi.LogErrors: 0} {
		w := newFixture(t, func(p *apitest.Plan) { p.HTTP.AccessLog = setting })
		l := newBothPaths(t, w)
		l.fast.ask(t, []byte(strings.Repeat(rawGet(apitest.MenuPath), requests)), 4096)
		if fell := l.fell.Load(); fell != 0 {
			t.Errorf("%d requests reached net/http", fell)
		}
		l.fast.ask(t, []byte(strings.Repeat(rawGet(apitest.MenuPath+"?"), requests)), 4096) // for net/http, because of the unusual query
		if fell := l.fell.Load(); fell != requests {
			t.Errorf("%d requests reached net/http, want %d", fell, requests)
		}
		if lines := logged(w, "http.request"); lines != want {
			t.Errorf("%s: %d lines of %d requests, want %d", setting, lines, 2*requests, want)
		}
	}
}
