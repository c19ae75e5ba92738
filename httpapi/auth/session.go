package auth

import (
	"context"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"net/http"
	"strings"
	"time"

	"github.com/gin-gonic/gin"
)

// The session of an operator's browser is a cookie. Over https its name has the
// prefix that binds it to this host and to https: nobody beside larder can have
// put it there.
const (
	cookiePlain  = "larder_ops"
	cookieSecure = "__Host-larder_ops"

	maxSession  = 2048 // bytes of the cookie's value
	maxSessions = 4    // cookies of that name that are looked at
)

// session is what the cookie says, before its seal.
type session struct {
	Key     string `json:"k"` // the id of the signing key
	Client  string `json:"c"`
	Expires int64  `json:"e"` // Unix seconds
}

// seal is the HMAC of a session's text. The client's secret is part of it, as a
// hash: with another secret the session is over.
func (k *signingKey) seal(text string, client ClientConfig) []byte {
	derived := hmac.New(sha256.New, k.secret) // never the key of the tokens itself
	derived.Write([]byte("larder ops session 1\n"))
	sum := sha256.Sum256([]byte(client.Secret))
	seal := hmac.New(sha256.New, derived.Sum(nil))
	seal.Write(sum[:])
	seal.Write([]byte(text))
	return seal.Sum(nil)
}

// begin makes the cookie's value for a client whose secret was right.
func (a *Auth) begin(ctx context.Context, client ClientConfig) (value string, expires time.Time, err error) {
	key, err := a.keys.current(ctx)
	if err != nil {
		return "", time.Time{}, err
	}
	expires = a.clock().Add(a.cfg.SessionLifetime).Truncate(time.Second)
	said, err := json.Marshal(session{Key: key.id, Client: client.ID, Expires: expires.Unix()})
	if err != nil {
		return "", time.Time{}, err
	}
	text := base64.RawURLEncoding.EncodeToString(said)
	return text + "." + base64.RawURLEncoding.EncodeToString(key.seal(text, client)), expires, nil
}

// resume reads the cookie's value: whose session it is, as the client is
// configured now. known is false for one that is over, or was never larder's;
// the error is of a Redis that has the key and cannot be asked.
func (a *Auth) resume(ctx context.Context, value string) (who Caller, known bool, err error) {
	said, text, seal, readable := readSession(value)
	if !readable {
		return Caller{}, false, nil
	}
	among := a.clients.now.Load()
	client, configured := among.byID[said.Client]
	if !configured || !Holds(client.Scopes, ScopeOps) {
		return Caller{}, false, nil
	}
	key, err := a.keys.byID(ctx, said.Key)
	if err != nil || key == nil {
		return Caller{}, false, err
	}
	expires := time.Unix(said.Expires, 0)
	if !hmac.Equal(seal, key.seal(text, client)) || !a.clock().Before(expires) {
		return Caller{}, false, nil
	}
	return Caller{
		Client: client.ID, Scopes: []Scope{ScopeOps}, Connection: client.Connection, Expires: expires, among: among, session: true,
	}, true, nil
}

// readSession takes a cookie's value apart: what it says, that as text, and the
// seal, which is still to be checked.
func readSession(value string) (said session, text string, seal []byte, readable bool) {
	text, sealed, _ := strings.Cut(value, ".")
	seal, err := base64.RawURLEncoding.DecodeString(sealed)
	if err != nil || len(value) > maxSession {
		return said, "", nil, false
	}
	raw, err := base64.RawURLEncoding.DecodeString(text)
	if err != nil {
		return said, "", nil, false
	}
	err = json.Unmarshal(raw, &said)
	return said, text, seal, err == nil
}

// session reads whose browser asks. given is false where it sent no cookie.
func (a *Auth) session(c *gin.Context) (who Caller, given, known bool, err error) {
	cookies := c.Request.CookiesNamed(a.cookieName(c))
	for _, cookie := range cookies[:min(len(cookies), maxSessions)] {
		if who, known, err = a.resume(c.Request.Context(), cookie.Value); known || err != nil {
			break
		}
	}
	return who, len(cookies) > 0, known, err
}

// cookieName is the name that counts on this connection: over https the bound
// one alone.
func (a *Auth) cookieName(c *gin.Context) string {
	if a.proxies.https(c.Request) {
		return cookieSecure
	}
	return cookiePlain
}

// setSession puts the cookie into the browser, or takes it away: value "".
func (a *Auth) setSession(c *gin.Context, value string) {
	cookie := &http.Cookie{ //nolint:gosec // Secure wherever the browser speaks https; over http it would be thrown away
		Name: a.cookieName(c), Value: value, Path: "/", HttpOnly: true, SameSite: http.SameSiteStrictMode,
		MaxAge: int(a.cfg.SessionLifetime / time.Second),
	}
	cookie.Secure = cookie.Name == cookieSecure
	if value == "" {
		cookie.MaxAge = -1
	}
	http.SetCookie(c.Writer, cookie)
}
