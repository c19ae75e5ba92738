package httpapi

import (
	"net/http"
	"slices"
	"strings"

	"github.com/gin-gonic/gin"

	"larder/httpapi/ratelimit"
	"larder/httpapi/respond"
	"larder/internal/jsontext"
	"larder/ordering"
	"larder/ordering/violation"
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
func (s *Server) requireOrdersOrGuest(budget *ratelimit.Limiter) gin.HandlerFunc {
	scoped := s.requireScope(ScopeOrders)
	public := s.authCfg.PublicOrders
	return func(c *gin.Context) {
		if len(c.Request.Header["Authorization"]) > 0 || !public.Enabled || !s.listsOrigin(c.Request) {
			scoped(c)
			return
		}
		c.Set(keyCaller, caller{Client: publicClient, Scopes: []Scope{ScopeOrders}})
		ratelimit.Take(c, budget, ratelimit.AddressKey(s.clientIP(c)))
	}
}

// listsOrigin reports whether a request comes from a page of a listed origin.
func (s *Server) listsOrigin(r *http.Request) bool {
	origins, origin := s.authCfg.PublicOrders.Origins, r.Header.Get("Origin")
	return origin != OriginSelf && slices.Contains(origins, origin) || slices.Contains(origins, OriginSelf) && s.cfg.ownOrigin(r)
}

// checkPublicOrder holds an order without a token to the payment types that
// the configuration leaves to guests (policy H3). It reports the first violation
// only: a body can repeat the field thousands of times (policy H7).
func (s *Server) checkPublicOrder(body []byte, language string) error {
	allowed := s.authCfg.PublicOrders.PaymentTypes
	var violations []violation.Violation
	reader := jsontext.NewReader(string(body), respond.MaxDepth)
	for name := range reader.Members() {
		if violations != nil || jsontext.FoldName(name) != "paymenttypeid" {
			continue
		}
		if kind, ok := reader.Text(); ok && !slices.Contains(allowed, kind) {
			violations = append(violations, violation.New("/"+name, violation.ValueNotAllowed, violation.Params{"allowed": allowed}, language))
		}
	}
	if err := reader.Err(); err != nil || violations == nil {
		return err
	}
	return &respond.Problem{
		Code: respond.CodeValidationFailed, Violations: violations,
		Msg: "without a token only these payment types are taken: " + strings.Join(allowed, ", ") + "; see errors",
	}
}

// guestView is all that a guest's page may read of an order (policy H3).
type guestView struct {
	State   ordering.State `json:"state"`
	Total   respond.Number `json:"total"`
	OrderID *string        `json:"orderID"`
}
