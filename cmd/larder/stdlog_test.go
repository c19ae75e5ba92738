package main

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
)

// net/http writes bytes without a request to the standard log. They may contain personal data, so they are not logged.
func TestBytesWithoutARequestAreNotLogged(t *testing.T) {
	t.Parallel()
	const personal = "Jane Doe, 1 Elm Street"
	s := newService(t)
	tokens := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		token := httptest.NewRecorder()
		s.Config.Handler.ServeHTTP(token, r)
		conn, buffered, err := http.NewResponseController(w).Hijack()
		if err != nil {
			t.Error(err)
			return
		}
		defer func() { _ = conn.Close() }()
		_, _ = fmt.Fprintf(buffered, "HTTP/1.1 200 OK\r\nContent-Length: %d\r\n\r\n%s%s", token.Body.Len(), token.Body, personal)
		_ = buffered.Flush()
		_, _ = buffered.ReadByte() // until larder closes the connection
	}))
	t.Cleanup(tokens.Close)
	p := startProcess(t, append(s.env(), "LARDER_CONNECTIONS_0_AUTH_URL="+tokens.URL), "serve")
	waitReady(t, p.url(t)) // it has menus, so it has used the token
	if log := p.log.String(); strings.Contains(log, personal) || strings.Contains(log, "Unsolicited") {
		t.Errorf("the log has bytes of the service:\n%s", log)
	}
}
