package httpapi

import (
	"crypto/sha256"
	"encoding/base64"
	"encoding/hex"
	"encoding/json"
	"net/http"
	"slices"
	"strconv"
	"strings"

	"github.com/gin-gonic/gin"

	"larder/httpapi/web"
)

const (
	defaultPage = 50
	maxPage     = 500
	maxCursor   = 2048 // bytes
	maxSearch   = 200  // bytes of ?q=
)

// pageOf reads ?limit= and ?cursor=; position is what nextPage was given, ""
// for the first page.
func pageOf(c *gin.Context) (limit int, position string, err error) {
	limit = defaultPage
	if text, given := c.GetQuery("limit"); given {
		if limit, err = strconv.Atoi(text); err != nil || limit < 1 || limit > maxPage {
			return 0, "", invalid("limit", "is a whole number between 1 and "+strconv.Itoa(maxPage))
		}
	}
	cursor := c.Query("cursor")
	raw, err := base64.RawURLEncoding.DecodeString(cursor)
	if err != nil || len(cursor) > maxCursor {
		return 0, "", badCursor()
	}
	return limit, string(raw), nil
}

func badCursor() error {
	return invalid("cursor", "is not one that larder gave; start without it")
}

// oneOf reads a query parameter that takes one of the values, "" where it is
// missing.
func oneOf[T ~string](c *gin.Context, name string, values []T) (T, error) {
	value := T(c.Query(name))
	if value != "" && !slices.Contains(values, value) {
		return "", invalid(name, "is one of "+join(values, ", "))
	}
	return value, nil
}

// join is strings.Join for any kind of strings.
func join[T ~string](values []T, separator string) string {
	texts := make([]string, len(values))
	for i, value := range values {
		texts[i] = string(value)
	}
	return strings.Join(texts, separator)
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

// nextPage returns the cursor of the next page, null after the last.
func nextPage(position string) *string {
	return orNull(base64.RawURLEncoding.EncodeToString([]byte(position)))
}

// answer sends a value as JSON that is not to be stored.
func answer(c *gin.Context, status int, value any) error {
	text, err := json.Marshal(value)
	if err != nil {
		return err
	}
	c.Writer.Header().Set("Cache-Control", "no-store")
	write(c, status, contentJSON, text)
	return nil
}

// result is the success envelope.
type result struct {
	Result any `json:"result"`
}

// answerHashed sends a read that belongs to no single version, without content
// coding: its ETag is of the body alone.
func (s *Server) answerHashed(c *gin.Context, body []byte) error {
	if err := requireIdentity(c); err != nil {
		return err
	}
	header := c.Writer.Header()
	header.Add("Vary", "Accept-Encoding")
	_, known := callerOf(c)
	control, private := s.cacheControl(known)
	header.Set("Cache-Control", control)
	if private {
		header.Add("Vary", "Authorization") // added, not set: CORS has its own entry there
	}
	if !hasBody(c, `W/"`+bodyHash(body)+`"`) {
		write(c, http.StatusOK, contentJSON, body)
	}
	return nil
}

// hasBody puts the ETag of an answer. It answers 304 and reports true if the
// client has the body.
func hasBody(c *gin.Context, etag string) bool {
	c.Writer.Header()["Etag"] = []string{etag}
	if !web.MatchesETag(c.Request.Header["If-None-Match"], etag) {
		return false
	}
	writeStatus(c, http.StatusNotModified)
	return true
}

// bodyHash is 8 hex of a body's hash, as it stands in an ETag.
func bodyHash(body []byte) string {
	sum := sha256.Sum256(body)
	return hex.EncodeToString(sum[:4])
}
