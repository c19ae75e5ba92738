package apicoverage

import (
	"bytes"
	"errors"
	"io"
	"net/http"
	"slices"
	"strings"
	"sync"
	"testing"
)

// checkedServers has the addresses (host:port) of tests with larder's own routes.
var checkedServers sync.Map //nolint:gochecknoglobals // tests run in parallel

// Watch checks the responses of an address until the test ends or unwatch is called. Then another
// server may use the address.
func Watch(tb testing.TB, address string) (unwatch func()) {
	tb.Helper()
	_ = ownFile()
	host := strings.TrimPrefix(address, "http://")
	checkedServers.Store(host, true)
	unwatch = func() { checkedServers.Delete(host) }
	tb.Cleanup(unwatch)
	return unwatch
}

// watched is a transport that checks every request and response against the API document.
type watched struct {
	tb testing.TB
	by http.RoundTripper
}

// CloseIdleConnections makes that of http.Client work.
func (w watched) CloseIdleConnections() { (&http.Client{Transport: w.by}).CloseIdleConnections() }

// Transport returns a transport that sends requests with by, and checks them and their responses.
func Transport(tb testing.TB, by http.RoundTripper) http.RoundTripper {
	tb.Helper()
	return watched{tb, by}
}

// RoundTrip implements http.RoundTripper.
func (w watched) RoundTrip(request *http.Request) (*http.Response, error) {
	_, ours := checkedServers.Load(request.URL.Host)
	if !ours {
		return w.by.RoundTrip(request)
	}
	x := httpExchange{request: request}
	if request.GetBody != nil {
		if body, err := request.GetBody(); err == nil {
			x.sent, _ = io.ReadAll(body) // from memory
		}
	} else {
		x.piped = request.Body != nil && request.Body != http.NoBody
	}
	response, err := w.by.RoundTrip(request)
	if err != nil {
		return nil, err
	}
	x.status, x.header = response.StatusCode, response.Header
	x.stream = strings.HasPrefix(response.Header.Get("Content-Type"), "text/event-stream")
	if !x.stream {
		body, err := io.ReadAll(response.Body)
		_ = response.Body.Close()
		response.Body = &readOnce{Reader: bytes.NewReader(body), end: err}
		if err != nil {
			return response, nil //nolint:nilerr // cut: the test's own business
		}
		x.body = body
	}
	document, err := Document()
	if err == nil {
		err = document.check(x)
	}
	if err != nil && !tolerated(w.tb.Name(), err) {
		w.tb.Errorf("%s %s: %v", request.Method, request.URL.RequestURI(), err)
	}
	return response, nil
}

// readOnce repeats bytes that were read before, and the error that ended that read.
type readOnce struct {
	io.Reader
	end error
}

func (r *readOnce) Read(p []byte) (int, error) {
	n, err := r.Reader.Read(p)
	if errors.Is(err, io.EOF) && r.end != nil {
		err = r.end
	}
	return n, err
}

// Close implements io.Closer.
func (*readOnce) Close() error { return nil }

// tolerated reports whether a test intentionally sends a request that the document does not allow.
func tolerated(test string, err error) bool {
	const otherwise = "the document has it otherwise"
	if !strings.Contains(err.Error(), otherwise) {
		return false
	}
	for _, name := range otherSpellings {
		if strings.HasPrefix(test, name) {
			return true
		}
	}
	return false
}

// otherSpellings are the tests of requests that are accepted although the document does not have
// them: names in other spellings, numbers in quotes, and ignored values.
var otherSpellings = []string{ //nolint:gochecknoglobals // does not change
	"TestWireShapes",
	"TestSpellingsOfClients_W3",
	"TestLostAnswersOnTheCompatibleAPI", // its fixed orders are used for any order
	"TestOrdersWithoutAKey",             // ordering.allow_missing_key
}

// OfPages reports whether a path is one of larder's pages for people, one of their files, or a file that
// browsers and search engines request. These are not part of the API.
func OfPages(path string) bool {
	for _, folder := range []string{"/web/", "/photos/", "/ops/"} {
		if strings.HasPrefix(path, folder) && path != "/ops/session" {
			return true
		}
	}
	return slices.Contains([]string{"/", "/ops", "/favicon.ico", "/robots.txt"}, path)
}
