package httpapi

import (
	"slices"
	"strings"

	"github.com/gin-gonic/gin"

	"larder/httpapi/auth"
	"larder/httpapi/menus"
)

// cors is who may read the public routes from a page of another origin. An
// origin that is not listed gets the plain answer without CORS headers, which
// its browser then withholds: never a 403.
type cors struct {
	any     bool
	origins []string
}

func newCORS(cfg Config, public auth.PublicOrders) cors {
	c := cors{any: slices.Contains(cfg.CORSOrigins, "*"), origins: slices.Clone(cfg.CORSOrigins)}
	if public.Enabled {
		c.origins = append(c.origins, public.Origins...) // policy H3: a guest's page must be able to call
		c.origins = slices.DeleteFunc(c.origins, func(origin string) bool { return origin == auth.OriginSelf })
	}
	return c
}

// header puts the CORS headers of an answer, and Vary wherever the answer
// depends on the origin. Pages of other origins may never use ops or the token
// endpoint: a page holds no secret (policy H3).
func (c cors) header(g *gin.Context) {
	path := g.Request.URL.Path
	if !strings.HasPrefix(path, "/v1/") || path == "/v1/ops" || strings.HasPrefix(path, "/v1/ops/") {
		return
	}
	header := menus.HeaderFields(g.Writer.Header())
	if c.Varies() {
		header.Text("Vary", "Origin")
	}
	c.WriteHeaders(header, g.Request.Header.Get("Origin"))
}

// Varies reports whether answers depend on the origin.
func (c cors) Varies() bool { return !c.any && len(c.origins) > 0 }

// WriteHeaders puts the fields of an answer to a page of the origin.
func (c cors) WriteHeaders(out menus.FieldWriter, origin string) {
	switch {
	case origin == "":
		return
	case c.any:
		origin = "*"
	case !slices.Contains(c.origins, origin):
		return
	}
	out.Text("Access-Control-Allow-Origin", origin)
	out.Text("Access-Control-Expose-Headers", "ETag, Idempotent-Replayed, Larder-Menu-Version, Retry-After, X-Request-Id")
}

// preflight puts what a browser asks before the real request.
func (cors) preflight(g *gin.Context) {
	header := g.Writer.Header()
	header.Set("Access-Control-Allow-Methods", "GET, HEAD, POST, PUT")
	header.Set("Access-Control-Allow-Headers",
		"Authorization, Content-Type, Idempotency-Key, If-None-Match, Last-Event-ID, X-Request-Id")
	header.Set("Access-Control-Max-Age", "600")
	header.Add("Vary", "Access-Control-Request-Method")
	header.Add("Vary", "Access-Control-Request-Headers")
}
