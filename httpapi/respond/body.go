package respond

import (
	"bytes"
	"encoding/json"
	"errors"
	"mime"
	"net"
	"net/http"
	"strings"

	"github.com/gin-gonic/gin"

	"larder/internal/jsontext"
)

// Limits of what a request may send.
const (
	MaxBody      = 256 << 10 // bytes of an order, policy W15
	MaxTokenBody = 16 << 10  // bytes of a token request
	MaxDepth     = 32        // JSON nesting, policy H1
)

// ReadJSON reads a request body that must be JSON by its Content-Type, at most
// 256 KiB, into the buffer as far as it fits. Whether it is well-formed is for
// the reader of the JSON to say.
func ReadJSON(c *gin.Context, into []byte) ([]byte, error) {
	if err := RequireJSON(c.GetHeader("Content-Type")); err != nil {
		return nil, err
	}
	return ReadBody(c, MaxBody, into)
}

// RequireJSON refuses a Content-Type that is not JSON's.
func RequireJSON(contentType string) error {
	const mediaJSON = "application/json"
	if contentType == mediaJSON { // the usual spelling
		return nil
	}
	media, parameters, err := mime.ParseMediaType(contentType)
	if err != nil || media != mediaJSON {
		return &Problem{Code: CodeUnsupportedMedia, Msg: "send the body with Content-Type: application/json"}
	}
	if charset, given := parameters["charset"]; given && !strings.EqualFold(charset, "utf-8") {
		return &Problem{Code: CodeUnsupportedMedia, Msg: "send the JSON as UTF-8"}
	}
	return nil
}

// ReadBody reads a body of at most limit bytes, sent without content coding,
// into the buffer as far as it fits.
func ReadBody(c *gin.Context, limit int64, into []byte) ([]byte, error) {
	if coding := c.GetHeader("Content-Encoding"); coding != "" && !strings.EqualFold(coding, "identity") {
		return nil, &Problem{Code: CodeUnsupportedMedia, Msg: "send the body without Content-Encoding"}
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
		return nil, &Problem{Code: CodeRequestTimeout, Msg: "the body did not arrive in time", Cause: err}
	}
	return nil, &Problem{Code: CodeMalformedJSON, Msg: "the body ended before it was complete", Cause: err}
}

// ReadObject reads a small JSON object, each member by the function of its name,
// which reports whether the value has the right type. form shows the object.
func ReadObject(body []byte, form string, members map[string]func(*jsontext.Reader) bool) error {
	reader := jsontext.NewReader(string(body), MaxDepth)
	isObject := reader.Kind() == jsontext.KindObject
	var wrong error
	for name := range reader.Members() {
		if read, known := members[name]; !known {
			wrong = InvalidParameter(name, "is not known here; the body is "+form)
		} else if !read(&reader) {
			wrong = InvalidParameter(name, "has not the right type; the body is "+form)
		}
	}
	if err := reader.Err(); err != nil {
		return err
	}
	if !isObject {
		return InvalidParameter("body", "is "+form)
	}
	return wrong
}

// tooLarge refuses a body and gives up the connection rather than read it out.
func tooLarge(c *gin.Context, limit int64) error {
	c.Header("Connection", "close")
	return &Problem{Code: CodeTooLarge, Msg: "the body is larger than the limit", Params: map[string]any{"limit": limit}}
}

// JSON sends a value as JSON that is not to be stored.
func JSON(c *gin.Context, status int, value any) error {
	text, err := json.Marshal(value)
	if err != nil {
		return err
	}
	c.Writer.Header().Set("Cache-Control", "no-store")
	Write(c, status, ContentJSON, text)
	return nil
}

// Result is the success envelope.
type Result struct {
	Result any `json:"result"`
}
