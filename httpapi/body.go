package httpapi

import (
	"bytes"
	"errors"
	"mime"
	"net"
	"net/http"
	"strings"

	"github.com/gin-gonic/gin"

	"larder/internal/jsontext"
)

const (
	maxBody      = 256 << 10 // an order, policy W15
	maxTokenBody = 16 << 10  // a token request
	maxDepth     = 32        // JSON nesting, policy H1
)

// readJSON reads a request body that must be JSON by its Content-Type, at most
// 256 KiB, into the buffer as far as it fits. Whether it is well-formed is for
// the reader of the JSON to say.
func readJSON(c *gin.Context, into []byte) ([]byte, error) {
	if err := requireJSON(c.GetHeader("Content-Type")); err != nil {
		return nil, err
	}
	return readBody(c, maxBody, into)
}

// requireJSON refuses a Content-Type that is not JSON's.
func requireJSON(contentType string) error {
	const mediaJSON = "application/json"
	if contentType == mediaJSON { // the usual spelling
		return nil
	}
	media, parameters, err := mime.ParseMediaType(contentType)
	if err != nil || media != mediaJSON {
		return &problem{code: CodeUnsupportedMedia, msg: "send the body with Content-Type: application/json"}
	}
	if charset, given := parameters["charset"]; given && !strings.EqualFold(charset, "utf-8") {
		return &problem{code: CodeUnsupportedMedia, msg: "send the JSON as UTF-8"}
	}
	return nil
}

// readBody reads a body of at most limit bytes, sent without content coding,
// into the buffer as far as it fits.
func readBody(c *gin.Context, limit int64, into []byte) ([]byte, error) {
	if coding := c.GetHeader("Content-Encoding"); coding != "" && !strings.EqualFold(coding, "identity") {
		return nil, &problem{code: CodeUnsupportedMedia, msg: "send the body without Content-Encoding"}
	}
	length := c.Request.ContentLength
	if length > limit {
		return nil, tooLarge(c, limit)
	}
	from := c.Request.Body
	if length < 0 { // net/http enforces a length that is declared
		from = http.MaxBytesReader(c.Writer, from, limit)
	}
	const trusted = 16 << 10 // more room than this is made as the bytes arrive
	buffer := bytes.NewBuffer(into[:0])
	buffer.Grow(int(min(max(length, 0), trusted)) + bytes.MinRead)
	_, err := buffer.ReadFrom(from)
	if err == nil {
		return buffer.Bytes(), nil
	}
	if _, over := errors.AsType[*http.MaxBytesError](err); over {
		return nil, tooLarge(c, limit)
	}
	c.Header("Connection", "close")
	if network, ok := errors.AsType[net.Error](err); ok && network.Timeout() {
		return nil, &problem{code: CodeRequestTimeout, msg: "the body did not arrive in time", err: err}
	}
	return nil, &problem{code: CodeMalformedJSON, msg: "the body ended before it was complete", err: err}
}

// readObject reads a small JSON object, each member by the function of its name,
// which reports whether the value has the right type. form shows the object.
func readObject(body []byte, form string, members map[string]func(*jsontext.Reader) bool) error {
	reader := jsontext.NewReader(string(body), maxDepth)
	isObject := reader.Kind() == jsontext.KindObject
	var wrong error
	for name := range reader.Members() {
		if read, known := members[name]; !known {
			wrong = invalid(name, "is not known here; the body is "+form)
		} else if !read(&reader) {
			wrong = invalid(name, "has not the right type; the body is "+form)
		}
	}
	if err := reader.Err(); err != nil {
		return err
	}
	if !isObject {
		return invalid("body", "is "+form)
	}
	return wrong
}

// tooLarge refuses a body and gives up the connection rather than read it out.
func tooLarge(c *gin.Context, limit int64) error {
	c.Header("Connection", "close")
	return &problem{code: CodeTooLarge, msg: "the body is larger than the limit", params: map[string]any{"limit": limit}}
}
