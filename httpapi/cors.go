package httpapi

import (
	"slices"
	"strings"

	"github.com/gin-gonic/gin"

	"larder.local/httpapi/auth"
	"larder.local/httpapi/menus"
)

// cors has the origins whose pages may read the public routes. The response to any other origin
// is not a 403: it has no CORS headers, and the browser withholds it. gin-contrib/cors answers 403, also to a GET that any
// other program may send, and replaces Vary, which content negotiation needs.
type cors struct {
	any     bool
	origins []string
}

func newCORS(cfg Config, public auth.PublicOrders) cors {
	c := cors{any: slices.Contains(cfg.CORSOrigins, "*"), origins: slices.Clone(cfg.CORSOrigins)}
	if public.Enabled {
		c.origins = append(c.origins, public.Origins...) // policy H3: guests' pages must be able to send requests
		c.origins = slices.DeleteFunc(c.origins, func(origin string) bool { return origin == auth.OriginSelf })
	}
	return c
}

// header sets the CORS headers of a response, and Vary if the response depends on the origin. Pages of other origins
// may never use the ops routes or the token endpoint, because a page cannot keep a secret (policy H3).
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

// Varies reports whether responses depend on the origin.
func (c cors) Varies() bool { return !c.any && len(c.origins) > 0 }

// WriteHeaders writes the CORS headers of a response to a page of the origin.
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
	out.Text("Access-Control-Expose-Headers",
		"ETag, Idempotent-Replayed, Larder-Menu-Version, RateLimit, RateLimit-Policy, Retry-After, X-Request-Id")
}

// preflight sets the headers of the response to a preflight request.
func (cors) preflight(g *gin.Context) {
	header := g.Writer.Header()
	header.Set("Access-Control-Allow-Methods", "GET, HEAD, POST, PUT")
	header.Set("Access-Control-Allow-Headers",
		"Authorization, Content-Type, Idempotency-Key, If-None-Match, Last-Event-ID, X-Request-Id")
	header.Set("Access-Control-Max-Age", "600")
	header.Add("Vary", "Access-Control-Request-Method")
	header.Add("Vary", "Access-Control-Request-Headers")
}
