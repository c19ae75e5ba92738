package httpapi

import (
	"net/http"
	"slices"
	"strings"

	"github.com/gin-gonic/gin"

	"larder.local/cache/encoded"
	"larder.local/httpapi/auth"
	"larder.local/httpapi/menus"
	"larder.local/httpapi/openapi"
	"larder.local/httpapi/openapi/ui"
	"larder.local/httpapi/respond"
	"larder.local/httpapi/storefront"
	"larder.local/httpapi/web"
)

// routeConsole registers the files of the console below /ops. They are public, their data is not.
// Browsers revalidate them each time, so that page and module are always of the same instance.
func (s *Server) routeConsole(engine *gin.Engine) error {
	for path, name := range map[string]string{"/ops": "ops.html", "/ops/ops.js": "ops.js", "/ops/ops.css": "ops.css"} {
		asset, err := s.assets.Page(name)
		if err != nil {
			return err
		}
		get(engine, path, func(c *gin.Context) {
			web.SetPolicy(c.Writer.Header())
			c.Header("Cache-Control", "no-cache")
			asset.ServeHTTP(c.Writer, c.Request)
		})
	}
	get(engine, "/ops/", func(c *gin.Context) { c.Redirect(http.StatusPermanentRedirect, "/ops") })
	return nil
}

// asset answers GET /web/{file}: the web components, for any site, and the files of larder's pages.
func (s *Server) asset(c *gin.Context) error {
	if !s.assets.Serve(c.Writer, c.Request, c.Param("file")) {
		return noRoute(c)
	}
	return nil
}

// robotsText lets search engines read the page at / and the menus that it loads.
const robotsText = `User-agent: *
Allow: /v1/restaurants/*/menu
Disallow: /v1/
Disallow: /orders/api/
Disallow: /connect/
Disallow: /ops
`

// assetAt answers with a file of the pages at an address that browsers and search engines expect.
func (s *Server) assetAt(name string) gin.HandlerFunc {
	return func(c *gin.Context) { s.assets.Serve(c.Writer, c.Request, name) }
}

// routePage registers the page if it is enabled, and the photos of menus if there are any.
func (s *Server) routePage(engine *gin.Engine) error {
	if s.deps.Photos != nil {
		get(engine, "/photos/*file", gin.WrapH(s.deps.Photos))
	}
	if !s.cfg.Page.Enabled {
		return nil
	}
	page, err := storefront.New(storefront.Deps{
		Served:   s.served,
		Config:   s.cfg.Page,
		Hosts:    s.cfg.Hosts,
		OpenMenu: s.authCfg.MenuIsOpen(),
		Orders:   s.authCfg.PublicOrders.Enabled && slices.Contains(s.authCfg.PublicOrders.Origins, auth.OriginSelf),
		Payments: s.authCfg.PublicOrders.PaymentTypes,
		Assets:   s.assets,
	})
	if err != nil {
		return err
	}
	get(engine, "/", respond.Handle(page.Serve))
	return nil
}

// docsPolicy lets the pages below /docs load only files of this origin, and forbids inline scripts and styles.
const docsPolicy = "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; connect-src 'self'; " +
	"base-uri 'none'; form-action 'none'; frame-ancestors 'none'"

// routeDocument registers the API document and, unless http.docs is false, its pages.
func (s *Server) routeDocument(engine *gin.Engine) {
	get(engine, "/openapi.json", document(respond.ContentJSON, openapi.JSON()))
	get(engine, "/openapi.yaml", document("application/yaml; charset=utf-8", openapi.YAML()))
	get(engine, "/openapi.d.ts", document("text/plain; charset=utf-8", web.Types))
	if s.cfg.Docs == nil || *s.cfg.Docs {
		get(engine, "/docs", respond.Handle(docsPage))
		get(engine, "/docs/:file", respond.Handle(docsPage))
	}
}

// document returns a handler for one format of the API document.
func document(contentType string, body []byte) gin.HandlerFunc {
	etag := `W/"` + menus.BodyHash(body) + `"`
	return func(c *gin.Context) {
		c.Header("Cache-Control", "no-cache")
		if !menus.HasBody(c, etag) {
			respond.Write(c, http.StatusOK, contentType, body)
		}
	}
}

// docsPage answers with a file of the pages. It compares the ETag first, and decompresses an
// embedded file only once (policy H7).
func docsPage(c *gin.Context) error {
	file, known := ui.File(respond.Param(c, "file"))
	if !known {
		return noRoute(c)
	}
	header := c.Writer.Header()
	header.Set("Cache-Control", "no-cache")
	header.Set("Content-Security-Policy", docsPolicy)
	header.Set("X-Content-Type-Options", "nosniff")
	header.Set("Referrer-Policy", "no-referrer")
	if file.Gzipped {
		header.Add("Vary", "Accept-Encoding")
	}
	if menus.HasBody(c, `W/"`+file.Hash+`"`) {
		return nil
	}
	body := file.Body
	if file.Gzipped && menus.AcceptedEncodings(strings.Join(c.Request.Header["Accept-Encoding"], ",")).Has(encoded.Gzip) {
		header.Set("Content-Encoding", encoded.Gzip.String())
	} else {
		var err error
		if body, err = file.Plain(); err != nil {
			return err
		}
	}
	respond.Write(c, http.StatusOK, file.Type, body)
	return nil
}
