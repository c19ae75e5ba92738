package httpapi

import (
	"crypto/sha256"
	"encoding/base64"
	"encoding/hex"
	"encoding/json"
	"net/http"
	"strconv"

	"github.com/gin-gonic/gin"

	"larder/httpapi/web"
)

const (
	defaultPage = 50
	maxPage     = 500
	maxCursor   = 2048 // bytes
	maxSearch   = 200  // bytes of ?q=
)

// pageSize reads ?limit=.
func pageSize(c *gin.Context) (int, error) {
	text, given := c.GetQuery("limit")
	if !given {
		return defaultPage, nil
	}
	n, err := strconv.Atoi(text)
	if err != nil || n < 1 || n > maxPage {
		return 0, invalid("limit", "is a whole number between 1 and "+strconv.Itoa(maxPage))
	}
	return n, nil
}

// cursor reads ?cursor= into what makeCursor was given.
func cursor(c *gin.Context) (string, error) {
	text := c.Query("cursor")
	if text == "" {
		return "", nil
	}
	raw, err := base64.RawURLEncoding.DecodeString(text)
	if err != nil || len(text) > maxCursor || len(raw) == 0 {
		return "", badCursor()
	}
	return string(raw), nil
}

// makeCursor makes the opaque text of `next`.
func makeCursor(position string) string {
	return base64.RawURLEncoding.EncodeToString([]byte(position))
}

func badCursor() error {
	return invalid("cursor", "is not one that larder gave; start without it")
}

// searchText reads ?q=.
func searchText(c *gin.Context) (string, error) {
	text := c.Query("q")
	if len(text) > maxSearch {
		return "", invalid("q", "is longer than "+strconv.Itoa(maxSearch)+" bytes")
	}
	return text, nil
}

// page is a list as every list route answers it.
type page[T any] struct {
	Result []T     `json:"result"`
	Next   *string `json:"next"`
}

// nextPage gives the cursor of a page, null after the last.
func nextPage(position string) *string {
	if position == "" {
		return nil
	}
	text := makeCursor(position)
	return &text
}

// answer sends a value as JSON that is not to be stored.
func answer(c *gin.Context, status int, value any) {
	text, err := json.Marshal(value)
	if err != nil {
		fail(c, err)
		return
	}
	c.Writer.Header().Set("Cache-Control", "no-store")
	write(c, status, contentJSON, text)
}

// result is the success envelope.
type result struct {
	Result any `json:"result"`
}

// answerHashed sends a read that no single version stands for: its ETag is of
// the body alone. It is sent without coding.
func (s *Server) answerHashed(c *gin.Context, body []byte) {
	if !acceptsIdentity(c.Request.Header["Accept-Encoding"]) {
		refuseEncodings(c)
		return
	}
	header := c.Writer.Header()
	header.Add("Vary", "Accept-Encoding")
	etag := `W/"` + bodyHash(body) + `"`
	header["Etag"] = []string{etag}
	s.cacheHeader(c)
	if matches, asked := c.Request.Header["If-None-Match"]; asked && web.MatchesETag(matches, etag) {
		c.Writer.WriteHeader(http.StatusNotModified)
		c.Writer.WriteHeaderNow()
		return
	}
	write(c, http.StatusOK, contentJSON, body)
}

// bodyHash is 8 hex of a body's hash, as it stands in an ETag.
func bodyHash(body []byte) string {
	sum := sha256.Sum256(body)
	return hex.EncodeToString(sum[:4])
}
