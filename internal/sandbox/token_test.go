package sandbox_test

import (
	"bytes"
	"maps"
	"mime/multipart"
	"net/http"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/golang-jwt/jwt/v5"
)

func TestTokenIsAJWTWithExpiry(t *testing.T) {
	t.Parallel()
	w := start(t)
	w.settings(`{"tokenLifetime":"90s"}`)
	r := w.form(map[string]string{
		"CLIENTID": "demo", "clientSecret": "demo-secret", "grantType": "client_credentials",
	}).want(http.StatusOK)
	if r.header.Get("Cache-Control") != "no-store" {
		t.Errorf("Cache-Control %q, want no-store", r.header.Get("Cache-Control"))
	}
	if got := r.str("token_type") + " " + r.str("expires_in") + " " + r.str("scope"); got != "Bearer 90 orders" {
		t.Errorf("got %q, want Bearer 90 orders", got)
	}
	token, _, err := jwt.NewParser().ParseUnverified(r.str("access_token"), jwt.MapClaims{})
	if err != nil {
		t.Fatal(err)
	}
	if token.Method.Alg() != "HS256" {
		t.Errorf("signed by %s, want HS256", token.Method.Alg())
	}
	exp, err := token.Claims.GetExpirationTime()
	if err != nil || !exp.Equal(noon.Add(90*time.Second)) {
		t.Errorf("exp %v, %v, want %v", exp, err, noon.Add(90*time.Second))
	}
}

func TestTokenByMultipart(t *testing.T) {
	t.Parallel()
	w := start(t)
	var body bytes.Buffer
	form := multipart.NewWriter(&body)
	for name, value := range map[string]string{
		"client_ID": "demo", "client_secret": "demo-secret", "grant_type": "client_credentials", "scopes": "orders",
	} {
		if err := form.WriteField(name, value); err != nil {
			t.Fatal(err)
		}
	}
	if err := form.Close(); err != nil {
		t.Fatal(err)
	}
	r := w.do(http.MethodPost, "/connect/token/", body.String(), "Content-Type", form.FormDataContentType()).want(http.StatusOK)
	if strings.Count(r.str("access_token"), ".") != 2 {
		t.Errorf("no JWT: %s", r.body)
	}
}

// An uploaded file is read in memory, because temporary files would remain.
func TestTokenRequestLeavesNoFiles(t *testing.T) {
	dir := t.TempDir()
	t.Setenv("TMPDIR", dir)
	var body bytes.Buffer
	form := multipart.NewWriter(&body)
	part, err := form.CreateFormFile("grant_type", "large")
	if err != nil {
		t.Fatal(err)
	}
	if _, err := part.Write(make([]byte, 1<<20)); err != nil {
		t.Fatal(err)
	}
	if err := form.Close(); err != nil {
		t.Fatal(err)
	}
	start(t).do(http.MethodPost, "/connect/token", body.String(), "Content-Type", form.FormDataContentType()).want(http.StatusBadRequest)
	if left, err := os.ReadDir(dir); err != nil || len(left) > 0 {
		t.Errorf("%d files are left, %v", len(left), err)
	}
}

func TestTokenErrors(t *testing.T) {
	t.Parallel()
	w := start(t)
	good := map[string]string{"client_id": "demo", "client_secret": "demo-secret", "grant_type": "client_credentials", "scope": "orders"}
	for name, c := range map[string]struct {
		field, value string
		status       int
		code         string
	}{
		"wrong secret":  {"client_secret", "no", http.StatusUnauthorized, "invalid_client"},
		"wrong client":  {"client_id", "no", http.StatusUnauthorized, "invalid_client"},
		"another grant": {"grant_type", "password", http.StatusBadRequest, "unsupported_grant_type"},
		"no grant":      {"grant_type", "", http.StatusBadRequest, "invalid_request"},
		"another scope": {"scope", "orders admin", http.StatusBadRequest, "invalid_scope"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			fields := maps.Clone(good)
			fields[c.field] = c.value
			r := w.form(fields).want(c.status)
			if r.str("error") != c.code || r.str("error_description") == "" || r.header.Get("Cache-Control") != "no-store" {
				t.Errorf("got %s %v, want %s", r.body, r.header, c.code)
			}
		})
	}
	for _, kind := range []string{"", "application/json", "multipart/form-data; boundary=x"} {
		r := w.do(http.MethodPost, "/connect/token", `{"client_id":"demo"}`, "Content-Type", kind).want(http.StatusBadRequest)
		if r.str("error") != "invalid_request" {
			t.Errorf("content type %q: %s", kind, r.body)
		}
	}
	w.do(http.MethodGet, "/connect/token", "").wantError(http.StatusMethodNotAllowed, "method_not_allowed")
	basic := w.do(http.MethodPost, "/connect/token", "grant_type=client_credentials",
		"Content-Type", "application/x-www-form-urlencoded", "Authorization", "Basic ZGVtbzpkZW1vLXNlY3JldA==")
	basic.want(http.StatusOK)
}

func TestBearerIsRequired(t *testing.T) {
	t.Parallel()
	w := start(t)
	for _, call := range []struct{ method, path string }{
		{http.MethodGet, "/orders/api/v1/menu/view"},
		{http.MethodPost, orders},
		{http.MethodPut, orders + "/1/pay"},
		{http.MethodPut, orders + "/1/complete/"},
		{http.MethodPut, orders + "/1/reject"},
		{http.MethodGet, "/orders/api/v1/rejectionReasons/"},
	} {
		for _, header := range []string{"", "Bearer", "Bearer nonsense", "Basic ZGVtbzpkZW1vLXNlY3JldA==", "Bearer " + w.token + "x"} {
			w.do(call.method, call.path, "", "Authorization", header).wantError(http.StatusUnauthorized, "unauthorized")
		}
	}
	w.do(http.MethodGet, "/orders/api/v1/rejectionReasons", "").want(http.StatusOK)
	w.pass(time.Hour + time.Second)
	r := w.do(http.MethodGet, "/orders/api/v1/rejectionReasons", "").wantError(http.StatusUnauthorized, "unauthorized")
	if !strings.Contains(r.str("msg"), "expired") || r.header.Get("WWW-Authenticate") == "" {
		t.Errorf("an expired token is answered %s %v", r.body, r.header)
	}
}
