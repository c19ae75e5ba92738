package wireshapes

import (
	"bytes"
	"encoding/base64"
	"encoding/json"
	"mime/multipart"
	"net/http"
	"net/url"
	"strings"
	"testing"
)

// The encodings of a token request.
const (
	urlencoded = "application/x-www-form-urlencoded"
	formData   = "multipart/form-data"
)

// tokenShape is one way to request a token; id and secret are placeholders for the
// target's credentials.
type tokenShape struct {
	encoding string
	fields   [][2]string
	basic    bool // the client in the Authorization header
	path     string
}

// tokenShapes are requests as in docs/ordering-service.md, section 5, as in RFC
// 6749, and as clients in PHP, Node, Python and C# make them from the two.
func tokenShapes() map[string]tokenShape {
	const grant = "client_credentials"
	return map[string]tokenShape{
		"the interface's words, multipart": {
			formData,
			[][2]string{{"client_ID", "id"}, {"client_secret", "secret"}, {"grant_type", grant}, {"scopes", "orders"}},
			false, "",
		},
		"the interface's words, urlencoded": {
			urlencoded,
			[][2]string{{"client_ID", "id"}, {"client_secret", "secret"}, {"grant_type", grant}, {"scopes", "orders"}},
			false, "",
		},
		"RFC 6749": {
			urlencoded,
			[][2]string{{"grant_type", grant}, {"client_id", "id"}, {"client_secret", "secret"}, {"scope", "orders"}},
			false, "",
		},
		"RFC 6749, multipart": {
			formData,
			[][2]string{{"grant_type", grant}, {"client_id", "id"}, {"client_secret", "secret"}, {"scope", "orders"}},
			false, "",
		},
		"RFC 6749, Basic": {urlencoded, [][2]string{{"grant_type", grant}, {"scope", "orders"}}, true, ""},
		"client_id with scopes": {
			urlencoded,
			[][2]string{{"client_id", "id"}, {"client_secret", "secret"}, {"grant_type", grant}, {"scopes", "orders"}},
			false, "",
		},
		"no scope": {
			urlencoded, [][2]string{{"client_id", "id"}, {"client_secret", "secret"}, {"grant_type", grant}}, false, "",
		},
		"an empty scope": {
			formData,
			[][2]string{{"client_id", "id"}, {"client_secret", "secret"}, {"grant_type", grant}, {"scope", ""}},
			false, "",
		},
		"camel case": {
			formData,
			[][2]string{{"clientId", "id"}, {"clientSecret", "secret"}, {"grantType", grant}, {"scopes", "orders"}},
			false, "",
		},
		"Pascal case": {
			formData, [][2]string{{"ClientId", "id"}, {"ClientSecret", "secret"}, {"GrantType", grant}}, false, "",
		},
		"capitals": {
			urlencoded, [][2]string{{"CLIENT_ID", "id"}, {"CLIENT_SECRET", "secret"}, {"GRANT_TYPE", grant}}, false, "",
		},
		"a field that nobody knows": {
			urlencoded,
			[][2]string{{"client_id", "id"}, {"client_secret", "secret"}, {"grant_type", grant}, {"audience", "orders"}},
			false, "",
		},
		"a charset beside the type": {
			urlencoded + "; charset=UTF-8",
			[][2]string{{"client_id", "id"}, {"client_secret", "secret"}, {"grant_type", grant}},
			false, "",
		},
		"a slash at the end": {
			urlencoded,
			[][2]string{{"client_id", "id"}, {"client_secret", "secret"}, {"grant_type", grant}},
			false,
			pathToken + "/",
		},
	}
}

// build makes the request with these credentials.
func (s tokenShape) build(t *testing.T, id, secret string) request {
	t.Helper()
	r := request{method: http.MethodPost, path: pathToken, header: map[string]string{"Content-Type": s.encoding}}
	if s.path != "" {
		r.path = s.path
	}
	if s.basic {
		r.header["Authorization"] = "Basic " + base64.StdEncoding.EncodeToString([]byte(url.QueryEscape(id)+":"+url.QueryEscape(secret)))
	}
	var form bytes.Buffer
	parts := multipart.NewWriter(&form)
	pairs := make([]string, 0, len(s.fields))
	for _, field := range s.fields {
		name, value := field[0], field[1]
		switch value {
		case "id":
			value = id
		case "secret":
			value = secret
		}
		pairs = append(pairs, url.QueryEscape(name)+"="+url.QueryEscape(value))
		if err := parts.WriteField(name, value); err != nil {
			t.Fatal(err)
		}
	}
	if err := parts.Close(); err != nil {
		t.Fatal(err)
	}
	r.body = strings.Join(pairs, "&")
	if s.encoding == formData {
		r.body, r.header["Content-Type"] = form.String(), parts.FormDataContentType()
	}
	return r
}

func runTokens(t *testing.T, target Target) {
	t.Helper()
	for name, shape := range tokenShapes() {
		t.Run(name, func(t *testing.T) {
			got := send(t, target.AuthURL, shape.build(t, target.ClientID, target.ClientSecret))
			token := text(at(got.parsed, "access_token"))
			lifetime, _ := at(got.parsed, "expires_in").(json.Number)
			seconds, err := lifetime.Int64()
			if got.status != http.StatusOK || token == "" || at(got.parsed, "token_type") != "Bearer" || err != nil || seconds <= 0 {
				t.Fatalf("status %d %s, want 200 with access_token, token_type Bearer and expires_in", got.status, got.body)
			}
			if !strings.Contains(" "+text(at(got.parsed, "scope"))+" ", " orders ") || got.header.Get("Cache-Control") != "no-store" {
				t.Errorf("scope %v, Cache-Control %q, want orders and no-store", at(got.parsed, "scope"), got.header.Get("Cache-Control"))
			}
			view := send(t, target.BaseURL, request{
				method: http.MethodGet, path: pathMenu, header: map[string]string{"Authorization": "Bearer " + token},
			})
			if view.status != http.StatusOK {
				t.Errorf("the token opens nothing: %d %s", view.status, view.body)
			}
		})
	}
	for _, name := range []string{"the interface's words, multipart", "RFC 6749", "RFC 6749, Basic"} { // failures are counted
		t.Run(name+", wrong secret", func(t *testing.T) {
			got := send(t, target.AuthURL, tokenShapes()[name].build(t, target.ClientID, "no"+target.ClientSecret))
			if got.status != http.StatusUnauthorized || at(got.parsed, "error") != "invalid_client" {
				t.Errorf("status %d %s, want 401 invalid_client", got.status, got.body)
			}
		})
	}
	runTokenRefusals(t, target)
}

func runTokenRefusals(t *testing.T, target Target) {
	t.Helper()
	for name, tc := range map[string]struct {
		shape tokenShape
		code  string // of RFC 6749; "" for any
	}{
		"another grant": {
			tokenShape{urlencoded, [][2]string{{"client_id", "id"}, {"client_secret", "secret"}, {"grant_type", "password"}}, false, ""},
			"unsupported_grant_type",
		},
		"no grant": {tokenShape{formData, [][2]string{{"client_ID", "id"}, {"client_secret", "secret"}}, false, ""}, ""},
		"another scope": {
			tokenShape{formData, [][2]string{
				{"client_ID", "id"}, {"client_secret", "secret"}, {"grant_type", "client_credentials"}, {"scopes", "kitchen"},
			}, false, ""},
			"invalid_scope",
		},
		"no form": {
			tokenShape{"application/json", [][2]string{
				{"client_id", "id"}, {"client_secret", "secret"}, {"grant_type", "client_credentials"},
			}, false, ""},
			"invalid_request",
		},
	} {
		t.Run(name, func(t *testing.T) {
			got := send(t, target.AuthURL, tc.shape.build(t, target.ClientID, target.ClientSecret))
			code := text(at(got.parsed, "error"))
			if got.status != http.StatusBadRequest || code == "" || (tc.code != "" && code != tc.code) {
				t.Errorf("status %d %s, want 400 %s", got.status, got.body, tc.code)
			}
		})
	}
}
