package respond

import (
	"encoding/json"
	"errors"
	"io"
	"mime"
	"net"
	"net/http"
	"strconv"
	"strings"

	"github.com/gin-gonic/gin"
	"github.com/shopspring/decimal"

	"larder.local/internal/jsontext"
)

// Limits of requests.
const (
	MaxBody      = 256 << 10 // bytes of an order, policy W15
	MaxSmallBody = 16 << 10  // bytes of a token request or of a small object
	MaxDepth     = 32        // JSON nesting, policy H1
)

// ReadJSON reads a body of at most 256 KiB whose Content-Type is JSON. It does not check the JSON itself.
func ReadJSON(c *gin.Context) ([]byte, error) { return readJSON(c, MaxBody) }

func readJSON(c *gin.Context, limit int64) ([]byte, error) {
	if err := RequireJSON(c.GetHeader("Content-Type")); err != nil {
		return nil, err
	}
	return ReadBody(c, limit)
}

// RequireJSON rejects a Content-Type other than JSON.
func RequireJSON(contentType string) error {
	media, parameters, err := mime.ParseMediaType(contentType)
	if err != nil || media != "application/json" {
		return &Problem{Code: CodeUnsupportedMedia, Msg: "send the body with Content-Type: application/json"}
	}
	if charset, given := parameters["charset"]; given && !strings.EqualFold(charset, "utf-8") {
		return &Problem{Code: CodeUnsupportedMedia, Msg: "send the JSON as UTF-8"}
	}
	return nil
}

// ReadBody reads a body of at most limit bytes without Content-Encoding.
func ReadBody(c *gin.Context, limit int64) ([]byte, error) {
	if coding := c.GetHeader("Content-Encoding"); coding != "" && !strings.EqualFold(coding, "identity") {
		return nil, &Problem{Code: CodeUnsupportedMedia, Msg: "send the body without Content-Encoding"}
	}
	length := c.Request.ContentLength
	if length > limit {
		return nil, tooLarge(c, limit)
	}
	from := c.Request.Body
	if length < 0 { // net/http enforces a declared length
		from = http.MaxBytesReader(c.Writer, from, limit)
	}
	body, err := io.ReadAll(from) // its buffer grows only as bytes arrive
	if err == nil {
		return body, nil
	}
	if _, over := errors.AsType[*http.MaxBytesError](err); over {
		return nil, tooLarge(c, limit)
	}
	c.Header("Connection", "close")
	if network, ok := errors.AsType[net.Error](err); ok && network.Timeout() {
		return nil, &Problem{Code: CodeRequestTimeout, Msg: "the body did not arrive in time; try again", Cause: err}
	}
	return nil, &Problem{Code: CodeMalformedJSON, Msg: "the body ended before it was complete", Cause: err}
}

// ReadObject reads a small JSON object. members has a function for each field, which returns
// false for the wrong type. form shows the object in error texts.
func ReadObject(body []byte, form string, members map[string]func(*jsontext.Reader) bool) error {
	reader := jsontext.NewReader(string(body), MaxDepth)
	isObject := reader.Kind() == jsontext.KindObject
	var wrong error
	for name := range reader.Members() {
		if wrong != nil {
			continue // one error is enough
		}
		if read, known := members[name]; !known {
			wrong = InvalidParameter(name, "is an unknown field; the body must be "+form)
		} else if !read(&reader) {
			wrong = InvalidParameter(name, "has the wrong type; the body must be "+form)
		}
	}
	if err := reader.Err(); err != nil {
		return err
	}
	if !isObject {
		return InvalidParameter("body", "must be "+form)
	}
	return wrong
}

// ReadFields reads a body of at most 16 KiB as ReadJSON and ReadObject do.
func ReadFields(c *gin.Context, form string, members map[string]func(*jsontext.Reader) bool) error {
	body, err := readJSON(c, MaxSmallBody)
	if err != nil {
		return err
	}
	return ReadObject(body, form, members)
}

// tooLarge rejects a body. It closes the connection to avoid reading the rest.
func tooLarge(c *gin.Context, limit int64) error {
	c.Header("Connection", "close")
	msg := "the body is larger than " + strconv.FormatInt(limit, 10) + " bytes"
	return &Problem{Code: CodeTooLarge, Msg: msg, Params: map[string]any{"limit": limit}}
}

// JSON writes a value as JSON with Cache-Control: no-store.
func JSON(c *gin.Context, status int, value any) error {
	text, err := json.Marshal(value)
	if err == nil {
		JSONText(c, status, text)
	}
	return err
}

// JSONText writes a JSON text with Cache-Control: no-store.
func JSONText(c *gin.Context, status int, text []byte) {
	c.Header("Cache-Control", "no-store")
	Write(c, status, ContentJSON, text)
}

// Result is the body of a successful response.
type Result struct {
	Result any `json:"result"`
}

// Answer answers with a result, or returns the error.
func Answer(c *gin.Context, result any, err error) error {
	if err != nil {
		return err
	}
	return JSON(c, http.StatusOK, Result{Result: result})
}

// HeaderMenuVersion is the header with the menu version of a response.
const HeaderMenuVersion = "Larder-Menu-Version"

// Number is a number with its exact digits, or null.
type Number decimal.NullDecimal

// MarshalJSON returns the number without quotes and exponent.
func (e Number) MarshalJSON() ([]byte, error) {
	if !e.Valid {
		return []byte("null"), nil
	}
	return jsontext.NumberOf(e.Decimal).Append(nil), nil
}

// OrNull returns a pointer to the value, or nil for the zero value.
func OrNull[T comparable](value T) *T {
	var none T
	if value == none {
		return nil
	}
	return &value
}
