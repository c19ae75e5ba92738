package auth

import (
	"net/http"
	"slices"

	"github.com/gin-gonic/gin"

	"larder/httpapi/ratelimit"
)

// PublicClient is the name under which orders without a token are placed
// (policy H3). No configured client can have it: Config.Validate refuses.
const PublicClient = "(public)"

// IsGuest reports whether the request comes from a guest's page without a token.
func IsGuest(c *gin.Context) bool {
	who, _ := CallerOf(c)
	return who.Client == PublicClient
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
