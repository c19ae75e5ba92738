package httpapi

import (
	"net/http"

	"github.com/gin-gonic/gin"
	"github.com/sirupsen/logrus"

	"larder/internal/jsontext"
	"larder/internal/menu"
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

func (s *Server) newSessionView(who caller) sessionView {
	return sessionView{Client: who.Client, Connection: orNull(who.Connection), ExpiresAt: menu.FormatTime(who.Expires), Version: s.release}
}

// whoAmI answers GET /ops/session: null where nobody is signed in.
func (s *Server) whoAmI(c *gin.Context) error {
	who, _, known, err := s.session(c)
	switch {
	case err != nil:
		return err
	case !known:
		return answer(c, http.StatusOK, result{nil})
	default:
		return answer(c, http.StatusOK, result{s.newSessionView(who)})
	}
}

// signIn answers POST /ops/session: {"client", "secret"} of a client with the
// scope ops becomes a session of this browser.
func (s *Server) signIn(c *gin.Context) error {
	id, secret, err := readSignIn(c)
	if err != nil {
		return err
	}
	client, err := s.authenticate(c, id, secret)
	if err != nil {
		return err
	}
	value, expires, err := s.auth.begin(c.Request.Context(), client)
	if err != nil {
		return err
	}
	who := caller{Client: client.ID, Connection: client.Connection, Expires: expires, session: true}
	c.Set(keyCaller, who)
	s.setSession(c, value)
	s.audit(c, auditEntry{Action: actionSignIn})
	return answer(c, http.StatusOK, result{s.newSessionView(who)})
}

// authenticate checks a client and its secret. Beyond the limit of failures a wrong
// secret is answered 429; an operator's correct one is never rejected (policy H8).
func (s *Server) authenticate(c *gin.Context, id, secret string) (ClientConfig, error) {
	client, ok := s.auth.client(id, secret)
	if ok && holds(client.Scopes, ScopeOps) {
		return client, nil
	}
	if wait, limited := s.signInFailures.failed(id, s.clientIP(c)); limited {
		return ClientConfig{}, &problem{code: CodeRateLimited, retryAfter: wait, msg: tooManyFailures}
	}
	_, configured := s.auth.clients.get(id)
	s.log.WithFields(logrus.Fields{
		"event": "ops.sign_in_refused", "requestId": idOf(c), "configured": configured, "secret": ok,
	}).Warn("somebody could not sign in to /ops")
	if ok {
		return ClientConfig{}, &problem{
			code: CodeForbidden, msg: "the client has not the scope ops", params: map[string]any{"scope": string(ScopeOps)},
		}
	}
	return ClientConfig{}, &problem{code: CodeUnauthorized, msg: "the client is unknown or its secret is wrong"}
}

// signOut answers DELETE /ops/session: this browser forgets its session.
func (s *Server) signOut(c *gin.Context) error {
	who, _, known, err := s.session(c)
	s.setSession(c, "") // whatever it was
	if err == nil && known {
		c.Set(keyCaller, who)
		s.audit(c, auditEntry{Action: actionSignOut})
	}
	c.Header("Cache-Control", "no-store")
	writeStatus(c, http.StatusNoContent)
	return nil
}

// readSignIn reads the body {"client": "…", "secret": "…"}.
func readSignIn(c *gin.Context) (client, secret string, err error) {
	body, err := readJSON(c, nil)
	if err != nil {
		return "", "", err
	}
	err = readObject(body, `{"client": "…", "secret": "…"}`, map[string]func(*jsontext.Reader) bool{
		"client": func(r *jsontext.Reader) (ok bool) { client, ok = r.Text(); return ok },
		"secret": func(r *jsontext.Reader) (ok bool) { secret, ok = r.Text(); return ok },
	})
	switch {
	case err != nil:
		return "", "", err
	case client == "":
		return "", "", invalid("client", "is the id of a client with the scope ops, as a text")
	case secret == "":
		return "", "", invalid("secret", "is the client's secret, as a text")
	default:
		return client, secret, nil
	}
}

// ownSite refuses what a page of another site makes a browser send, and a page
// of another name for this machine (DNS rebinding).
func (s *Server) ownSite(c *gin.Context) {
	if err := s.crossOrigin.Check(c.Request); err != nil {
		fail(c, &problem{code: CodeForbidden, msg: "the request comes from a page of another site", err: err})
		return
	}
	if s.cfg.reboundPage(c.Request) {
		fail(c, &problem{code: CodeForbidden, msg: notOwnHost})
	}
}

// requireOps lets a request of ops through: with a bearer token of that scope, or
// from a browser that is signed in.
func (s *Server) requireOps(c *gin.Context) {
	if _, given := c.Request.Header["Authorization"]; given {
		s.bearerOps(c)
		return
	}
	who, given, known, err := s.session(c)
	switch {
	case err != nil:
		fail(c, err)
	case !given:
		fail(c, &problem{code: CodeUnauthorized, msg: "send a bearer token with the scope ops, which /connect/token gives, or sign in at /ops"})
	case !known:
		fail(c, &problem{code: CodeUnauthorized, msg: "the session is over; sign in again at /ops"})
	default:
		if s.ownSite(c); !c.IsAborted() {
			c.Set(keyCaller, who)
		}
	}
}
