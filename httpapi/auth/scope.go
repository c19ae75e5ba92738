package auth

import (
	"net"

	"github.com/gin-gonic/gin"

	"larder/httpapi/ratelimit"
	"larder/httpapi/respond"
)

// RequireScope lets a request through that holds the scope, and puts its caller into
// the context. Menu routes are open to anyone where the configuration says so;
// a token that is given must be good all the same.
func (a *Auth) RequireScope(want Scope) gin.HandlerFunc {
	return func(c *gin.Context) {
		who, given, err := a.bearer(c)
		switch {
		case err != nil:
			if respond.ProblemOf(err).Code == respond.CodeUnauthorized { // RFC 6750, section 3
				c.Header("WWW-Authenticate", `Bearer realm="larder", error="invalid_token"`)
			}
			respond.Fail(c, err)
		case !given && want == ScopeMenu && a.cfg.MenuIsOpen():
			// open: no caller in the context
		case !given:
			respond.Fail(c, &respond.Problem{Code: respond.CodeUnauthorized, Msg: "send a bearer token with the scope " + string(want) + "; /connect/token gives one"})
		case !Holds(who.Scopes, want):
			c.Header("WWW-Authenticate", `Bearer realm="larder", error="insufficient_scope", scope="`+string(want)+`"`)
			respond.Fail(c, &respond.Problem{Code: respond.CodeForbidden, Msg: "the token has not the scope " + string(want), Params: map[string]any{"scope": string(want)}})
		default:
			c.Set(keyCaller, who)
		}
	}
}

// ClientIP is Gin's ClientIP, found sooner where no proxy is believed.
func (a *Auth) ClientIP(c *gin.Context) string {
	if len(a.proxies) == 0 {
		if host, _, err := net.SplitHostPort(c.Request.RemoteAddr); err == nil {
			return host
		}
	}
	return c.ClientIP()
}

// LimitClient refuses a client that asks too often. A guest's page has its own
// limit by address (RequireOrdersOrGuest).
func LimitClient(l *ratelimit.Limiter) gin.HandlerFunc {
	return func(c *gin.Context) {
		if who, known := CallerOf(c); known && who.Client != PublicClient {
			ratelimit.Take(c, l, who.Client)
		}
	}
}
