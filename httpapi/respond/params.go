package respond

import (
	"net/url"
	"slices"
	"strconv"
	"strings"

	"github.com/gin-gonic/gin"
)

const maxSearch = 200 // bytes of ?q=

// Param is a path parameter, unescaped. Gin matches the raw path where the
// escaping matters and the decoded one elsewhere.
func Param(c *gin.Context, name string) string {
	value := c.Param(name)
	if c.Request.URL.RawPath == "" {
		return value
	}
	if decoded, err := url.PathUnescape(value); err == nil {
		return decoded
	}
	return value
}

// InvalidParameter refuses a query parameter.
func InvalidParameter(name, msg string) error {
	return &Problem{Code: CodeInvalidParameter, Msg: name + " " + msg, Params: map[string]any{"parameter": name}}
}

// OneOf reads a query parameter that takes one of the values, "" where it is
// missing.
func OneOf[T ~string](c *gin.Context, name string, values []T) (T, error) {
	value := T(c.Query(name))
	if value != "" && !slices.Contains(values, value) {
		return "", InvalidParameter(name, "is one of "+join(values, ", "))
	}
	return value, nil
}

// SearchText reads ?q=.
func SearchText(c *gin.Context) (string, error) {
	text := c.Query("q")
	if len(text) > maxSearch {
		return "", InvalidParameter("q", "is longer than "+strconv.Itoa(maxSearch)+" bytes")
	}
	return text, nil
}

// join is strings.Join for any kind of strings.
func join[T ~string](values []T, separator string) string {
	texts := make([]string, len(values))
	for i, value := range values {
		texts[i] = string(value)
	}
	return strings.Join(texts, separator)
}
