package httpapi_test

import (
	"bytes"
	"encoding/json"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"testing"
	"time"

	"golang.org/x/sync/errgroup"

	"larder.local/internal/testkit/apitest"
)

// again is a connection in memory that delivers the same request b.N times.
type again struct {
	wire
	b       *testing.B
	request []byte
	last    []byte
	wrote   int
}

func (a *again) Read(into []byte) (int, error) {
	if !a.b.Loop() {
		return 0, io.EOF
	}
	return copy(into, a.request), nil
}

func (a *again) Write(from []byte) (int, error) {
	a.wrote++
	a.last = from
	return len(from), nil
}

// once is a listener with one connection.
type once struct {
	*wires
	conn chan net.Conn
}

func (o *once) Accept() (net.Conn, error) {
	select {
	case c := <-o.conn:
		return c, nil
	case <-o.closed:
		return nil, net.ErrClosed
	}
}

// tokenOf is token for a fixture without a listener.
func tokenOf(w *apitest.Fixture, client string) string {
	w.TB.Helper()
	form := url.Values{"client_id": {client}, "client_secret": {apitest.Secret(client)}, "grant_type": {"client_credentials"}}
	request := httptest.NewRequestWithContext(w.TB.Context(), http.MethodPost, "/connect/token", strings.NewReader(form.Encode()))
	request.Header.Set("Content-Type", apitest.FormMedia)
	recorder := httptest.NewRecorder()
	w.Server.Handler().ServeHTTP(recorder, request)
	var answer struct {
		AccessToken string `json:"access_token"`
	}
	if err := json.Unmarshal(recorder.Body.Bytes(), &answer); err != nil || answer.AccessToken == "" {
		w.TB.Fatalf("token of %s: %d %s", client, recorder.Code, recorder.Body)
	}
	return answer.AccessToken
}

// BenchmarkFastPath measures the fast path without system calls: it parses a request, finds the
// response, writes it and counts it.
func BenchmarkFastPath(b *testing.B) {
	w := newFixtureFor(b, func(p *apitest.Plan) { p.HTTP.CORSOrigins = []string{"https://shop.example"} })
	w.SyncOnce("@main")
	token := "Authorization: Bearer " + tokenOf(w, apitest.ClientShop)
	warm := newBothPaths(b, w)
	for _, path := range []string{apitest.ViewPath, apitest.MenuPath, productPath} {
		warm.plain.ask(b, []byte(rawGet(path, token, "Accept-Encoding: gzip")), 1<<20)
	}
	gzip := "Accept-Encoding: gzip"
	for name, request := range map[string]string{
		"304":             rawGet(apitest.MenuPath, gzip, "If-None-Match: *"),
		"product":         rawGet(productPath, gzip),
		"product-browser": rawGet(productPath, gzip, browser),
		"menu":            rawGet(apitest.MenuPath, "Accept-Encoding: gzip, deflate, br, zstd"),
		"origin":          rawGet(apitest.MenuPath, gzip, "Origin: https://shop.example"),
		"view":            rawGet(apitest.ViewPath, gzip, token),
	} {
		b.Run(name, func(b *testing.B) {
			b.ReportAllocs()
			conn := &again{wire: wire{end: make(chan struct{})}, b: b, request: []byte(request)}
			listener := &once{wires: newWires(), conn: make(chan net.Conn, 1)}
			listener.conn <- conn
			fastPath := w.Server.FastPath(listener)
			var group errgroup.Group
			group.Go(func() error { return fastPath.Run(b.Context()) })
			limit := time.NewTimer(time.Minute)
			defer limit.Stop()
			select {
			case <-conn.end:
			case <-limit.C:
				b.Fatal("no end")
			}
			b.StopTimer()
			if err := fastPath.Close(); err != nil {
				b.Error(err)
			}
			if err := group.Wait(); err != nil {
				b.Error(err)
			}
			if conn.wrote < b.N || !bytes.HasPrefix(conn.last, []byte("HTTP/1.1 ")) {
				b.Errorf("%d answers to %d requests, the last %q", conn.wrote, b.N, conn.last)
			}
		})
	}
}
