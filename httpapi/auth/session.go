package auth

import (
	"crypto/hmac"
	"crypto/sha256"
	"errors"
	"net/http"
	"slices"
	"time"

	"github.com/gin-gonic/gin"

	"larder.local/httpapi/respond"
	"larder.local/internal/jsontext"
	"larder.local/internal/menu"
)

// The session of an operator's browser is a cookie. Over https its name has the prefix that
// binds it to this host and to https, so only larder can have set it.
const (
	cookiePlain  = "larder_ops"
	cookieSecure = "__Host-larder_ops"

	maxSession  = 2048 // bytes of the cookie's value
	maxSessions = 4    // cookies of that name that are read
)

// tokenSecret signs the bearer tokens of all clients.
func (k *signingKey) tokenSecret(ClientConfig) []byte { return k.secret }

// sessionSecret signs the sessions of a client, which are tokens too. Neither is valid as the other. It
// includes a hash of the client's secret, so a changed secret ends the sessions.
func (k *signingKey) sessionSecret(client ClientConfig) []byte {
	derived := hmac.New(sha256.New, k.secret)
	derived.Write([]byte("larder ops session 2\n"))
	sum := sha256.Sum256([]byte(client.Secret))
	derived.Write(sum[:])
	return derived.Sum(nil)
}

// session returns the caller of the session cookie with its client's current rights, or nil if the session
// has ended or is invalid. given is false without a cookie. It returns an error if the key cannot be read from Redis.
func (a *Auth) session(c *gin.Context) (who *Caller, given bool, err error) {
	cookies := c.Request.CookiesNamed(a.cookieName(c))
	for _, cookie := range cookies[:min(len(cookies), maxSessions)] {
		if len(cookie.Value) > maxSession {
			continue
		}
		read, err := a.read(c.Request.Context(), cookie.Value, (*signingKey).sessionSecret)
		if _, invalid := errors.AsType[*respond.Problem](err); err != nil && !invalid {
			return nil, true, err
		}
		if err == nil && Holds(read.Scopes, ScopeOpsRead) {
			read.session = true
			return &read, true, nil
		}
	}
	return nil, len(cookies) > 0, nil
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
	// Scopes are ops and ops.read, or only the second one: then the client may read everything and change nothing.
	Scopes []Scope `json:"scopes"`
	// Version is larder's version.
	Version string `json:"version"`
}

func (a *Auth) newSessionView(who *Caller) sessionView {
	return sessionView{who.Client, respond.OrNull(who.Connection), menu.FormatTime(who.Expires), who.Scopes, a.deps.Version}
}

// WhoAmI answers GET /ops/session: the signed-in client, or null.
func (a *Auth) WhoAmI(c *gin.Context) error {
	who, _, err := a.session(c)
	if who == nil {
		return respond.Answer(c, nil, err)
	}
	return respond.Answer(c, a.newSessionView(who), nil)
}

// SignIn answers POST /ops/session: it starts a session for {"client", "secret"} of a client with the scope ops or ops.read.
func (a *Auth) SignIn(c *gin.Context) error {
	id, secret, err := readSignIn(c)
	if err != nil {
		return err
	}
	client, err := a.authenticate(c, id, secret)
	if err != nil {
		return err
	}
	expires := a.deps.Clock().Add(a.cfg.SessionLifetime).Truncate(time.Second)
	scopes := []Scope{ScopeOps, ScopeOpsRead} // both: a client that loses the first one keeps the second
	scopes = slices.DeleteFunc(scopes, func(scope Scope) bool { return !Holds(client.Scopes, scope) })
	value, err := a.issue(c.Request.Context(), client, scopes, expires, (*signingKey).sessionSecret)
	if err != nil {
		return err
	}
	who := &Caller{Client: client.ID, Scopes: scopes, Connection: client.Connection, Expires: expires, session: true}
	c.Set(keyCaller, who)
	a.setSession(c, value)
	a.deps.SignedIn(c)
	return respond.Answer(c, a.newSessionView(who), nil)
}

// authenticate checks a client and its secret. Above the limit of failures, it answers a wrong
// secret with 429. It never rejects a correct one (policy H8).
func (a *Auth) authenticate(c *gin.Context, id, secret string) (ClientConfig, error) {
	client, ok := a.client(id, secret)
	if ok && Holds(client.Scopes, ScopeOpsRead) {
		return client, nil
	}
	a.failed(c, routeSession)
	if wait, limited := a.deps.SignInFailures.Failed(id, a.ClientIP(c)); limited {
		return ClientConfig{}, &respond.Problem{Code: respond.CodeRateLimited, RetryAfter: wait, Msg: tooManyFailures}
	}
	if ok {
		return ClientConfig{}, Lacks("the client", ScopeOps)
	}
	return ClientConfig{}, unauthorized("the client is unknown or its secret is wrong")
}

// SignOut answers DELETE /ops/session: it deletes this browser's cookie.
func (a *Auth) SignOut(c *gin.Context) error {
	who, _, _ := a.session(c)
	a.setSession(c, "") // whatever its value
	if who != nil {
		c.Set(keyCaller, who)
		a.deps.SignedOut(c)
	}
	c.Header("Cache-Control", "no-store")
	respond.Status(c, http.StatusNoContent)
	return nil
}

// readSignIn reads the body {"client": "…", "secret": "…"}.
func readSignIn(c *gin.Context) (client, secret string, err error) {
	err = respond.ReadFields(c, `{"client": "…", "secret": "…"}`, map[string]func(*jsontext.Reader) bool{
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
	if a.reboundPage(c.Request) {
		respond.Fail(c, &respond.Problem{Code: respond.CodeForbidden, Msg: notOwnHost})
	}
}

// RequireOps is RequireScope, also for browsers that are signed in.
func (a *Auth) RequireOps(want Scope, others ...Scope) gin.HandlerFunc {
	bearer := a.RequireScope(want, others...)
	return func(c *gin.Context) {
		if _, given := c.Request.Header["Authorization"]; given {
			bearer(c)
			return
		}
		who, given, err := a.session(c)
		switch {
		case err != nil:
			respond.Fail(c, err)
		case !given:
			respond.Fail(c, unauthorized("send a bearer token with the scope "+string(want)+" from /connect/token, or sign in at /ops"))
		case who == nil:
			respond.Fail(c, unauthorized("the session has ended; sign in again at /ops"))
		case !who.holdsOne(want, others):
			respond.Fail(c, Lacks("the signed-in client", want))
		default:
			if a.OwnSite(c); !c.IsAborted() {
				setCaller(c, who)
			}
		}
	}
}
