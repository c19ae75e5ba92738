package httpapi

import (
	"encoding/base64"
	"encoding/json"
	"strconv"

	"github.com/gin-gonic/gin"
)

const (
	defaultPage = 50
	maxPage     = 500
	maxCursor   = 2048 // bytes
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
