package auth_test

import (
	"net/http"
	"strings"
	"testing"
	"time"

	"larder.local/httpapi"
	"larder.local/httpapi/auth"
	"larder.local/internal/testkit/apitest"
	"larder.local/internal/testkit/redistest"
)

// sessionRow is the signed-in client.
type sessionRow struct {
	Client     string
	Connection *string
	ExpiresAt  time.Time
	Version    string
}

func TestSignInAndOut(t *testing.T) {
	t.Parallel()
	w := apitest.New(t)
	if got := w.Get(apitest.SessionPath).Is(t, http.StatusOK); string(got.Body) != `{"result":null}` {
		t.Errorf("before signing in: %s", got.Body)
	}
	got := w.Post(apitest.SessionPath, apitest.SignInBody(apitest.ClientNorth, apitest.Secret(apitest.ClientNorth))).Is(t, http.StatusOK)
	var who sessionRow
	got.Into(t, &who)
	left := time.Until(who.ExpiresAt)
	if who.Client != apitest.ClientNorth || who.Connection == nil || *who.Connection != "north" || left < 7*time.Hour || left > 8*time.Hour {
		t.Errorf("signed in: %+v", who)
	}
	cookie := got.Cookie(t)
	if cookie.Name != "larder_ops" || !cookie.HttpOnly || cookie.Secure || cookie.SameSite != http.SameSiteStrictMode ||
		cookie.Path != "/" || cookie.MaxAge != 8*60*60 || cookie.Domain != "" {
		t.Errorf("the cookie over http: %s", cookie)
	}
	if strings.Contains(cookie.Value, apitest.Secret(apitest.ClientNorth)) || got.Header.Get("Cache-Control") != "no-store" {
		t.Errorf("%s, Cache-Control %q", cookie, got.Header.Get("Cache-Control"))
	}
	signedIn := []string{"Cookie", cookie.Name + "=" + cookie.Value}
	var again sessionRow
	w.Get(apitest.SessionPath, signedIn...).Is(t, http.StatusOK).Into(t, &again)
	if again.Client != apitest.ClientNorth || !again.ExpiresAt.Equal(who.ExpiresAt) {
		t.Errorf("asked again: %+v, want %+v", again, who)
	}
	// Only the first four cookies of that name are read (policy H7).
	fifth := strings.Repeat(cookie.Name+"=x; ", 4) + signedIn[1]
	if got := w.Get(apitest.SessionPath, "Cookie", fifth).Is(t, http.StatusOK); string(got.Body) != `{"result":null}` {
		t.Errorf("a fifth cookie: %s", got.Body)
	}
	// A session shows the same data as the client's token.
	w.Get("/v1/ops/restaurants/"+apitest.North, signedIn...).Is(t, http.StatusOK)
	w.Get("/v1/ops/restaurants/"+apitest.Bistro, signedIn...).Refused(t, http.StatusNotFound, "restaurant_not_found")

	out := w.Do(http.MethodDelete, apitest.SessionPath, "", signedIn...).Is(t, http.StatusNoContent).Cookie(t)
	if out.Name != cookie.Name || out.Value != "" || out.MaxAge >= 0 {
		t.Errorf("signed out: %s", out)
	}
	w.Do(http.MethodDelete, apitest.SessionPath, "").Is(t, http.StatusNoContent) // there was no session
}

func TestSignInRefusals(t *testing.T) {
	t.Parallel()
	w := apitest.New(t)
	for name, c := range map[string]struct {
		body   string
		status int
		code   string
	}{
		"a wrong secret":                  {apitest.SignInBody(apitest.ClientOps, apitest.Secret(apitest.ClientShop)), http.StatusUnauthorized, "unauthorized"},
		"an unknown client":               {apitest.SignInBody("nobody", apitest.Secret(apitest.ClientOps)), http.StatusUnauthorized, "unauthorized"},
		"a client that is no operator":    {apitest.SignInBody(apitest.ClientShop, apitest.Secret(apitest.ClientShop)), http.StatusForbidden, "forbidden"},
		"no client":                       {`{"secret": "x"}`, http.StatusBadRequest, "invalid_parameter"},
		"no secret":                       {`{"client": "ops"}`, http.StatusBadRequest, "invalid_parameter"},
		"a secret that is a number":       {`{"client": "ops", "secret": 1}`, http.StatusBadRequest, "invalid_parameter"},
		"another member":                  {`{"client": "ops", "secret": "x", "scope": "ops"}`, http.StatusBadRequest, "invalid_parameter"},
		"no object":                       {`[]`, http.StatusBadRequest, "invalid_parameter"},
		"what is no JSON":                 {`{"client"`, http.StatusBadRequest, "malformed_json"},
		"a body over the limit of bodies": {apitest.SignInBody(apitest.ClientOps, strings.Repeat("x", 17<<10)), http.StatusRequestEntityTooLarge, "payload_too_large"},
	} {
		got := w.Post(apitest.SessionPath, c.body)
		if got.Refused(t, c.status, c.code); len(got.Header.Values("Set-Cookie")) > 0 {
			t.Errorf("%s: a cookie was set", name)
		}
	}
	w.Do(http.MethodPost, apitest.SessionPath, "client=ops&secret=x", "Content-Type", apitest.FormMedia).Refused(t, http.StatusUnsupportedMediaType, "unsupported_media_type")
}

// Each client and address has five failed attempts a minute. Only failures are limited (policy H8).
func TestSignInAttempts(t *testing.T) {
	t.Parallel()
	w := apitest.New(t, func(p *apitest.Plan) { p.HTTP.TrustedProxies = []string{"127.0.0.1"} })
	from := func(address, client, secret string) apitest.Reply {
		return w.Post(apitest.SessionPath, apitest.SignInBody(client, secret), "X-Forwarded-For", address)
	}
	for range 5 {
		from("192.0.2.1", apitest.ClientOps, "wrong").Refused(t, http.StatusUnauthorized, "unauthorized")
	}
	got := from("192.0.2.1", apitest.ClientOps, "wrong")
	if got.Refused(t, http.StatusTooManyRequests, "rate_limited"); got.Header.Get("Retry-After") == "" {
		t.Error("429 without Retry-After")
	}
	from("192.0.2.1", apitest.ClientOps, apitest.Secret(apitest.ClientOps)).Is(t, http.StatusOK)                            // a correct secret
	from("192.0.2.2", apitest.ClientOps, "wrong").Refused(t, http.StatusUnauthorized, "unauthorized")                       // from another address
	from("192.0.2.1", apitest.ClientNorth, "wrong").Refused(t, http.StatusUnauthorized, "unauthorized")                     // of another client
	from("192.0.2.1", apitest.ClientShop, apitest.Secret(apitest.ClientShop)).Refused(t, http.StatusForbidden, "forbidden") // not an operator
	w.Ahead(13 * time.Second)                                                                                               // a fifth of a minute allows one attempt
	from("192.0.2.1", apitest.ClientOps, "wrong").Refused(t, http.StatusUnauthorized, "unauthorized")
	from("192.0.2.1", apitest.ClientOps, "wrong").Refused(t, http.StatusTooManyRequests, "rate_limited")
	for range 40 { // correct attempts do not count
		from("192.0.2.1", apitest.ClientOps, apitest.Secret(apitest.ClientOps)).Is(t, http.StatusOK)
	}
}

// A session is valid only below /v1/ops, and never for a page of another site.
func TestWhereASessionCounts(t *testing.T) {
	t.Parallel()
	closed := false
	w := apitest.New(t, func(p *apitest.Plan) {
		p.Auth.OpenMenu = &closed
		p.HTTP.Metrics = httpapi.MetricsOps
		p.HTTP.CORSOrigins = []string{"*"}
	})
	w.Schedule()
	signedIn := w.SignIn(apitest.ClientOps)
	with := func(more ...string) []string { return append(more, signedIn...) }
	w.Get("/v1/ops/runs", signedIn...).Is(t, http.StatusOK)
	w.Do(http.MethodPost, apitest.SyncPath+"?wait=30s", "", signedIn...).Is(t, http.StatusOK)
	for _, path := range []string{apitest.MenuPath, "/v1/restaurants", "/v1/orders/765", "/metrics", "/orders/api/v1/menu/view?restaurantId=" + apitest.Bistro} {
		if got := w.Get(path, signedIn...); got.Status != http.StatusUnauthorized {
			t.Errorf("%s: %d, want 401", path, got.Status)
		}
	}
	w.Post(apitest.OrdersPath, apitest.Order(), with("Idempotency-Key", "k")...).Refused(t, http.StatusUnauthorized, "unauthorized")

	for name, c := range map[string]struct {
		headers []string
		status  int
	}{
		"the page itself":              {[]string{"Sec-Fetch-Site", "same-origin", "Origin", w.URL}, http.StatusAccepted},
		"no browser":                   {nil, http.StatusAccepted},
		"another site":                 {[]string{"Sec-Fetch-Site", "cross-site"}, http.StatusForbidden},
		"a neighbour of the same site": {[]string{"Sec-Fetch-Site", "same-site"}, http.StatusForbidden},
		"an older browser's own page":  {[]string{"Origin", w.URL}, http.StatusAccepted},
		"an older browser's other":     {[]string{"Origin", "https://shop.example"}, http.StatusForbidden},
		"a page without an origin":     {[]string{"Origin", "null"}, http.StatusForbidden},
	} {
		if got := w.Do(http.MethodPost, apitest.SyncPath, "", with(c.headers...)...); got.Status != c.status {
			t.Errorf("%s: %d %s, want %d", name, got.Status, got.Body, c.status)
		}
		if c.status != http.StatusForbidden {
			continue
		}
		w.Post(apitest.SessionPath, apitest.SignInBody(apitest.ClientOps, apitest.Secret(apitest.ClientOps)), c.headers...).Refused(t, http.StatusForbidden, "forbidden")
		w.Do(http.MethodDelete, apitest.SessionPath, "", with(c.headers...)...).Refused(t, http.StatusForbidden, "forbidden")
	}
	// A token has no such limit, because no browser sends it automatically.
	w.Do(http.MethodPost, apitest.SyncPath, "", append(w.As(apitest.ClientOps), "Sec-Fetch-Site", "cross-site")...).Is(t, http.StatusAccepted)
	// A session does not make up for a wrong token.
	w.Get("/v1/ops/runs", with("Authorization", "Bearer nonsense")...).Refused(t, http.StatusUnauthorized, "unauthorized")

	for _, path := range []string{apitest.SessionPath, "/v1/ops/runs", "/v1/ops/summary", "/ops"} { // CORS never applies to sessions
		got := w.Get(path, with("Origin", "https://shop.example")...)
		preflight := w.Do(http.MethodOptions, path, "", "Origin", "https://shop.example", "Access-Control-Request-Method", "POST")
		for _, header := range []http.Header{got.Header, preflight.Header} {
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
	on := func(change func(*auth.ClientConfig)) func(*apitest.Plan) {
		return func(p *apitest.Plan) {
			p.Redis.URL, p.Unsynced = url, true
			for i := range p.Auth.Clients {
				if p.Auth.Clients[i].ID == apitest.ClientOps {
					change(&p.Auth.Clients[i])
				}
			}
		}
	}
	same := func(*auth.ClientConfig) {}
	w := apitest.New(t, on(same))
	header := w.SignIn(apitest.ClientOps)
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
		if got := apitest.New(t, on(c.change)).Get("/v1/ops/runs", header...); got.Status != c.status {
			t.Errorf("%s: %d %s, want %d", name, got.Status, got.Body, c.status)
		}
	}
	for name, cookie := range map[string]string{
		"nothing": "", "no seal": text, "an empty seal": text + ".", "another seal": text + "." + strings.Repeat("A", len(seal)),
		"another text": "e30.e30." + seal, "no base64": "!" + value, "a bearer token": w.Token(apitest.ClientOps), "too long": strings.Repeat("A", 3000) + "." + seal,
	} {
		if got := w.Get("/v1/ops/runs", "Cookie", "larder_ops="+cookie); got.Status != http.StatusUnauthorized {
			t.Errorf("%s: %d, want 401", name, got.Status)
		}
	}
	w.Get("/v1/ops/runs", "Cookie", "larder_ops=junk; larder_ops="+value).Is(t, http.StatusOK) // another cookie of the same name
	w.Ahead(8*time.Hour - time.Minute)
	w.Get("/v1/ops/runs", header...).Is(t, http.StatusOK)
	w.Ahead(2 * time.Minute)
	w.Get("/v1/ops/runs", header...).Refused(t, http.StatusUnauthorized, "unauthorized")
	if got := w.Get(apitest.SessionPath, header...).Is(t, http.StatusOK); string(got.Body) != `{"result":null}` {
		t.Errorf("after it is over: %s", got.Body)
	}
}
