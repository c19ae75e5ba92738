package httpapi

import (
	"errors"
	"io"
	"mime"
	"net"
	"net/http"
	"strings"

	"github.com/gin-gonic/gin"
)

const (
	maxBody      = 256 << 10 // an order, policy W15
	maxTokenBody = 16 << 10  // a token request
	maxDepth     = 32        // JSON nesting, policy H1
)

// jsonBody reads a request body that must be JSON by its Content-Type, at most
// 256 KiB. Whether it is well-formed is for the reader of the JSON to say.
func jsonBody(c *gin.Context) ([]byte, error) {
	media, parameters, err := mime.ParseMediaType(c.GetHeader("Content-Type"))
	if err != nil || media != "application/json" {
		return nil, &problem{code: CodeUnsupportedMedia, msg: "send the body with Content-Type: application/json"}
	}
	if charset, given := parameters["charset"]; given && !strings.EqualFold(charset, "utf-8") {
		return nil, &problem{code: CodeUnsupportedMedia, msg: "send the JSON as UTF-8"}
	}
	return readBody(c, maxBody)
}

// readBody reads a body of at most limit bytes, sent without content coding.
func readBody(c *gin.Context, limit int64) ([]byte, error) {
	if coding := c.GetHeader("Content-Encoding"); coding != "" && !strings.EqualFold(coding, "identity") {
		return nil, &problem{code: CodeUnsupportedMedia, msg: "send the body without Content-Encoding"}
	}
	if c.Request.ContentLength > limit {
		return nil, tooLarge(c, limit)
	}
	body, err := io.ReadAll(http.MaxBytesReader(c.Writer, c.Request.Body, limit))
	if err == nil {
		return body, nil
	}
	var over *http.MaxBytesError
	var timeout net.Error
	switch {
	case errors.As(err, &over):
		return nil, tooLarge(c, limit)
	case errors.As(err, &timeout) && timeout.Timeout():
		c.Header("Connection", "close")
		return nil, &problem{code: CodeRequestTimeout, msg: "the body did not arrive in time", err: err}
	default:
		c.Header("Connection", "close")
		return nil, &problem{code: CodeMalformedJSON, msg: "the body ended before it was complete", err: err}
	}
}

// tooLarge refuses a body and gives up the connection rather than read it out.
func tooLarge(c *gin.Context, limit int64) error {
	c.Header("Connection", "close")
	return &problem{
		code: CodeTooLarge, msg: "the body is larger than the limit",
		params: map[string]any{"limit": limit},
	}
}
