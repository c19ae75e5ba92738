package auth

import (
	"net/http"

	"github.com/gin-gonic/gin"
	"github.com/sirupsen/logrus"

	"larder/httpapi/respond"
	"larder/internal/jsontext"
)

// sessionView is who is signed in.
type sessionView struct {
	Client string `json:"client"`
	// Connection is the only one that the client sees; null: all.
	Connection *string `json:"connection"`
	ExpiresAt  string  `json:"expiresAt"`
	// Version is larder's own.
	Version string `json:"version"`
}

func (a *Auth) newSessionView(who Caller) sessionView {
	return sessionView{Client: who.Client, Connection: respond.OrNull(who.Connection), ExpiresAt: respond.Time(who.Expires), Version: a.release}
}

// WhoAmI answers GET /ops/session: null where nobody is signed in.
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

// SignIn answers POST /ops/session: {"client", "secret"} of a client with the
// scope ops becomes a session of this browser.
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
	who := Caller{Client: client.ID, Connection: client.Connection, Expires: expires, session: true}
	c.Set(keyCaller, who)
	a.setSession(c, value)
	a.signedIn(c)
	return respond.JSON(c, http.StatusOK, respond.Result{Result: a.newSessionView(who)})
}

// authenticate checks a client and its secret. Beyond the limit of failures a wrong
// secret is answered 429; an operator's correct one is never rejected (policy H8).
func (a *Auth) authenticate(c *gin.Context, id, secret string) (ClientConfig, error) {
	client, ok := a.client(id, secret)
	if ok && Holds(client.Scopes, ScopeOps) {
		return client, nil
	}
	if wait, limited := a.signInFailures.Failed(id, a.ClientIP(c)); limited {
		return ClientConfig{}, &respond.Problem{Code: respond.CodeRateLimited, RetryAfter: wait, Msg: tooManyFailures}
	}
	_, configured := a.clients.get(id)
	a.log.WithFields(logrus.Fields{
		"event": "ops.sign_in_refused", "requestId": respond.RequestID(c), "configured": configured, "secret": ok,
	}).Warn("somebody could not sign in to /ops")
	if ok {
		return ClientConfig{}, &respond.Problem{
			Code: respond.CodeForbidden, Msg: "the client has not the scope ops", Params: map[string]any{"scope": string(ScopeOps)},
		}
	}
	return ClientConfig{}, &respond.Problem{Code: respond.CodeUnauthorized, Msg: "the client is unknown or its secret is wrong"}
}

// SignOut answers DELETE /ops/session: this browser forgets its session.
func (a *Auth) SignOut(c *gin.Context) error {
	who, _, known, err := a.session(c)
	a.setSession(c, "") // whatever it was
	if err == nil && known {
		c.Set(keyCaller, who)
		a.signedOut(c)
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
		return "", "", respond.InvalidParameter("client", "is the id of a client with the scope ops, as a text")
	case secret == "":
		return "", "", respond.InvalidParameter("secret", "is the client's secret, as a text")
	default:
		return client, secret, nil
	}
}

// OwnSite refuses what a page of another site makes a browser send, and a page
// of another name for this machine (DNS rebinding).
func (a *Auth) OwnSite(c *gin.Context) {
	if err := a.crossOrigin.Check(c.Request); err != nil {
		respond.Fail(c, &respond.Problem{Code: respond.CodeForbidden, Msg: "the request comes from a page of another site", Cause: err})
		return
	}
	if a.hosts.reboundPage(c.Request) {
		respond.Fail(c, &respond.Problem{Code: respond.CodeForbidden, Msg: notOwnHost})
	}
}

// RequireOps lets a request of ops through: with a bearer token of that scope, or
// from a browser that is signed in.
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
		respond.Fail(c, &respond.Problem{Code: respond.CodeUnauthorized, Msg: "send a bearer token with the scope ops, which /connect/token gives, or sign in at /ops"})
	case !known:
		respond.Fail(c, &respond.Problem{Code: respond.CodeUnauthorized, Msg: "the session is over; sign in again at /ops"})
	default:
		if a.OwnSite(c); !c.IsAborted() {
			c.Set(keyCaller, who)
		}
	}
}
