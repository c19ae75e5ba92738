package httpapi

import (
	"net/http"
	"strings"

	"github.com/gin-gonic/gin"

	"larder.local/cache/encoded"
	"larder.local/httpapi/menus"
	"larder.local/httpapi/openapi"
	"larder.local/httpapi/openapi/ui"
	"larder.local/httpapi/respond"
)

// docsPolicy lets the pages below /docs load only files of this origin, and forbids inline scripts and styles.
const docsPolicy = "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; connect-src 'self'; " +
	"base-uri 'none'; form-action 'none'; frame-ancestors 'none'"

// routeDocument registers the API document and, unless http.docs is false, its pages.
func (s *Server) routeDocument(engine *gin.Engine) {
	get(engine, "/openapi.json", document(respond.ContentJSON, openapi.JSON()))
	get(engine, "/openapi.yaml", document("application/yaml; charset=utf-8", openapi.YAML()))
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
