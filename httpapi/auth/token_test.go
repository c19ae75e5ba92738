package auth_test

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

	"larder.local/httpapi"
	"larder.local/internal/testkit/apitest"
	"larder.local/internal/testkit/redistest"
)

// askToken sends a token request. fields are pairs of name and value.
func askToken(w *apitest.Fixture, fields ...string) apitest.Reply {
	w.T.Helper()
	form := url.Values{}
	for i := 0; i+1 < len(fields); i += 2 {
		form.Add(fields[i], fields[i+1])
	}
	return w.Do(http.MethodPost, "/connect/token", form.Encode(), "Content-Type", apitest.FormMedia)
}

func TestTokenAnswer(t *testing.T) {
	t.Parallel()
	w := apitest.New(t)
	got := askToken(w, "client_id", apitest.ClientShop, "client_secret", apitest.Secret(apitest.ClientShop), "grant_type", "client_credentials")
	var answer struct {
		AccessToken string `json:"access_token"`
		TokenType   string `json:"token_type"`
		ExpiresIn   int    `json:"expires_in"`
		Scope       string `json:"scope"`
	}
	if err := json.Unmarshal(got.Is(t, http.StatusOK).Body, &answer); err != nil {
		t.Fatal(err)
	}
	if answer.TokenType != "Bearer" || answer.ExpiresIn != 3600 || answer.Scope != "menu orders" {
		t.Errorf("got %s", got.Body)
	}
	if got.Header.Get("Cache-Control") != "no-store" || got.Header.Get("Pragma") != "no-cache" {
		t.Errorf("a token may be cached: %v", got.Header)
	}
	claims := jwt.MapClaims{}
	token, _, err := jwt.NewParser().ParseUnverified(answer.AccessToken, claims)
	if err != nil {
		t.Fatal(err)
	}
	if token.Header["alg"] != "HS256" || token.Header["kid"] == nil {
		t.Errorf("header %v", token.Header)
	}
	for name, want := range map[string]any{"iss": "larder", "sub": apitest.ClientShop, "scope": "menu orders"} {
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
	w := apitest.New(t)
	secret := apitest.Secret(apitest.ClientShop)
	// The interface's own field names (docs/ordering-service.md, section 5).
	askToken(w, "client_ID", apitest.ClientShop, "client_secret", secret, "grant_type", "client_credentials", "scopes", "orders").Is(t, http.StatusOK)
	askToken(w, "clientId", apitest.ClientShop, "ClientSecret", secret, "GRANT_TYPE", "client_credentials", "Scope", "menu orders").Is(t, http.StatusOK)
	var form bytes.Buffer
	writer := multipart.NewWriter(&form)
	for name, value := range map[string]string{"client_ID": apitest.ClientShop, "client_secret": secret, "grant_type": "client_credentials", "scopes": "orders"} {
		if err := writer.WriteField(name, value); err != nil {
			t.Fatal(err)
		}
	}
	if err := writer.Close(); err != nil {
		t.Fatal(err)
	}
	w.Do(http.MethodPost, "/connect/token", form.String(), "Content-Type", writer.FormDataContentType()).Is(t, http.StatusOK)
	w.Do(http.MethodPost, "/connect/token/", form.String(), "Content-Type", writer.FormDataContentType()).Is(t, http.StatusOK)
	basic := &http.Request{Header: http.Header{}}
	basic.SetBasicAuth(apitest.ClientShop, secret)
	w.Do(http.MethodPost, "/connect/token", "grant_type=client_credentials", "Content-Type", apitest.FormMedia,
		"Authorization", basic.Header.Get("Authorization")).Is(t, http.StatusOK)
}

func TestTokenScopes(t *testing.T) { // policy H2
	t.Parallel()
	w := apitest.New(t)
	for asked, want := range map[string]string{
		"": "orders ops", "orders": "orders", "menu": "menu", "menu orders": "menu orders", "ops": "ops", "menu,orders": "menu orders",
	} {
		got := askToken(w, "client_id", apitest.ClientNorth, "client_secret", apitest.Secret(apitest.ClientNorth), "grant_type", "client_credentials", "scope", asked)
		var answer struct{ Scope string }
		if err := json.Unmarshal(got.Is(t, http.StatusOK).Body, &answer); err != nil || answer.Scope != want {
			t.Errorf("asked for %q: got %s, want scope %q", asked, got.Body, want)
		}
	}
	menuOnly := askToken(w, "client_id", apitest.ClientOps, "client_secret", apitest.Secret(apitest.ClientOps), "grant_type", "client_credentials", "scope", "menu")
	var answer struct {
		AccessToken string `json:"access_token"`
	}
	if err := json.Unmarshal(menuOnly.Body, &answer); err != nil {
		t.Fatal(err)
	}
	w.Get("/v1/ops/runs", "Authorization", "Bearer "+answer.AccessToken).Refused(t, http.StatusForbidden, "forbidden")
}

func TestTokenRefusals(t *testing.T) { // RFC 6749, section 5.2
	t.Parallel()
	w := apitest.New(t, func(p *apitest.Plan) { p.HTTP.Rate = httpapi.RateConfig{} })
	good := []string{"client_id", apitest.ClientShop, "client_secret", apitest.Secret(apitest.ClientShop), "grant_type", "client_credentials"}
	with := func(fields ...string) []string { return append(slices.Clone(good), fields...) }
	refused := func(name string, got apitest.Reply, status int, code string) {
		t.Helper()
		var answer struct {
			Error       string `json:"error"`
			Description string `json:"error_description"`
		}
		if err := json.Unmarshal(got.Body, &answer); err != nil || got.Status != status || answer.Error != code || answer.Description == "" {
			t.Errorf("%s: got %d %s, want %d %s", name, got.Status, got.Body, status, code)
		}
		if got.Header.Get("Cache-Control") != "no-store" {
			t.Errorf("%s: Cache-Control %q", name, got.Header.Get("Cache-Control"))
		}
	}
	unknown := askToken(w, "client_id", "nobody", "client_secret", apitest.Secret(apitest.ClientShop), "grant_type", "client_credentials")
	refused("unknown client", unknown, http.StatusUnauthorized, "invalid_client")
	if unknown.Header.Get("Www-Authenticate") == "" {
		t.Error("401 without WWW-Authenticate")
	}
	wrong := askToken(w, "client_id", apitest.ClientShop, "client_secret", "guess", "grant_type", "client_credentials")
	refused("wrong secret", wrong, http.StatusUnauthorized, "invalid_client")
	if !bytes.Equal(wrong.Body, unknown.Body) {
		t.Errorf("the answer shows whether a client exists: %s and %s", wrong.Body, unknown.Body)
	}
	refused("no client", askToken(w, "grant_type", "client_credentials"), http.StatusUnauthorized, "invalid_client")
	refused("another grant", askToken(w, "client_id", apitest.ClientShop, "client_secret", apitest.Secret(apitest.ClientShop), "grant_type", "password"), http.StatusBadRequest, "unsupported_grant_type")
	refused("no grant", askToken(w, good[:4]...), http.StatusBadRequest, "invalid_request")
	refused("a scope it has not", askToken(w, with("scope", "orders ops")...), http.StatusBadRequest, "invalid_scope")
	refused("an unknown scope", askToken(w, with("scope", `"all"`)...), http.StatusBadRequest, "invalid_scope")
	refused("a parameter twice", askToken(w, with("clientid", "x")...), http.StatusBadRequest, "invalid_request")
	refused("no form", w.Do(http.MethodPost, "/connect/token", "{}", "Content-Type", "application/json"), http.StatusBadRequest, "invalid_request")
	refused("no media type", w.Do(http.MethodPost, "/connect/token", "a=b"), http.StatusBadRequest, "invalid_request")
	refused("a broken form", w.Do(http.MethodPost, "/connect/token", "a=%zz", "Content-Type", apitest.FormMedia), http.StatusBadRequest, "invalid_request")
	refused("no boundary", w.Do(http.MethodPost, "/connect/token", "a", "Content-Type", "multipart/form-data"), http.StatusBadRequest, "invalid_request")
	refused("a broken multipart form", w.Do(http.MethodPost, "/connect/token", "a", "Content-Type", "multipart/form-data; boundary=x"), http.StatusBadRequest, "invalid_request")
	refused("too large", w.Do(http.MethodPost, "/connect/token", "a="+strings.Repeat("x", 20_000), "Content-Type", apitest.FormMedia), http.StatusBadRequest, "invalid_request")
	two := w.Do(http.MethodPost, "/connect/token", "grant_type=client_credentials&client_secret=x", "Content-Type", apitest.FormMedia, "Authorization", "Basic c2hvcDp4")
	refused("the client twice", two, http.StatusBadRequest, "invalid_request")
	w.Get("/connect/token").Refused(t, http.StatusMethodNotAllowed, "method_not_allowed")
}

func TestTokenFailuresAreLimited(t *testing.T) { // policies H1, H8
	t.Parallel()
	w := apitest.New(t)
	attempt := func(client, secret string) apitest.Reply {
		return askToken(w, "client_id", client, "client_secret", secret, "grant_type", "client_credentials")
	}
	failed := func(client string, want int) {
		t.Helper()
		if got := attempt(client, "guess"); got.Status != want {
			t.Fatalf("a wrong secret of %s: %d %s, want %d", client, got.Status, got.Body, want)
		}
	}
	for range 10 {
		failed(apitest.ClientShop, http.StatusUnauthorized)
	}
	known := attempt(apitest.ClientShop, "guess")
	if known.Status != http.StatusTooManyRequests || known.Header.Get("Retry-After") == "" || !strings.Contains(string(known.Body), "rate_limited") {
		t.Errorf("failure 11: got %d %s, Retry-After %q", known.Status, known.Body, known.Header.Get("Retry-After"))
	}
	w.Token(apitest.ClientShop) // only failures are limited
	failed(apitest.ClientOps, http.StatusUnauthorized)
	for i := range 18 { // 30 for the address, whatever client ids it invents
		failed("nobody-"+strconv.Itoa(i), http.StatusUnauthorized)
	}
	failed(apitest.ClientOps, http.StatusTooManyRequests)
	unknown := attempt("nobody", "guess")
	if unknown.Status != known.Status || !bytes.Equal(unknown.Body, known.Body) {
		t.Errorf("an unknown client: %d %s, a known one: %d %s; the answer shows which exist", unknown.Status, unknown.Body, known.Status, known.Body)
	}
	w.Post(apitest.SessionPath, apitest.SignInBody(apitest.ClientNorth, "guess")).Refused(t, http.StatusTooManyRequests, "rate_limited") // the same 30
	for _, client := range []string{apitest.ClientShop, apitest.ClientOps} {
		w.Token(client)
	}
	w.SignIn(apitest.ClientOps)
	w.Ahead(time.Minute)
	failed(apitest.ClientShop, http.StatusUnauthorized)
}

// A signature has only one valid spelling: of the last base64 character only four of six bits are
// used, and the others must be zero.
func TestATokenHasOneSpelling(t *testing.T) {
	t.Parallel()
	const alphabet = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_"
	w := apitest.New(t)
	good := w.Token(apitest.ClientOps)
	last := strings.IndexByte(alphabet, good[len(good)-1])
	w.Get("/v1/ops/runs", "Authorization", "Bearer "+good).Is(t, http.StatusOK)
	for spare := 1; spare < 4; spare++ {
		other := good[:len(good)-1] + string(alphabet[last|spare])
		w.Get("/v1/ops/runs", "Authorization", "Bearer "+other).Refused(t, http.StatusUnauthorized, "unauthorized")
	}
}

func TestBearerTokens(t *testing.T) {
	t.Parallel()
	w := apitest.New(t, func(p *apitest.Plan) { p.Auth.SigningKey = strings.Repeat("k", 32) })
	good := w.Token(apitest.ClientOps)
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
	w.Get("/v1/ops/runs", "Authorization", "Bearer "+sign(jwt.SigningMethodHS256, right, nothing)).Is(t, http.StatusOK)
	w.Get("/v1/ops/runs", "Authorization", "bearer "+good).Is(t, http.StatusOK)
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
		got := w.Get("/v1/ops/runs", "Authorization", "Bearer "+token)
		got.Refused(t, http.StatusUnauthorized, "unauthorized")
		if !strings.Contains(got.Header.Get("Www-Authenticate"), `error="invalid_token"`) {
			t.Errorf("%s: WWW-Authenticate %q", name, got.Header.Get("Www-Authenticate"))
		}
		// An invalid token is rejected even on a public route.
		w.Get(apitest.MenuPath, "Authorization", "Bearer "+token).Refused(t, http.StatusUnauthorized, "unauthorized")
	}
	// Seven of them, sent twice, were not signed by larder (policy H8): an expired token is no guess.
	const counted = `larder_auth_failures_total{route="bearer"} 14`
	if text := string(w.Get("/metrics").Is(t, http.StatusOK).Body); !strings.Contains(text, counted+"\n") {
		t.Errorf("/metrics does not contain %s", counted)
	}
	for _, header := range []string{"Basic c2hvcDp4", "Bearer", "Bearer ", good} {
		w.Get("/v1/ops/runs", "Authorization", header).Refused(t, http.StatusUnauthorized, "unauthorized")
	}
	w.Get("/v1/ops/runs", "Authorization", "Bearer "+good, "Authorization", "Bearer "+good).Refused(t, http.StatusUnauthorized, "unauthorized")
	w.Get("/v1/ops/runs").Refused(t, http.StatusUnauthorized, "unauthorized")
	// A scope that was removed from the configuration is also removed from existing tokens.
	tooMuch := sign(jwt.SigningMethodHS256, right, func(c jwt.MapClaims, _ map[string]any) { c["sub"] = apitest.ClientRead })
	w.Get("/v1/ops/runs", "Authorization", "Bearer "+tooMuch).Refused(t, http.StatusForbidden, "forbidden")
}

func TestTokensExpire(t *testing.T) {
	t.Parallel()
	w := apitest.New(t)
	ops := w.As(apitest.ClientOps)
	w.Get("/v1/ops/runs", ops...).Is(t, http.StatusOK)
	w.Ahead(time.Hour + time.Second)
	got := w.Get("/v1/ops/runs", ops...).Refused(t, http.StatusUnauthorized, "unauthorized")
	if !strings.Contains(got.Msg, "expired") {
		t.Errorf("msg %q", got.Msg)
	}
	w.Get("/v1/ops/runs", w.As(apitest.ClientOps)...).Is(t, http.StatusOK)
}

// Instances that share a Redis share the signing key: each accepts the tokens of the others, even
// after Redis has lost the key. If Redis is unreachable, the response reports it.
func TestSigningKeyInRedis(t *testing.T) {
	t.Parallel()
	server := redistest.Start(t)
	shared := func(p *apitest.Plan) { p.Redis.URL, p.Unsynced = server.URL(), true }
	one, two := apitest.New(t, shared), apitest.New(t, shared)
	first := one.As(apitest.ClientOps)
	two.Get("/v1/ops/runs", first...).Is(t, http.StatusOK)
	one.Get("/v1/ops/runs", two.As(apitest.ClientOps)...).Is(t, http.StatusOK)

	server.Restart() // stores nothing on disk: the key is lost
	one.Get("/v1/ops/runs", first...).Is(t, http.StatusOK)
	fresh := apitest.New(t, shared)
	third := fresh.As(apitest.ClientOps) // creates a new key
	one.Ahead(time.Minute)
	one.Get("/v1/ops/runs", third...).Is(t, http.StatusOK)

	server.Stop()
	away := apitest.New(t, shared)
	got := askToken(away, "client_id", apitest.ClientOps, "client_secret", apitest.Secret(apitest.ClientOps), "grant_type", "client_credentials")
	if got.Status != http.StatusServiceUnavailable || got.Header.Get("Retry-After") == "" {
		t.Errorf("without Redis: got %d %s", got.Status, got.Body)
	}
	away.Get("/v1/ops/runs", third...).Refused(t, http.StatusServiceUnavailable, "storage_unavailable")
	away.Get("/livez").Is(t, http.StatusOK)
	server.Restart()
	away.Ahead(2 * time.Second)
	away.Token(apitest.ClientOps) // recovers automatically
}
