package main

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"larder/internal/testkit/clitest"
)

// net/http writes bytes without a request to the standard log. They may contain personal data, so they are not logged.
func TestBytesWithoutARequestAreNotLogged(t *testing.T) {
	t.Parallel()
	const personal = "Jane Doe, 1 Elm Street"
	s := newService(t)
	sent := make(chan struct{}, 100)
	tokens := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		conn, buffered, err := http.NewResponseController(w).Hijack()
		if err != nil {
			t.Error(err)
			return
		}
		defer func() { _ = conn.Close() }()
		const token = `{"access_token":"a-long-token-of-this-test","expires_in":3600,"token_type":"Bearer"}`
		_, _ = fmt.Fprintf(buffered, "HTTP/1.1 200 OK\r\nContent-Length: %d\r\n\r\n%s%s", len(token), token, personal)
		_ = buffered.Flush()
		sent <- struct{}{}
		_, _ = buffered.ReadByte() // until larder closes the connection
	}))
	t.Cleanup(tokens.Close)
	p := startProcess(t, append(s.env(), "LARDER_CONNECTIONS_0_AUTH_URL="+tokens.URL), "serve")
	<-sent
	clitest.Eventually(t, "a sync", func() bool { return strings.Contains(p.log.String(), "sync.") })
	if log := p.log.String(); strings.Contains(log, personal) || strings.Contains(log, "Unsolicited") {
		t.Errorf("the log has bytes of the service:\n%s", log)
	}
}
