package httpapi

import (
	"net/http"
	"slices"

	"github.com/gin-gonic/gin"

	"larder.local/httpapi/auth"
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
			web.Policy{}.Set(c.Writer.Header())
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
		Config:    s.cfg.Page,
		Hosts:     s.cfg.Hosts,
		OpenMenu:  s.authCfg.MenuIsOpen(),
		Orders:    s.authCfg.PublicOrders.Enabled && slices.Contains(s.authCfg.PublicOrders.Origins, auth.OriginSelf),
		Payments:  s.authCfg.PublicOrders.PaymentTypes,
		Replica:   s.deps.Replica,
		Directory: s.deps.Directory,
		Assets:    s.assets,
	})
	if err != nil {
		return err
	}
	get(engine, "/", respond.Handle(page.Serve))
	return nil
}
