package httpapi

import (
	"errors"
	"net/http"

	"github.com/gin-gonic/gin"

	"larder/httpapi/web"
)

// opsPage is the console: one page, its module and its style sheet. They are
// for anyone who reaches the listener; what they show is not.
type opsPage struct{ page, script, style *web.Asset }

func newOpsPage() (opsPage, error) {
	assets, err := web.NewAssets()
	if err != nil {
		return opsPage{}, err
	}
	page, hasPage := assets.Page("ops.html")
	script, hasScript := assets.Page("ops.js")
	style, hasStyle := assets.Page("ops.css")
	if !hasPage || !hasScript || !hasStyle {
		return opsPage{}, errors.New("httpapi: the console is not among the embedded files")
	}
	return opsPage{page: page, script: script, style: style}, nil
}

// route registers the console's files below /ops.
func (p opsPage) route(engine *gin.Engine) {
	for path, asset := range map[string]*web.Asset{"/ops": p.page, "/ops/ops.js": p.script, "/ops/ops.css": p.style} {
		get(engine, path, serveOps(asset))
	}
	get(engine, "/ops/", func(c *gin.Context) {
		c.Redirect(http.StatusPermanentRedirect, "/ops")
	})
}

// serveOps answers with a file of the console. A browser asks for it again each
// time, so that page and module are always of one larder.
func serveOps(asset *web.Asset) gin.HandlerFunc {
	return func(c *gin.Context) {
		web.Policy{}.Set(c.Writer.Header())
		c.Header("Cache-Control", "no-cache")
		asset.ServeHTTP(c.Writer, c.Request)
	}
}
