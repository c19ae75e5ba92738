package httpapi

import (
	"net/url"
	"slices"
	"strconv"
	"strings"

	"github.com/gin-gonic/gin"
)

const maxSearch = 200 // bytes of ?q=

// param is a path parameter, unescaped. Gin matches the raw path where the
// escaping matters and the decoded one elsewhere.
func param(c *gin.Context, name string) string {
	value := c.Param(name)
	if c.Request.URL.RawPath == "" {
		return value
	}
	if decoded, err := url.PathUnescape(value); err == nil {
		return decoded
	}
	return value
}

// invalid refuses a query parameter.
func invalid(name, msg string) error {
	return &problem{code: CodeInvalidParameter, msg: name + " " + msg, params: map[string]any{"parameter": name}}
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

// searchText reads ?q=.
func searchText(c *gin.Context) (string, error) {
	text := c.Query("q")
	if len(text) > maxSearch {
		return "", invalid("q", "is longer than "+strconv.Itoa(maxSearch)+" bytes")
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
