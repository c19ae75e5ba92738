package menus

import (
	"crypto/sha256"
	"encoding/hex"
	"net/http"

	"github.com/gin-gonic/gin"

	"larder/httpapi/auth"
	"larder/httpapi/respond"
	"larder/httpapi/web"
)

// answerHashed sends a read that belongs to no single version, without content
// coding: its ETag is of the body alone.
func (h *Handlers) answerHashed(c *gin.Context, body []byte) error {
	if err := requireIdentity(c); err != nil {
		return err
	}
	header := c.Writer.Header()
	header.Add("Vary", "Accept-Encoding")
	_, known := auth.CallerOf(c)
	control, private := h.cacheControl(known)
	header.Set("Cache-Control", control)
	if private {
		header.Add("Vary", "Authorization") // added, not set: CORS has its own entry there
	}
	if !HasBody(c, `W/"`+BodyHash(body)+`"`) {
		respond.Write(c, http.StatusOK, respond.ContentJSON, body)
	}
	return nil
}

// HasBody puts the ETag of an answer. It answers 304 and reports true if the
// client has the body.
func HasBody(c *gin.Context, etag string) bool {
	c.Writer.Header()["Etag"] = []string{etag}
	if !web.MatchesETag(c.Request.Header["If-None-Match"], etag) {
		return false
	}
	respond.Status(c, http.StatusNotModified)
	return true
}

// BodyHash is 8 hex of a body's hash, as it stands in an ETag.
func BodyHash(body []byte) string {
	sum := sha256.Sum256(body)
	return hex.EncodeToString(sum[:4])
}
