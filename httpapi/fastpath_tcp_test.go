package httpapi_test

import (
	"context"
	"errors"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"golang.org/x/sync/errgroup"
	"pgregory.net/rapid"

	"larder.local/internal/testkit/apitest"
)

// ports are both paths on real TCP: the same routes on one port with only net/http, and on one port
// with the fast path in front of it.
type ports struct {
	plain, fast string       // the addresses
	fell        atomic.Int64 // requests that the fast path passed on
}

func newPorts(t *testing.T, w *apitest.Fixture, routes http.HandlerFunc) *ports {
	t.Helper()
	p := &ports{}
	plain := httptest.NewUnstartedServer(routes)
	unstarted := httptest.NewUnstartedServer(http.HandlerFunc(func(rw http.ResponseWriter, r *http.Request) {
		p.fell.Add(1)
		routes(rw, r)
	}))
	fastPath := w.Server.FastPath(unstarted.Listener)
	unstarted.Listener = fastPath
	ctx, cut := context.WithCancel(context.WithoutCancel(t.Context()))
	var group errgroup.Group
	group.Go(func() error { return fastPath.Run(ctx) })
	for _, server := range []*httptest.Server{plain, unstarted} {
		server.Config.ReadHeaderTimeout, server.Config.MaxHeaderBytes = 10*time.Second, 16<<10
		server.Start()
		t.Cleanup(server.Close)
	}
	t.Cleanup(func() {
		cut()
		if err := group.Wait(); err != nil {
			t.Error(err)
		}
	})
	p.plain, p.fast = plain.Listener.Addr().String(), fastPath.Addr().String()
	return p
}

// exchangePieces sends each piece with its own write, closes its sending side, and returns all
// bytes that came back.
func exchangePieces(t *testing.T, address string, pieces []string) string {
	t.Helper()
	var dialer net.Dialer
	conn, err := dialer.DialContext(t.Context(), "tcp", address)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = conn.Close() }()
	if err := conn.SetDeadline(time.Now().Add(30 * time.Second)); err != nil {
		t.Fatal(err)
	}
	var answered []byte
	var group errgroup.Group
	group.Go(func() (err error) {
		answered, err = io.ReadAll(conn)
		return err
	})
	for _, piece := range pieces {
		if _, err := io.WriteString(conn, piece); err != nil {
			break // the response ended the connection
		}
	}
	if half, ok := conn.(*net.TCPConn); ok {
		_ = half.CloseWrite() // the other side may have closed it
	}
	// A reset also counts as the end, if unread bytes were left.
	if err := group.Wait(); errors.Is(err, os.ErrDeadlineExceeded) {
		t.Fatalf("no end of the answer to %q", pieces)
	}
	return string(answered)
}

// same checks that both ports return the same.
func (p *ports) same(t *testing.T, pieces []string) (answer string, fell int) {
	t.Helper()
	want := exchangePieces(t, p.plain, []string{strings.Join(pieces, "")})
	before := p.fell.Load()
	got := exchangePieces(t, p.fast, pieces)
	if leveled(got) != leveled(want) {
		t.Fatalf("the stream %q\ngot\n%q\nfrom the fast path, and from net/http\n%q", pieces, got, want)
	}
	return got, int(p.fell.Load() - before)
}

// cuts splits a text into random pieces: usually a few, sometimes many.
func cuts(r *rapid.T, text string) (pieces []string) {
	for most := rapid.SampledFrom([]int{len(text), 400, 40, 3}).Draw(r, "most"); text != ""; {
		n := min(rapid.IntRange(1, max(most, 1)).Draw(r, "piece"), len(text))
		pieces, text = append(pieces, text[:n]), text[n:]
	}
	return pieces
}

// Generated streams get the same bytes from both ports, whatever the pieces, complete or truncated.
func TestGeneratedStreamsOverTCP(t *testing.T) {
	t.Parallel()
	w := newFixture(t, func(p *apitest.Plan) { p.HTTP.CORSOrigins = []string{"*"} })
	w.SyncOnce("@main")
	p := newPorts(t, w, readsOf(w))
	token := "Authorization: " + w.As(apitest.ClientShop)[1]
	exchangePieces(t, p.plain, []string{rawGet(apitest.ViewPath, token)})
	streams := streamsOf(token)
	rapid.Check(t, func(r *rapid.T) {
		text := streams.Draw(r, "stream")
		text = text[:len(text)-rapid.IntRange(0, len(text)/4).Draw(r, "cut")]
		p.same(t, cuts(r, text))
	})
}

// streamsOf generates streams of requests from critical parts in any order and number.
func streamsOf(token string) *rapid.Generator[string] {
	methods := rapid.SampledFrom([]string{"GET", "GET", "GET", "HEAD", "POST", "get", "GETS", ""})
	paths := rapid.SampledFrom([]string{
		apitest.MenuPath, apitest.MenuPath, productPath, apitest.ViewPath, apitest.ViewPath + "/", apitest.MenuPath + "?", apitest.MenuPath + "?by=id", productPath + "?by=externalId",
		"/v1/restaurants/bistro/products/e1?by=externalId", apitest.ViewPath + "?restaurantId=bistro", apitest.ViewPath + "?restaurantId=", apitest.ViewPath + "?restaurantId==",
		"/v1/restaurants/north-1/menu", "/v1/restaurants/../menu", "/v1/restaurants/bistro/products/", "/v1/restaurants/bistro/products/p%2F2", "*", "/",
	})
	versions := rapid.SampledFrom([]string{" HTTP/1.1", " HTTP/1.1", " HTTP/1.1", " HTTP/1.0", "", " HTTP/1.1 "})
	ends := rapid.SampledFrom([]string{"\r\n", "\r\n", "\r\n", "\r\n", "\r\n", "\r\n", "\r\n", "\n", "\r", "\r\r\n"})
	fields := rapid.SampledFrom([]string{
		"Host: l", "Host: l", "Host: l", "host:l", "Host : l", "Accept-Encoding: gzip", "accept-encoding: br;q=0.5, gzip;q=0.1", "Accept-Encoding: *;q=0",
		"Accept-Encoding: zstd,", "Accept-Encoding: ", "If-None-Match: *", `If-None-Match: W/"1-0"`, "If-Modified-Since: Fri, 01 Jan 2100 00:00:00 GMT",
		"If-Modified-Since: now", "Origin: https://shop.example", "Origin: null", "X-Request-Id: abc", "Connection: keep-alive", "Connection: Keep-Alive",
		"Connection: close", "Connection: keep-alive, x", "Content-Length: 0", "Content-Length: 5", "Transfer-Encoding: chunked", "Expect: 100-continue",
		"TE: trailers", "User-Agent: x", "Cookie: a=b", " folded", "X:\x00", "X: \x7f", token, token, "Authorization: Bearer x", "Range: bytes=0-1", "X",
	})
	return rapid.Custom(func(r *rapid.T) string {
		var stream strings.Builder
		for range rapid.IntRange(1, 4).Draw(r, "requests") {
			stream.WriteString(methods.Draw(r, "method") + " " + paths.Draw(r, "path") + versions.Draw(r, "version") + ends.Draw(r, "end"))
			for range rapid.IntRange(0, 4).Draw(r, "fields") {
				stream.WriteString(fields.Draw(r, "field") + ends.Draw(r, "end"))
			}
			stream.WriteString("Host: l\r\n"[:rapid.SampledFrom([]int{9, 0}).Draw(r, "host")] + ends.Draw(r, "end"))
		}
		return stream.String()
	})
}
