package httpapi

import (
	"net/http"
	"slices"

	"github.com/gin-gonic/gin"

	"larder/httpapi/ratelimit"
)

// publicClient is the name under which orders without a token are placed
// (policy H3). No configured client can have it: AuthConfig.Validate refuses.
const publicClient = "(public)"

// isGuest reports whether the request comes from a guest's page without a token.
func isGuest(c *gin.Context) bool {
	who, _ := callerOf(c)
	return who.Client == publicClient
}

// requireOrdersOrGuest is requireScope(ScopeOrders) that also lets a guest's page through
// without a token, where the configuration lists its origin (policy H3). What
// a guest reads is limited apart from what it places.
func (a *authority) requireOrdersOrGuest(budget *ratelimit.Limiter) gin.HandlerFunc {
	scoped := a.requireScope(ScopeOrders)
	public := a.cfg.PublicOrders
	return func(c *gin.Context) {
		if len(c.Request.Header["Authorization"]) > 0 || !public.Enabled || !a.listsOrigin(c.Request) {
			scoped(c)
			return
		}
		c.Set(keyCaller, caller{Client: publicClient, Scopes: []Scope{ScopeOrders}})
		ratelimit.Take(c, budget, ratelimit.AddressKey(a.clientIP(c)))
	}
}

// listsOrigin reports whether a request comes from a page of a listed origin.
func (a *authority) listsOrigin(r *http.Request) bool {
	origins, origin := a.cfg.PublicOrders.Origins, r.Header.Get("Origin")
	return origin != OriginSelf && slices.Contains(origins, origin) || slices.Contains(origins, OriginSelf) && a.hosts.ownOrigin(r)
}
