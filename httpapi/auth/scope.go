package auth

import (
	"net"
	"net/http"
	"slices"

	"github.com/gin-gonic/gin"

	"larder.local/httpapi/ratelimit"
	"larder.local/httpapi/respond"
)

// RequireScope passes requests with one of the scopes and stores their caller in the context. Errors name the first one.
// With auth.open_menu, menu routes need no token, but a token that is sent must be valid.
func (a *Auth) RequireScope(want Scope, others ...Scope) gin.HandlerFunc {
	return func(c *gin.Context) {
		who, given, err := a.bearer(c)
		switch {
		case err != nil:
			if respond.ProblemOf(err).Code == respond.CodeUnauthorized { // RFC 6750, section 3
				c.Header("WWW-Authenticate", `Bearer realm="larder", error="invalid_token"`)
			}
			respond.Fail(c, err)
		case !given && want == ScopeMenu && a.cfg.MenuIsOpen():
			// public: no caller in the context
		case !given:
			respond.Fail(c, unauthorized("send a bearer token with the scope "+string(want)+"; get one at /connect/token"))
		case !who.holdsOne(want, others):
			c.Header("WWW-Authenticate", `Bearer realm="larder", error="insufficient_scope", scope="`+string(want)+`"`)
			respond.Fail(c, Lacks("the token", want))
		default:
			setCaller(c, who)
		}
	}
}

func (w Caller) holdsOne(want Scope, others []Scope) bool {
	return Holds(w.Scopes, want) || slices.ContainsFunc(others, func(scope Scope) bool { return Holds(w.Scopes, scope) })
}

// Lacks returns the problem of a caller that does not have a scope.
func Lacks(who string, want Scope) *respond.Problem {
	return &respond.Problem{
		Code: respond.CodeForbidden, Msg: who + " does not have the scope " + string(want), Params: map[string]any{"scope": string(want)},
	}
}

// setCaller stores the caller of a request.
func setCaller(c *gin.Context, who *Caller) {
	c.Set(keyCaller, who)
	if Holds(who.Scopes, ScopeOpsRead) {
		respond.SetOperator(c)
	}
}

// ClientIP returns Gin's ClientIP. It is faster if there are no trusted proxies.
func (a *Auth) ClientIP(c *gin.Context) string {
	if len(a.deps.Proxies) == 0 {
		if host, _, err := net.SplitHostPort(c.Request.RemoteAddr); err == nil {
			return host
		}
	}
	return c.ClientIP()
}

// LimitClient limits the requests of a client. Guests have their own limit by address (RequireOrdersOrGuest).
func LimitClient(l *ratelimit.Limiter) gin.HandlerFunc {
	return func(c *gin.Context) {
		if who := CallerOf(c); who.Client != "" && who.Client != PublicClient {
			ratelimit.Take(c, l, who.Client)
		}
	}
}

// PublicClient is the client id of orders without a token (policy H3). Config.Validate rejects
// it as the id of a client.
const PublicClient = "(public)"

// IsGuest reports whether the request comes from a guest's page without a token.
func IsGuest(c *gin.Context) bool {
	return CallerOf(c).Client == PublicClient
}

// RequireOrdersOrGuest is RequireScope(ScopeOrders), but a guest's page needs no token if the
// configuration lists its origin (policy H3). budget limits the requests of guests by address.
func (a *Auth) RequireOrdersOrGuest(budget *ratelimit.Limiter) gin.HandlerFunc {
	scoped := a.RequireScope(ScopeOrders)
	guest := &Caller{Client: PublicClient, Scopes: []Scope{ScopeOrders}}
	return func(c *gin.Context) {
		if !a.FromGuest(c.Request) {
			scoped(c)
			return
		}
		c.Set(keyCaller, guest)
		ratelimit.Take(c, budget, ratelimit.AddressKey(a.ClientIP(c)))
	}
}

// FromGuest reports whether a request has no token and comes from a page whose guests may place orders (policy H3).
func (a *Auth) FromGuest(r *http.Request) bool {
	if len(r.Header["Authorization"]) > 0 || !a.cfg.PublicOrders.Enabled {
		return false
	}
	origins, origin := a.cfg.PublicOrders.Origins, r.Header.Get("Origin")
	return origin != OriginSelf && slices.Contains(origins, origin) || slices.Contains(origins, OriginSelf) && a.ownOrigin(r)
}
