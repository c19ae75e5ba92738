package httpapi_test

import (
	"bytes"
	"encoding/json"
	"mime/multipart"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/golang-jwt/jwt/v5"

	"larder/httpapi"
	"larder/internal/testkit/redistest"
)

const formMedia = "application/x-www-form-urlencoded"

// ask sends a token request. fields are pairs of name and value.
func (w *fixture) ask(fields ...string) reply {
	w.t.Helper()
	form := url.Values{}
	for i := 0; i+1 < len(fields); i += 2 {
		form.Add(fields[i], fields[i+1])
	}
	return w.do(http.MethodPost, "/connect/token", form.Encode(), "Content-Type", formMedia)
}

func TestTokenAnswer(t *testing.T) {
	t.Parallel()
	w := newFixture(t)
	got := w.ask("client_id", clientShop, "client_secret", secretOf(clientShop), "grant_type", "client_credentials")
	var answer struct {
		AccessToken string `json:"access_token"`
		TokenType   string `json:"token_type"`
		ExpiresIn   int    `json:"expires_in"`
		Scope       string `json:"scope"`
	}
	if err := json.Unmarshal(got.is(t, http.StatusOK).body, &answer); err != nil {
		t.Fatal(err)
	}
	if answer.TokenType != "Bearer" || answer.ExpiresIn != 3600 || answer.Scope != "menu orders" {
		t.Errorf("got %s", got.body)
	}
	if got.header.Get("Cache-Control") != "no-store" || got.header.Get("Pragma") != "no-cache" {
		t.Errorf("a token may be cached: %v", got.header)
	}
	claims := jwt.MapClaims{}
	token, _, err := jwt.NewParser().ParseUnverified(answer.AccessToken, claims)
	if err != nil {
		t.Fatal(err)
	}
	if token.Header["alg"] != "HS256" || token.Header["kid"] == nil {
		t.Errorf("header %v", token.Header)
	}
	for name, want := range map[string]any{"iss": "larder", "sub": clientShop, "scope": "menu orders"} {
		if claims[name] != want {
			t.Errorf("claim %s: got %v, want %v", name, claims[name], want)
		}
	}
	if audience, err := claims.GetAudience(); err != nil || !slices.Equal(audience, []string{"larder"}) {
		t.Errorf("aud %v, %v", audience, err)
	}
	if exp, err := claims.GetExpirationTime(); err != nil || time.Until(exp.Time).Round(time.Minute) != time.Hour {
		t.Errorf("exp %v, %v", exp, err)
	}
}

func TestTokenRequestForms(t *testing.T) {
	t.Parallel()
	w := newFixture(t)
	secret := secretOf(clientShop)
	// The interface's own field names (docs/ordering-service.md, section 5).
	w.ask("client_ID", clientShop, "client_secret", secret, "grant_type", "client_credentials", "scopes", "orders").is(t, http.StatusOK)
	w.ask("clientId", clientShop, "ClientSecret", secret, "GRANT_TYPE", "client_credentials", "Scope", "menu orders").is(t, http.StatusOK)
	var form bytes.Buffer
	writer := multipart.NewWriter(&form)
	for name, value := range map[string]string{"client_ID": clientShop, "client_secret": secret, "grant_type": "client_credentials", "scopes": "orders"} {
		if err := writer.WriteField(name, value); err != nil {
			t.Fatal(err)
		}
	}
	if err := writer.Close(); err != nil {
		t.Fatal(err)
	}
	w.do(http.MethodPost, "/connect/token", form.String(), "Content-Type", writer.FormDataContentType()).is(t, http.StatusOK)
	w.do(http.MethodPost, "/connect/token/", form.String(), "Content-Type", writer.FormDataContentType()).is(t, http.StatusOK)
	basic := &http.Request{Header: http.Header{}}
	basic.SetBasicAuth(clientShop, secret)
	w.do(http.MethodPost, "/connect/token", "grant_type=client_credentials", "Content-Type", formMedia,
		"Authorization", basic.Header.Get("Authorization")).is(t, http.StatusOK)
}

func TestTokenScopes(t *testing.T) { // policy H2
	t.Parallel()
	w := newFixture(t)
	for asked, want := range map[string]string{
		"": "orders ops", "orders": "orders", "menu": "menu", "menu orders": "menu orders", "ops": "ops", "menu,orders": "menu orders",
	} {
		got := w.ask("client_id", clientNorth, "client_secret", secretOf(clientNorth), "grant_type", "client_credentials", "scope", asked)
		var answer struct{ Scope string }
		if err := json.Unmarshal(got.is(t, http.StatusOK).body, &answer); err != nil || answer.Scope != want {
			t.Errorf("asked for %q: got %s, want scope %q", asked, got.body, want)
		}
	}
	menuOnly := w.ask("client_id", clientOps, "client_secret", secretOf(clientOps), "grant_type", "client_credentials", "scope", "menu")
	var answer struct {
		AccessToken string `json:"access_token"`
	}
	if err := json.Unmarshal(menuOnly.body, &answer); err != nil {
		t.Fatal(err)
	}
	w.get("/v1/ops/runs", "Authorization", "Bearer "+answer.AccessToken).refused(t, http.StatusForbidden, "forbidden")
}

func TestTokenRefusals(t *testing.T) { // RFC 6749, section 5.2
	t.Parallel()
	w := newFixture(t, func(p *plan) { p.cfg.Rate = httpapi.RateConfig{} })
	good := []string{"client_id", clientShop, "client_secret", secretOf(clientShop), "grant_type", "client_credentials"}
	with := func(fields ...string) []string { return append(slices.Clone(good), fields...) }
	refused := func(name string, got reply, status int, code string) {
		t.Helper()
		var answer struct {
			Error       string `json:"error"`
			Description string `json:"error_description"`
		}
		if err := json.Unmarshal(got.body, &answer); err != nil || got.status != status || answer.Error != code || answer.Description == "" {
			t.Errorf("%s: got %d %s, want %d %s", name, got.status, got.body, status, code)
		}
		if got.header.Get("Cache-Control") != "no-store" {
			t.Errorf("%s: Cache-Control %q", name, got.header.Get("Cache-Control"))
		}
	}
	unknown := w.ask("client_id", "nobody", "client_secret", secretOf(clientShop), "grant_type", "client_credentials")
	refused("unknown client", unknown, http.StatusUnauthorized, "invalid_client")
	if unknown.header.Get("Www-Authenticate") == "" {
		t.Error("401 without WWW-Authenticate")
	}
	wrong := w.ask("client_id", clientShop, "client_secret", "guess", "grant_type", "client_credentials")
	refused("wrong secret", wrong, http.StatusUnauthorized, "invalid_client")
	if !bytes.Equal(wrong.body, unknown.body) {
		t.Errorf("the answer shows whether a client exists: %s and %s", wrong.body, unknown.body)
	}
	refused("no client", w.ask("grant_type", "client_credentials"), http.StatusUnauthorized, "invalid_client")
	refused("another grant", w.ask("client_id", clientShop, "client_secret", secretOf(clientShop), "grant_type", "password"), http.StatusBadRequest, "unsupported_grant_type")
	refused("no grant", w.ask(good[:4]...), http.StatusBadRequest, "invalid_request")
	refused("a scope it has not", w.ask(with("scope", "orders ops")...), http.StatusBadRequest, "invalid_scope")
	refused("an unknown scope", w.ask(with("scope", `"all"`)...), http.StatusBadRequest, "invalid_scope")
	refused("a parameter twice", w.ask(with("clientid", "x")...), http.StatusBadRequest, "invalid_request")
	refused("no form", w.do(http.MethodPost, "/connect/token", "{}", "Content-Type", "application/json"), http.StatusBadRequest, "invalid_request")
	refused("no media type", w.do(http.MethodPost, "/connect/token", "a=b"), http.StatusBadRequest, "invalid_request")
	refused("a broken form", w.do(http.MethodPost, "/connect/token", "a=%zz", "Content-Type", formMedia), http.StatusBadRequest, "invalid_request")
	refused("no boundary", w.do(http.MethodPost, "/connect/token", "a", "Content-Type", "multipart/form-data"), http.StatusBadRequest, "invalid_request")
	refused("a broken multipart form", w.do(http.MethodPost, "/connect/token", "a", "Content-Type", "multipart/form-data; boundary=x"), http.StatusBadRequest, "invalid_request")
	refused("too large", w.do(http.MethodPost, "/connect/token", "a="+strings.Repeat("x", 20_000), "Content-Type", formMedia), http.StatusBadRequest, "invalid_request")
	two := w.do(http.MethodPost, "/connect/token", "grant_type=client_credentials&client_secret=x", "Content-Type", formMedia, "Authorization", "Basic c2hvcDp4")
	refused("the client twice", two, http.StatusBadRequest, "invalid_request")
	w.get("/connect/token").refused(t, http.StatusMethodNotAllowed, "method_not_allowed")
}

func TestTokenFailuresAreLimited(t *testing.T) { // policies H1, H8
	t.Parallel()
	w := newFixture(t)
	attempt := func(client, secret string) reply {
		return w.ask("client_id", client, "client_secret", secret, "grant_type", "client_credentials")
	}
	failed := func(client string, want int) {
		t.Helper()
		if got := attempt(client, "guess"); got.status != want {
			t.Fatalf("a wrong secret of %s: %d %s, want %d", client, got.status, got.body, want)
		}
	}
	for range 10 {
		failed(clientShop, http.StatusUnauthorized)
	}
	known := attempt(clientShop, "guess")
	if known.status != http.StatusTooManyRequests || known.header.Get("Retry-After") == "" || !strings.Contains(string(known.body), "rate_limited") {
		t.Errorf("failure 11: got %d %s, Retry-After %q", known.status, known.body, known.header.Get("Retry-After"))
	}
	w.token(clientShop) // only failures are limited
	failed(clientOps, http.StatusUnauthorized)
	for i := range 18 { // 30 for the address, whatever client ids it invents
		failed("nobody-"+strconv.Itoa(i), http.StatusUnauthorized)
	}
	failed(clientOps, http.StatusTooManyRequests)
	unknown := attempt("nobody", "guess")
	if unknown.status != known.status || !bytes.Equal(unknown.body, known.body) {
		t.Errorf("an unknown client: %d %s, a known one: %d %s; the answer shows which exist", unknown.status, unknown.body, known.status, known.body)
	}
	w.post(sessionPath, signInBody(clientNorth, "guess")).refused(t, http.StatusTooManyRequests, "rate_limited") // the same 30
	for _, client := range []string{clientShop, clientOps} {
		w.token(client)
	}
	w.signIn(clientOps)
	w.ahead(time.Minute)
	failed(clientShop, http.StatusUnauthorized)
}

// A signature has only one valid spelling: of the last base64 character only four of six bits are
// used, and the others must be zero.
func TestATokenHasOneSpelling(t *testing.T) {
	t.Parallel()
	const alphabet = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_"
	w := newFixture(t)
	good := w.token(clientOps)
	last := strings.IndexByte(alphabet, good[len(good)-1])
	w.get("/v1/ops/runs", "Authorization", "Bearer "+good).is(t, http.StatusOK)
	for spare := 1; spare < 4; spare++ {
		other := good[:len(good)-1] + string(alphabet[last|spare])
		w.get("/v1/ops/runs", "Authorization", "Bearer "+other).refused(t, http.StatusUnauthorized, "unauthorized")
	}
}

func TestBearerTokens(t *testing.T) {
	t.Parallel()
	w := newFixture(t, func(p *plan) { p.auth.SigningKey = strings.Repeat("k", 32) })
	good := w.token(clientOps)
	sign := func(method jwt.SigningMethod, key any, change func(jwt.MapClaims, map[string]any)) string {
		t.Helper()
		claims := jwt.MapClaims{}
		token, _, err := jwt.NewParser().ParseUnverified(good, claims)
		if err != nil {
			t.Fatal(err)
		}
		forged := jwt.NewWithClaims(method, claims)
		forged.Header["kid"] = token.Header["kid"]
		change(claims, forged.Header)
		text, err := forged.SignedString(key)
		if err != nil {
			t.Fatal(err)
		}
		return text
	}
	right := []byte(strings.Repeat("k", 32))
	set := func(name string, value any) func(jwt.MapClaims, map[string]any) {
		return func(claims jwt.MapClaims, _ map[string]any) { claims[name] = value }
	}
	nothing := func(jwt.MapClaims, map[string]any) {}
	w.get("/v1/ops/runs", "Authorization", "Bearer "+sign(jwt.SigningMethodHS256, right, nothing)).is(t, http.StatusOK)
	w.get("/v1/ops/runs", "Authorization", "bearer "+good).is(t, http.StatusOK)
	for name, token := range map[string]string{
		"another key":     sign(jwt.SigningMethodHS256, []byte("another"), nothing),
		"another issuer":  sign(jwt.SigningMethodHS256, right, set("iss", "mallory")),
		"another reader":  sign(jwt.SigningMethodHS256, right, set("aud", "elsewhere")),
		"expired":         sign(jwt.SigningMethodHS256, right, set("exp", time.Now().Add(-time.Second).Unix())),
		"never expires":   sign(jwt.SigningMethodHS256, right, func(c jwt.MapClaims, _ map[string]any) { delete(c, "exp") }),
		"unknown client":  sign(jwt.SigningMethodHS256, right, set("sub", "gone")),
		"HS512":           sign(jwt.SigningMethodHS512, right, nothing),
		"no signature":    sign(jwt.SigningMethodNone, jwt.UnsafeAllowNoneSignatureType, nothing),
		"another key id":  sign(jwt.SigningMethodHS256, right, func(_ jwt.MapClaims, h map[string]any) { h["kid"] = "0" }),
		"no key id":       sign(jwt.SigningMethodHS256, right, func(_ jwt.MapClaims, h map[string]any) { delete(h, "kid") }),
		"nothing of JWT":  "abc",
		"half of a token": good[:len(good)/2],
	} {
		got := w.get("/v1/ops/runs", "Authorization", "Bearer "+token)
		got.refused(t, http.StatusUnauthorized, "unauthorized")
		if !strings.Contains(got.header.Get("Www-Authenticate"), `error="invalid_token"`) {
			t.Errorf("%s: WWW-Authenticate %q", name, got.header.Get("Www-Authenticate"))
		}
		// An invalid token is rejected even on a public route.
		w.get(menuPath, "Authorization", "Bearer "+token).refused(t, http.StatusUnauthorized, "unauthorized")
	}
	for _, header := range []string{"Basic c2hvcDp4", "Bearer", "Bearer ", good} {
		w.get("/v1/ops/runs", "Authorization", header).refused(t, http.StatusUnauthorized, "unauthorized")
	}
	w.get("/v1/ops/runs", "Authorization", "Bearer "+good, "Authorization", "Bearer "+good).refused(t, http.StatusUnauthorized, "unauthorized")
	w.get("/v1/ops/runs").refused(t, http.StatusUnauthorized, "unauthorized")
	// A scope that was removed from the configuration is also removed from existing tokens.
	tooMuch := sign(jwt.SigningMethodHS256, right, func(c jwt.MapClaims, _ map[string]any) { c["sub"] = clientRead })
	w.get("/v1/ops/runs", "Authorization", "Bearer "+tooMuch).refused(t, http.StatusForbidden, "forbidden")
}

func TestTokensExpire(t *testing.T) {
	t.Parallel()
	w := newFixture(t)
	ops := w.as(clientOps)
	w.get("/v1/ops/runs", ops...).is(t, http.StatusOK)
	w.ahead(time.Hour + time.Second)
	got := w.get("/v1/ops/runs", ops...).refused(t, http.StatusUnauthorized, "unauthorized")
	if !strings.Contains(got.Msg, "expired") {
		t.Errorf("msg %q", got.Msg)
	}
	w.get("/v1/ops/runs", w.as(clientOps)...).is(t, http.StatusOK)
}

// Instances that share a Redis share the signing key: each accepts the tokens of the others, even
// after Redis has lost the key. If Redis is unreachable, the response reports it.
func TestSigningKeyInRedis(t *testing.T) {
	t.Parallel()
	server := redistest.Start(t)
	shared := func(p *plan) { p.redis.URL, p.unsynced = server.URL(), true }
	one, two := newFixture(t, shared), newFixture(t, shared)
	first := one.as(clientOps)
	two.get("/v1/ops/runs", first...).is(t, http.StatusOK)
	one.get("/v1/ops/runs", two.as(clientOps)...).is(t, http.StatusOK)

	server.Restart() // stores nothing on disk: the key is lost
	one.get("/v1/ops/runs", first...).is(t, http.StatusOK)
	fresh := newFixture(t, shared)
	third := fresh.as(clientOps) // creates a new key
	one.ahead(time.Minute)
	one.get("/v1/ops/runs", third...).is(t, http.StatusOK)

	server.Stop()
	away := newFixture(t, shared)
	got := away.ask("client_id", clientOps, "client_secret", secretOf(clientOps), "grant_type", "client_credentials")
	if got.status != http.StatusServiceUnavailable || got.header.Get("Retry-After") == "" {
		t.Errorf("without Redis: got %d %s", got.status, got.body)
	}
	away.get("/v1/ops/runs", third...).refused(t, http.StatusServiceUnavailable, "storage_unavailable")
	away.get("/livez").is(t, http.StatusOK)
	server.Restart()
	away.ahead(2 * time.Second)
	away.token(clientOps) // recovers automatically
}
