package httpapi_test

import (
	"encoding/json"
	"net/http"
	"strings"
	"testing"
	"time"

	"larder/httpapi"
	"larder/httpapi/auth"
	"larder/internal/testkit/redistest"
)

const sessionPath = "/ops/session"

// signInBody returns the body of a sign-in.
func signInBody(client, secret string) string {
	text, _ := json.Marshal(map[string]string{"client": client, "secret": secret})
	return string(text)
}

// cookieOf returns the only cookie that a response sets.
func (r reply) cookieOf(t *testing.T) *http.Cookie {
	t.Helper()
	cookies := (&http.Response{Header: r.header}).Cookies()
	if len(cookies) != 1 {
		t.Fatalf("%d cookies in %v, want one", len(cookies), r.header)
	}
	return cookies[0]
}

// SignIn returns the headers that a browser sends after signing in.
func (w *fixture) signIn(client string) []string {
	w.t.Helper()
	cookie := w.post(sessionPath, signInBody(client, secretOf(client))).is(w.t, http.StatusOK).cookieOf(w.t)
	return []string{"Cookie", cookie.Name + "=" + cookie.Value}
}

// sessionRow is the signed-in client.
type sessionRow struct {
	Client     string
	Connection *string
	ExpiresAt  time.Time
	Version    string
}

func TestSignInAndOut(t *testing.T) {
	t.Parallel()
	w := newFixture(t)
	if got := w.get(sessionPath).is(t, http.StatusOK); string(got.body) != `{"result":null}` {
		t.Errorf("before signing in: %s", got.body)
	}
	got := w.post(sessionPath, signInBody(clientNorth, secretOf(clientNorth))).is(t, http.StatusOK)
	var who sessionRow
	got.into(t, &who)
	left := time.Until(who.ExpiresAt)
	if who.Client != clientNorth || who.Connection == nil || *who.Connection != "north" || left < 7*time.Hour || left > 8*time.Hour {
		t.Errorf("signed in: %+v", who)
	}
	cookie := got.cookieOf(t)
	if cookie.Name != "larder_ops" || !cookie.HttpOnly || cookie.Secure || cookie.SameSite != http.SameSiteStrictMode ||
		cookie.Path != "/" || cookie.MaxAge != 8*60*60 || cookie.Domain != "" {
		t.Errorf("the cookie over http: %s", cookie)
	}
	if strings.Contains(cookie.Value, secretOf(clientNorth)) || got.header.Get("Cache-Control") != "no-store" {
		t.Errorf("%s, Cache-Control %q", cookie, got.header.Get("Cache-Control"))
	}
	signedIn := []string{"Cookie", cookie.Name + "=" + cookie.Value}
	var again sessionRow
	w.get(sessionPath, signedIn...).is(t, http.StatusOK).into(t, &again)
	if again.Client != clientNorth || !again.ExpiresAt.Equal(who.ExpiresAt) {
		t.Errorf("asked again: %+v, want %+v", again, who)
	}
	// A session shows the same data as the client's token.
	w.get("/v1/ops/restaurants/"+north, signedIn...).is(t, http.StatusOK)
	w.get("/v1/ops/restaurants/"+bistro, signedIn...).refused(t, http.StatusNotFound, "restaurant_not_found")

	out := w.do(http.MethodDelete, sessionPath, "", signedIn...).is(t, http.StatusNoContent).cookieOf(t)
	if out.Name != cookie.Name || out.Value != "" || out.MaxAge >= 0 {
		t.Errorf("signed out: %s", out)
	}
	w.do(http.MethodDelete, sessionPath, "").is(t, http.StatusNoContent) // there was no session
}

func TestSignInRefusals(t *testing.T) {
	t.Parallel()
	w := newFixture(t)
	for name, c := range map[string]struct {
		body   string
		status int
		code   string
	}{
		"a wrong secret":                  {signInBody(clientOps, secretOf(clientShop)), http.StatusUnauthorized, "unauthorized"},
		"an unknown client":               {signInBody("nobody", secretOf(clientOps)), http.StatusUnauthorized, "unauthorized"},
		"a client that is no operator":    {signInBody(clientShop, secretOf(clientShop)), http.StatusForbidden, "forbidden"},
		"no client":                       {`{"secret": "x"}`, http.StatusBadRequest, "invalid_parameter"},
		"no secret":                       {`{"client": "ops"}`, http.StatusBadRequest, "invalid_parameter"},
		"a secret that is a number":       {`{"client": "ops", "secret": 1}`, http.StatusBadRequest, "invalid_parameter"},
		"another member":                  {`{"client": "ops", "secret": "x", "scope": "ops"}`, http.StatusBadRequest, "invalid_parameter"},
		"no object":                       {`[]`, http.StatusBadRequest, "invalid_parameter"},
		"what is no JSON":                 {`{"client"`, http.StatusBadRequest, "malformed_json"},
		"a body over the limit of bodies": {signInBody(clientOps, strings.Repeat("x", 300<<10)), http.StatusRequestEntityTooLarge, "payload_too_large"},
	} {
		got := w.post(sessionPath, c.body)
		if got.refused(t, c.status, c.code); len(got.header.Values("Set-Cookie")) > 0 {
			t.Errorf("%s: a cookie was set", name)
		}
	}
	w.do(http.MethodPost, sessionPath, "client=ops&secret=x", "Content-Type", formMedia).refused(t, http.StatusUnsupportedMediaType, "unsupported_media_type")
}

// Each client and address has five failed attempts a minute. Only failures are limited (policy H8).
func TestSignInAttempts(t *testing.T) {
	t.Parallel()
	w := newFixture(t, func(p *plan) { p.cfg.TrustedProxies = []string{"127.0.0.1"} })
	from := func(address, client, secret string) reply {
		return w.post(sessionPath, signInBody(client, secret), "X-Forwarded-For", address)
	}
	for range 5 {
		from("192.0.2.1", clientOps, "wrong").refused(t, http.StatusUnauthorized, "unauthorized")
	}
	got := from("192.0.2.1", clientOps, "wrong")
	if got.refused(t, http.StatusTooManyRequests, "rate_limited"); got.header.Get("Retry-After") == "" {
		t.Error("429 without Retry-After")
	}
	from("192.0.2.1", clientOps, secretOf(clientOps)).is(t, http.StatusOK)                            // a correct secret
	from("192.0.2.2", clientOps, "wrong").refused(t, http.StatusUnauthorized, "unauthorized")         // from another address
	from("192.0.2.1", clientNorth, "wrong").refused(t, http.StatusUnauthorized, "unauthorized")       // of another client
	from("192.0.2.1", clientShop, secretOf(clientShop)).refused(t, http.StatusForbidden, "forbidden") // not an operator
	w.ahead(13 * time.Second)                                                                         // a fifth of a minute allows one attempt
	from("192.0.2.1", clientOps, "wrong").refused(t, http.StatusUnauthorized, "unauthorized")
	from("192.0.2.1", clientOps, "wrong").refused(t, http.StatusTooManyRequests, "rate_limited")
	for range 40 { // correct attempts do not count
		from("192.0.2.1", clientOps, secretOf(clientOps)).is(t, http.StatusOK)
	}
}

// A session is valid only below /v1/ops, and never for a page of another site.
func TestWhereASessionCounts(t *testing.T) {
	t.Parallel()
	closed := false
	w := newFixture(t, func(p *plan) {
		p.auth.OpenMenu = &closed
		p.cfg.Metrics = httpapi.MetricsOps
		p.cfg.CORSOrigins = []string{"*"}
	})
	w.schedule()
	signedIn := w.signIn(clientOps)
	with := func(more ...string) []string { return append(more, signedIn...) }
	w.get("/v1/ops/runs", signedIn...).is(t, http.StatusOK)
	w.do(http.MethodPost, syncPath+"?wait=30s", "", signedIn...).is(t, http.StatusOK)
	for _, path := range []string{menuPath, "/v1/restaurants", "/v1/orders/765", "/metrics", "/orders/api/v1/menu/view?restaurantId=" + bistro} {
		if got := w.get(path, signedIn...); got.status != http.StatusUnauthorized {
			t.Errorf("%s: %d, want 401", path, got.status)
		}
	}
	w.post(ordersPath, order(), with("Idempotency-Key", "k")...).refused(t, http.StatusUnauthorized, "unauthorized")

	for name, c := range map[string]struct {
		headers []string
		status  int
	}{
		"the page itself":              {[]string{"Sec-Fetch-Site", "same-origin", "Origin", w.url}, http.StatusAccepted},
		"no browser":                   {nil, http.StatusAccepted},
		"another site":                 {[]string{"Sec-Fetch-Site", "cross-site"}, http.StatusForbidden},
		"a neighbour of the same site": {[]string{"Sec-Fetch-Site", "same-site"}, http.StatusForbidden},
		"an older browser's own page":  {[]string{"Origin", w.url}, http.StatusAccepted},
		"an older browser's other":     {[]string{"Origin", "https://shop.example"}, http.StatusForbidden},
		"a page without an origin":     {[]string{"Origin", "null"}, http.StatusForbidden},
	} {
		if got := w.do(http.MethodPost, syncPath, "", with(c.headers...)...); got.status != c.status {
			t.Errorf("%s: %d %s, want %d", name, got.status, got.body, c.status)
		}
		if c.status != http.StatusForbidden {
			continue
		}
		w.post(sessionPath, signInBody(clientOps, secretOf(clientOps)), c.headers...).refused(t, http.StatusForbidden, "forbidden")
		w.do(http.MethodDelete, sessionPath, "", with(c.headers...)...).refused(t, http.StatusForbidden, "forbidden")
	}
	// A token has no such limit, because no browser sends it automatically.
	w.do(http.MethodPost, syncPath, "", append(w.as(clientOps), "Sec-Fetch-Site", "cross-site")...).is(t, http.StatusAccepted)
	// A session does not make up for a wrong token.
	w.get("/v1/ops/runs", with("Authorization", "Bearer nonsense")...).refused(t, http.StatusUnauthorized, "unauthorized")

	for _, path := range []string{sessionPath, "/v1/ops/runs", "/v1/ops/summary", "/ops"} { // CORS never applies to sessions
		got := w.get(path, with("Origin", "https://shop.example")...)
		preflight := w.do(http.MethodOptions, path, "", "Origin", "https://shop.example", "Access-Control-Request-Method", "POST")
		for _, header := range []http.Header{got.header, preflight.header} {
			if origin, given := header["Access-Control-Allow-Origin"]; given {
				t.Errorf("%s: Access-Control-Allow-Origin %v", path, origin)
			}
		}
	}
}

// What ends a session, and which cookies are not accepted.
func TestWhatEndsASession(t *testing.T) {
	t.Parallel()
	url := redistest.Start(t).URL()
	on := func(change func(*auth.ClientConfig)) func(*plan) {
		return func(p *plan) {
			p.redis.URL, p.unsynced = url, true
			for i := range p.auth.Clients {
				if p.auth.Clients[i].ID == clientOps {
					change(&p.auth.Clients[i])
				}
			}
		}
	}
	same := func(*auth.ClientConfig) {}
	w := newFixture(t, on(same))
	header := w.signIn(clientOps)
	value := strings.TrimPrefix(header[1], "larder_ops=")
	signed := strings.LastIndexByte(value, '.')
	text, seal := value[:signed], value[signed+1:]
	for name, c := range map[string]struct {
		change func(*auth.ClientConfig)
		status int
	}{
		"another replica":           {same, http.StatusOK},
		"another secret":            {func(c *auth.ClientConfig) { c.Secret = "another-0123456789" }, http.StatusUnauthorized},
		"no longer an operator":     {func(c *auth.ClientConfig) { c.Scopes = []auth.Scope{"menu"} }, http.StatusUnauthorized},
		"no longer there":           {func(c *auth.ClientConfig) { c.ID = "other" }, http.StatusUnauthorized},
		"another connection's only": {func(c *auth.ClientConfig) { c.Connection = "north" }, http.StatusOK},
	} {
		if got := newFixture(t, on(c.change)).get("/v1/ops/runs", header...); got.status != c.status {
			t.Errorf("%s: %d %s, want %d", name, got.status, got.body, c.status)
		}
	}
	for name, cookie := range map[string]string{
		"nothing": "", "no seal": text, "an empty seal": text + ".", "another seal": text + "." + strings.Repeat("A", len(seal)),
		"another text": "e30.e30." + seal, "no base64": "!" + value, "a bearer token": w.token(clientOps), "too long": strings.Repeat("A", 3000) + "." + seal,
	} {
		if got := w.get("/v1/ops/runs", "Cookie", "larder_ops="+cookie); got.status != http.StatusUnauthorized {
			t.Errorf("%s: %d, want 401", name, got.status)
		}
	}
	w.get("/v1/ops/runs", "Cookie", "larder_ops=junk; larder_ops="+value).is(t, http.StatusOK) // another cookie of the same name
	w.ahead(8*time.Hour - time.Minute)
	w.get("/v1/ops/runs", header...).is(t, http.StatusOK)
	w.ahead(2 * time.Minute)
	w.get("/v1/ops/runs", header...).refused(t, http.StatusUnauthorized, "unauthorized")
	if got := w.get(sessionPath, header...).is(t, http.StatusOK); string(got.body) != `{"result":null}` {
		t.Errorf("after it is over: %s", got.body)
	}
}
