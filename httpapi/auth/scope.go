package auth

import (
	"net"
	"net/http"
	"slices"

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
			respond.Fail(c, unauthorized("send a bearer token with the scope "+string(want)+"; /connect/token gives one"))
		case !Holds(who.Scopes, want):
			c.Header("WWW-Authenticate", `Bearer realm="larder", error="insufficient_scope", scope="`+string(want)+`"`)
			respond.Fail(c, &respond.Problem{
				Code: respond.CodeForbidden, Msg: "the token has not the scope " + string(want), Params: map[string]any{"scope": string(want)},
			})
		default:
			c.Set(keyCaller, who)
		}
	}
}

// ClientIP is Gin's ClientIP, found sooner where no proxy is believed.
func (a *Auth) ClientIP(c *gin.Context) string {
	if len(a.deps.Proxies) == 0 {
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
		if who := CallerOf(c); who.Client != "" && who.Client != PublicClient {
			ratelimit.Take(c, l, who.Client)
		}
	}
}

// PublicClient is the name under which orders without a token are placed
// (policy H3). No configured client can have it: Config.Validate refuses.
const PublicClient = "(public)"

// IsGuest reports whether the request comes from a guest's page without a token.
func IsGuest(c *gin.Context) bool {
	return CallerOf(c).Client == PublicClient
}

// RequireOrdersOrGuest is RequireScope(ScopeOrders) that also lets a guest's page through
// without a token, where the configuration lists its origin (policy H3). What
// a guest reads is limited apart from what it places.
func (a *Auth) RequireOrdersOrGuest(budget *ratelimit.Limiter) gin.HandlerFunc {
	scoped := a.RequireScope(ScopeOrders)
	public := a.cfg.PublicOrders
	return func(c *gin.Context) {
		if len(c.Request.Header["Authorization"]) > 0 || !public.Enabled || !a.listsOrigin(c.Request) {
			scoped(c)
			return
		}
		c.Set(keyCaller, Caller{Client: PublicClient, Scopes: []Scope{ScopeOrders}})
		ratelimit.Take(c, budget, ratelimit.AddressKey(a.ClientIP(c)))
	}
}

// listsOrigin reports whether a request comes from a page of a listed origin.
func (a *Auth) listsOrigin(r *http.Request) bool {
	origins, origin := a.cfg.PublicOrders.Origins, r.Header.Get("Origin")
	return origin != OriginSelf && slices.Contains(origins, origin) || slices.Contains(origins, OriginSelf) && a.hosts.ownOrigin(r)
}
