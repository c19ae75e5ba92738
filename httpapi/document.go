package httpapi

import (
	"bytes"
	"compress/gzip"
	"io"
	"net/http"

	"github.com/gin-gonic/gin"

	"larder/cache"
	"larder/httpapi/openapi"
	"larder/httpapi/openapi/ui"
)

// docsPolicy lets the pages under /docs load what this origin serves and
// nothing else, and run no script and no style that stands in their text.
const docsPolicy = "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; connect-src 'self'; " +
	"base-uri 'none'; form-action 'none'; frame-ancestors 'none'"

// routeDocument registers the API document and, unless http.docs is false, the
// pages that show it.
func (s *Server) routeDocument(engine *gin.Engine) {
	get(engine, "/openapi.json", document(contentJSON, openapi.JSON()))
	get(engine, "/openapi.yaml", document("application/yaml; charset=utf-8", openapi.YAML()))
	if s.cfg.Docs == nil || *s.cfg.Docs {
		get(engine, "/docs", docsPage)
		get(engine, "/docs/:file", docsPage)
	}
}

// document answers with one form of the API document.
func document(contentType string, body []byte) gin.HandlerFunc {
	etag := `W/"` + bodyHash(body) + `"`
	return func(c *gin.Context) { answerFixed(c, contentType, etag, body) }
}

// docsPage answers with a file of the pages.
func docsPage(c *gin.Context) {
	file, known := ui.File(param(c, "file"))
	if !known {
		noRoute(c)
		return
	}
	header := c.Writer.Header()
	header.Set("Content-Security-Policy", docsPolicy)
	header.Set("X-Content-Type-Options", "nosniff")
	header.Set("Referrer-Policy", "no-referrer")
	body := file.Body
	if file.Gzipped {
		header.Add("Vary", "Accept-Encoding")
		if acceptedEncodings(oneHeader(c.Request.Header["Accept-Encoding"])).Has(cache.Gzip) {
			header.Set("Content-Encoding", cache.Gzip.String())
		} else {
			var err error
			if body, err = unpacked(body); err != nil {
				fail(c, err)
				return
			}
		}
	}
	answerFixed(c, file.Type, `W/"`+file.Hash+`"`, body)
}

// unpacked is the body for those who do not take gzip, which no browser is.
func unpacked(packed []byte) ([]byte, error) {
	reader, err := gzip.NewReader(bytes.NewReader(packed))
	if err != nil {
		return nil, err
	}
	return io.ReadAll(reader)
}

// answerFixed answers with what is the same as long as larder runs.
func answerFixed(c *gin.Context, contentType, etag string, body []byte) {
	header := c.Writer.Header()
	header["Etag"] = []string{etag}
	header.Set("Cache-Control", "no-cache")
	if matches, asked := c.Request.Header["If-None-Match"]; asked && matchesTag(matches, etag) {
		c.Writer.WriteHeader(http.StatusNotModified)
		c.Writer.WriteHeaderNow()
		return
	}
	write(c, http.StatusOK, contentType, body)
}
