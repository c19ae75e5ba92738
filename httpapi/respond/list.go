package respond

import (
	"encoding/base64"
	"strconv"
	"unicode/utf8"

	"github.com/gin-gonic/gin"

	"larder.local/internal/jsontext"
)

const (
	// MaxPage is the largest ?limit= of a list.
	MaxPage     = 500
	defaultPage = 50
	maxCursor   = 2048 // bytes
)

// PageOf reads ?limit= and ?cursor=. position is the value that NextPage encoded, or "" for the first page.
func PageOf(c *gin.Context) (limit int, position string, err error) {
	limit = defaultPage
	if text, given := c.GetQuery("limit"); given {
		if limit, err = strconv.Atoi(text); err != nil || limit < 1 || limit > MaxPage {
			return 0, "", InvalidParameter("limit", "must be an integer between 1 and "+strconv.Itoa(MaxPage))
		}
	}
	cursor := c.Query("cursor")
	raw, err := base64.RawURLEncoding.DecodeString(cursor)
	if err != nil || len(cursor) > maxCursor || !utf8.Valid(raw) {
		return 0, "", BadCursor()
	}
	return limit, string(raw), nil
}

// BadCursor rejects a ?cursor= that no list has returned.
func BadCursor() error {
	return InvalidParameter("cursor", "must be the next value of an earlier page; omit it to get the first page")
}

// Page is the response of every list route.
type Page[T any] struct {
	Result []T     `json:"result"`
	Next   *string `json:"next"`
}

// AppendNext appends the end of a Page after its last element.
func AppendNext(dst []byte, position string) []byte {
	dst = append(dst, `],"next":`...)
	return append(jsontext.AppendStringOrNull(dst, base64.RawURLEncoding.EncodeToString([]byte(position))), '}')
}

// NextPage returns the cursor of the next page, or nil after the last.
func NextPage(position string) *string {
	return OrNull(base64.RawURLEncoding.EncodeToString([]byte(position)))
}
