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
	"github.com/sirupsen/logrus"

	"larder/httpapi/respond"
	"larder/internal/jsontext"
	"larder/internal/menu"
)

// The session of an operator's browser is a cookie. Over https its name has the prefix that
// binds it to this host and to https, so only larder can have set it.
const (
	cookiePlain  = "larder_ops"
	cookieSecure = "__Host-larder_ops"

	maxSession  = 2048 // bytes of the cookie's value
	maxSessions = 4    // cookies of that name that are read
)

// session is the content of the cookie, without its seal.
type session struct {
	Key     string `json:"k"` // the id of the signing key
	Client  string `json:"c"`
	Expires int64  `json:"e"` // Unix seconds
}

// seal returns the HMAC of a session's text. It includes a hash of the client's secret, so a
// changed secret ends the session.
func (k *signingKey) seal(text string, client ClientConfig) []byte {
	derived := hmac.New(sha256.New, k.secret) // not the key of the tokens itself
	derived.Write([]byte("larder ops session 1\n"))
	sum := sha256.Sum256([]byte(client.Secret))
	seal := hmac.New(sha256.New, derived.Sum(nil))
	seal.Write(sum[:])
	seal.Write([]byte(text))
	return seal.Sum(nil)
}

// begin creates the cookie's value for an authenticated client.
func (a *Auth) begin(ctx context.Context, client ClientConfig) (value string, expires time.Time, err error) {
	key, err := a.keys.current(ctx)
	if err != nil {
		return "", time.Time{}, err
	}
	expires = a.deps.Clock().Add(a.cfg.SessionLifetime).Truncate(time.Second)
	said, err := json.Marshal(session{Key: key.id, Client: client.ID, Expires: expires.Unix()})
	if err != nil {
		return "", time.Time{}, err
	}
	text := base64.RawURLEncoding.EncodeToString(said)
	return text + "." + base64.RawURLEncoding.EncodeToString(key.seal(text, client)), expires, nil
}

// resume checks the cookie's value and returns its caller with the client's current rights. known is false if
// the session has ended or is invalid. It returns an error if the key cannot be read from Redis.
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
	if !hmac.Equal(seal, key.seal(text, client)) || !a.deps.Clock().Before(expires) {
		return Caller{}, false, nil
	}
	return Caller{
		Client:     client.ID,
		Scopes:     []Scope{ScopeOps},
		Connection: client.Connection,
		Expires:    expires,
		among:      among,
		session:    true,
	}, true, nil
}

// readSession parses a cookie's value. The caller checks the seal.
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

// session returns the caller of the session cookie. given is false without a cookie.
func (a *Auth) session(c *gin.Context) (who Caller, given, known bool, err error) {
	cookies := c.Request.CookiesNamed(a.cookieName(c))
	for _, cookie := range cookies[:min(len(cookies), maxSessions)] {
		if who, known, err = a.resume(c.Request.Context(), cookie.Value); known || err != nil {
			break
		}
	}
	return who, len(cookies) > 0, known, err
}

// cookieName returns the name of the cookie on this connection: over https only the bound name.
func (a *Auth) cookieName(c *gin.Context) string {
	if a.deps.Proxies.https(c.Request) {
		return cookieSecure
	}
	return cookiePlain
}

// setSession sets the cookie, or deletes it if the value is "".
func (a *Auth) setSession(c *gin.Context, value string) {
	cookie := &http.Cookie{ //nolint:gosec // Secure if the browser uses https; over http it would be dropped
		Name:     a.cookieName(c),
		Value:    value,
		Path:     "/",
		HttpOnly: true,
		SameSite: http.SameSiteStrictMode,
		MaxAge:   int(a.cfg.SessionLifetime / time.Second),
	}
	cookie.Secure = cookie.Name == cookieSecure
	if value == "" {
		cookie.MaxAge = -1
	}
	http.SetCookie(c.Writer, cookie)
}

// sessionView is the signed-in client.
type sessionView struct {
	Client string `json:"client"`
	// Connection is the only connection that the client sees; null means all.
	Connection *string `json:"connection"`
	ExpiresAt  string  `json:"expiresAt"`
	// Version is larder's version.
	Version string `json:"version"`
}

func (a *Auth) newSessionView(who Caller) sessionView {
	return sessionView{who.Client, respond.OrNull(who.Connection), menu.FormatTime(who.Expires), a.deps.Version}
}

// WhoAmI answers GET /ops/session: the signed-in client, or null.
func (a *Auth) WhoAmI(c *gin.Context) error {
	who, _, known, err := a.session(c)
	switch {
	case err != nil:
		return err
	case !known:
		return respond.JSON(c, http.StatusOK, respond.Result{Result: nil})
	default:
		return respond.JSON(c, http.StatusOK, respond.Result{Result: a.newSessionView(who)})
	}
}

// SignIn answers POST /ops/session: it starts a session for {"client", "secret"} of a client
// with the scope ops.
func (a *Auth) SignIn(c *gin.Context) error {
	id, secret, err := readSignIn(c)
	if err != nil {
		return err
	}
	client, err := a.authenticate(c, id, secret)
	if err != nil {
		return err
	}
	value, expires, err := a.begin(c.Request.Context(), client)
	if err != nil {
		return err
	}
	who := Caller{
		Client:     client.ID,
		Connection: client.Connection,
		Expires:    expires,
		session:    true,
	}
	c.Set(keyCaller, who)
	a.setSession(c, value)
	a.deps.SignedIn(c)
	return respond.JSON(c, http.StatusOK, respond.Result{Result: a.newSessionView(who)})
}

// authenticate checks a client and its secret. Above the limit of failures, it answers a wrong
// secret with 429. It never rejects a correct one (policy H8).
func (a *Auth) authenticate(c *gin.Context, id, secret string) (ClientConfig, error) {
	client, ok := a.client(id, secret)
	if ok && Holds(client.Scopes, ScopeOps) {
		return client, nil
	}
	if wait, limited := a.deps.SignInFailures.Failed(id, a.ClientIP(c)); limited {
		return ClientConfig{}, &respond.Problem{Code: respond.CodeRateLimited, RetryAfter: wait, Msg: tooManyFailures}
	}
	_, configured := a.clients.get(id)
	a.deps.Log.WithFields(logrus.Fields{
		"event":      "ops.sign_in_refused",
		"requestId":  respond.RequestID(c),
		"configured": configured,
		"secret":     ok,
	}).Warn("sign-in to /ops refused")
	if ok {
		return ClientConfig{}, &respond.Problem{
			Code: respond.CodeForbidden, Msg: "the client does not have the scope ops", Params: map[string]any{"scope": string(ScopeOps)},
		}
	}
	return ClientConfig{}, unauthorized("the client is unknown or its secret is wrong")
}

// SignOut answers DELETE /ops/session: it deletes this browser's cookie.
func (a *Auth) SignOut(c *gin.Context) error {
	who, _, known, err := a.session(c)
	a.setSession(c, "") // whatever its value
	if err == nil && known {
		c.Set(keyCaller, who)
		a.deps.SignedOut(c)
	}
	c.Header("Cache-Control", "no-store")
	respond.Status(c, http.StatusNoContent)
	return nil
}

// readSignIn reads the body {"client": "…", "secret": "…"}.
func readSignIn(c *gin.Context) (client, secret string, err error) {
	body, err := respond.ReadJSON(c, nil)
	if err != nil {
		return "", "", err
	}
	err = respond.ReadObject(body, `{"client": "…", "secret": "…"}`, map[string]func(*jsontext.Reader) bool{
		"client": func(r *jsontext.Reader) (ok bool) { client, ok = r.Text(); return ok },
		"secret": func(r *jsontext.Reader) (ok bool) { secret, ok = r.Text(); return ok },
	})
	switch {
	case err != nil:
		return "", "", err
	case client == "":
		return "", "", respond.InvalidParameter("client", "must be the id of a client with the scope ops, as a string")
	case secret == "":
		return "", "", respond.InvalidParameter("secret", "must be the client's secret, as a string")
	default:
		return client, secret, nil
	}
}

// OwnSite rejects requests from pages of other sites, and from pages under another name of this
// machine (DNS rebinding).
func (a *Auth) OwnSite(c *gin.Context) {
	if err := a.crossOrigin.Check(c.Request); err != nil {
		respond.Fail(c, &respond.Problem{Code: respond.CodeForbidden, Msg: "the request comes from a page of another site", Cause: err})
		return
	}
	if a.hosts.reboundPage(c.Request) {
		respond.Fail(c, &respond.Problem{Code: respond.CodeForbidden, Msg: notOwnHost})
	}
}

// RequireOps passes requests with a bearer token of the scope ops, or from a signed-in browser.
func (a *Auth) RequireOps(c *gin.Context) {
	if _, given := c.Request.Header["Authorization"]; given {
		a.bearerOps(c)
		return
	}
	who, given, known, err := a.session(c)
	switch {
	case err != nil:
		respond.Fail(c, err)
	case !given:
		respond.Fail(c, unauthorized("send a bearer token with the scope ops from /connect/token, or sign in at /ops"))
	case !known:
		respond.Fail(c, unauthorized("the session has ended; sign in again at /ops"))
	default:
		if a.OwnSite(c); !c.IsAborted() {
			c.Set(keyCaller, who)
		}
	}
}
