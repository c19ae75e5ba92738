package httpapi_test

import (
	"crypto/tls"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"larder.local/internal/testkit/apitest"
)

// Over https, the cookie has the name that binds it to this host, and no other name is accepted.
// Only a trusted proxy may say that a request came over https.
func TestSessionsOverHTTPS(t *testing.T) {
	t.Parallel()
	const bound = "__Host-larder_ops"
	trusted := newFixture(t, func(p *apitest.Plan) { p.HTTP.TrustedProxies = []string{"127.0.0.0/8"} })
	open := newFixture(t)
	secure := httptest.NewTLSServer(open.Server.Handler())
	t.Cleanup(secure.Close)
	overTLS := func(cookie string) apitest.Reply {
		t.Helper()
		raw := &http.Transport{TLSClientConfig: &tls.Config{InsecureSkipVerify: true}}
		defer raw.CloseIdleConnections()
		request, err := http.NewRequestWithContext(t.Context(), http.MethodPost, secure.URL+apitest.SessionPath, strings.NewReader(apitest.SignInBody(apitest.ClientOps, apitest.Secret(apitest.ClientOps))))
		if err != nil {
			t.Fatal(err)
		}
		if cookie != "" {
			request, err = http.NewRequestWithContext(t.Context(), http.MethodGet, secure.URL+"/v1/ops/summary", http.NoBody)
			if err != nil {
				t.Fatal(err)
			}
			request.Header.Set("Cookie", cookie)
		}
		request.Header.Set("Content-Type", "application/json")
		response, err := raw.RoundTrip(request)
		if err != nil {
			t.Fatal(err)
		}
		defer func() { _ = response.Body.Close() }()
		return apitest.Reply{Status: response.StatusCode, Header: response.Header}
	}
	cookie := overTLS("").Is(t, http.StatusOK).Cookie(t)
	if cookie.Name != bound || !cookie.Secure || cookie.Path != "/" || cookie.Domain != "" {
		t.Errorf("over TLS: %s", cookie)
	}
	overTLS(bound+"="+cookie.Value).Is(t, http.StatusOK)
	overTLS("larder_ops="+cookie.Value).Is(t, http.StatusUnauthorized)

	for name, c := range map[string]struct {
		w     *apitest.Fixture
		proto []string
		want  string
	}{
		"a trusted proxy says https":          {trusted, []string{"https"}, bound},
		"two trusted proxies say https":       {trusted, []string{"https, https"}, bound},
		"one of two says http":                {trusted, []string{"https, http"}, "larder_ops"},
		"a trusted proxy says http":           {trusted, []string{"http"}, "larder_ops"},
		"a trusted proxy says nothing":        {trusted, nil, "larder_ops"},
		"somebody who is not trusted says so": {open, []string{"https"}, "larder_ops"},
	} {
		var headers []string
		for _, proto := range c.proto {
			headers = append(headers, "X-Forwarded-Proto", proto)
		}
		if got := c.w.Post(apitest.SessionPath, apitest.SignInBody(apitest.ClientOps, apitest.Secret(apitest.ClientOps)), headers...).Is(t, http.StatusOK).Cookie(t); got.Name != c.want || got.Secure != (c.want == bound) {
			t.Errorf("%s: %s, want %s", name, got, c.want)
		}
	}
}
