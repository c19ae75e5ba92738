package auth

import (
	"net/http"
	"strings"

	"github.com/gin-gonic/gin"

	"larder.local/httpapi/respond"
)

// metadata describes the token endpoint to OAuth clients (RFC 8414, section 2).
type metadata struct {
	Issuer        string   `json:"issuer"`
	TokenEndpoint string   `json:"token_endpoint"`
	Methods       []string `json:"token_endpoint_auth_methods_supported"`
	Grants        []string `json:"grant_types_supported"`
	Scopes        []Scope  `json:"scopes_supported"`
	ResponseTypes []string `json:"response_types_supported"` // none: there is no authorization endpoint
	Documentation string   `json:"service_documentation"`
}

// Metadata answers GET /.well-known/oauth-authorization-server. The addresses begin with the scheme and the host of the request,
// because larder may be reached under several. RFC 8414 wants the issuer to be that address; auth.issuer is the one in tokens,
// which only larder reads.
func (a *Auth) Metadata(c *gin.Context) error {
	base := "http://" + c.Request.Host
	if a.deps.Proxies.https(c.Request) {
		base = "https://" + c.Request.Host
	}
	if strings.HasPrefix(a.cfg.Issuer, "https://") {
		base = strings.TrimSuffix(a.cfg.Issuer, "/")
	}
	c.Header("Cache-Control", "no-cache")
	c.Header("Vary", "X-Forwarded-Proto")
	return respond.JSON(c, http.StatusOK, metadata{
		Issuer: base, TokenEndpoint: base + "/connect/token", Documentation: base + "/docs",
		Methods: []string{"client_secret_basic", "client_secret_post"},
		Grants:  []string{"client_credentials"}, ResponseTypes: []string{},
		Scopes: []Scope{ScopeMenu, ScopeOrders, ScopeOps, ScopeOpsRead, ScopeSync},
	})
}
