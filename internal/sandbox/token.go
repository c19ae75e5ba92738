package sandbox

import (
	"bytes"
	"crypto/rand"
	"crypto/subtle"
	"errors"
	"io"
	"net/http"
	"strings"
	"sync/atomic"
	"time"

	"github.com/golang-jwt/jwt/v5"
)

const (
	issuer    = "larder-sandbox"
	scopeName = "orders"
)

// claims are the claims of a token.
type claims struct {
	jwt.RegisteredClaims
	Scope      string `json:"scope"`
	Generation int64  `json:"gen"`
}

// tokenIssuer signs and verifies the bearer tokens of one client.
type tokenIssuer struct {
	clientID, clientSecret string
	key                    []byte
	generation             atomic.Int64 // of valid tokens; a fault starts a new one
}

// issueToken handles POST /connect/token (docs/ordering-service.md, section 5):
// client credentials, with the errors of RFC 6749.
func (s *Sandbox) issueToken(c *call) answer {
	form, err := readForm(c.r, c.body)
	if err != nil {
		return tokenError(http.StatusBadRequest, "invalid_request", err.Error())
	}
	id, secret, basic := c.r.BasicAuth()
	if !basic {
		id, secret = form["clientid"], form["clientsecret"]
	}
	switch grant := form["granttype"]; {
	case grant == "":
		return tokenError(http.StatusBadRequest, "invalid_request", "grant_type is missing")
	case grant != "client_credentials":
		return tokenError(http.StatusBadRequest, "unsupported_grant_type", "grant_type must be client_credentials")
	case !same(id, s.tokens.clientID) || !same(secret, s.tokens.clientSecret):
		a := tokenError(http.StatusUnauthorized, "invalid_client", "unknown client or wrong secret")
		if basic {
			a = a.with("WWW-Authenticate", `Basic realm="sandbox"`)
		}
		return a
	}
	for _, field := range []string{"scope", "scopes"} {
		for scope := range strings.FieldsSeq(form[field]) {
			if scope != scopeName {
				return tokenError(http.StatusBadRequest, "invalid_scope", "the only scope is "+scopeName)
			}
		}
	}
	lifetime := time.Duration(*s.settings.get().TokenLifetime)
	return noStore(jsonAnswer(http.StatusOK, encode(map[string]any{
		"access_token": s.tokens.sign(c.at, lifetime), "token_type": "Bearer", "expires_in": int64(lifetime / time.Second), "scope": scopeName,
	})))
}

func (t *tokenIssuer) sign(now time.Time, lifetime time.Duration) string {
	token := jwt.NewWithClaims(jwt.SigningMethodHS256, claims{
		RegisteredClaims: jwt.RegisteredClaims{
			Issuer:    issuer,
			Subject:   t.clientID,
			ID:        rand.Text(),
			IssuedAt:  jwt.NewNumericDate(now),
			ExpiresAt: jwt.NewNumericDate(now.Add(lifetime)),
		},
		Scope: scopeName, Generation: t.generation.Load(),
	})
	text, _ := token.SignedString(t.key) // the key and the claims are valid: it cannot fail
	return text
}

// authorize verifies the bearer token of a request.
func (t *tokenIssuer) authorize(r *http.Request, clock func() time.Time) error {
	scheme, text, _ := strings.Cut(r.Header.Get("Authorization"), " ")
	if !strings.EqualFold(scheme, "Bearer") || text == "" {
		return errors.New("a bearer token is required")
	}
	var got claims
	_, err := jwt.ParseWithClaims(strings.TrimSpace(text), &got,
		func(*jwt.Token) (any, error) { return t.key, nil },
		jwt.WithValidMethods([]string{"HS256"}), jwt.WithIssuer(issuer),
		jwt.WithExpirationRequired(), jwt.WithTimeFunc(clock))
	switch {
	case errors.Is(err, jwt.ErrTokenExpired) || (err == nil && got.Generation != t.generation.Load()):
		return errors.New("the token has expired")
	case err != nil:
		return errors.New("the token is not valid")
	}
	return nil
}

func same(a, b string) bool {
	return subtle.ConstantTimeCompare([]byte(a), []byte(b)) == 1
}

func tokenError(status int, code, description string) answer {
	return noStore(jsonAnswer(status, encode(map[string]string{"error": code, "error_description": description})))
}

func noStore(a answer) answer {
	return a.with("Cache-Control", "no-store").with("Pragma", "no-cache")
}

// readForm reads a token request, multipart or urlencoded. Names ignore case and
// underscores: client_ID, clientId and client_id are the same field.
func readForm(r *http.Request, body []byte) (map[string]string, error) {
	r = r.Clone(r.Context())
	r.Body = io.NopCloser(bytes.NewReader(body))
	if err := r.ParseMultipartForm(maxBody); err != nil && !errors.Is(err, http.ErrNotMultipart) {
		return nil, errors.New("the body must be multipart/form-data or application/x-www-form-urlencoded")
	}
	form := map[string]string{}
	for name := range r.PostForm {
		form[fold(name)] = r.PostForm.Get(name)
	}
	return form, nil
}

// fold returns a name in lower case without underscores, for comparisons.
func fold(name string) string {
	return strings.ToLower(strings.ReplaceAll(name, "_", ""))
}
