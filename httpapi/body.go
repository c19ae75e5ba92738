package httpapi

import (
	"errors"
	"io"
	"mime"
	"net"
	"net/http"
	"strings"
	"sync"

	"github.com/gin-gonic/gin"
)

const (
	maxBody      = 256 << 10 // an order, policy W15
	maxTokenBody = 16 << 10  // a token request
	maxDepth     = 32        // JSON nesting, policy H1
)

// jsonBody reads a request body that must be JSON by its Content-Type, at most
// 256 KiB. Whether it is well-formed is for the reader of the JSON to say.
func jsonBody(c *gin.Context) ([]byte, error) { return jsonBodyIn(c, nil) }

// jsonBodyIn is jsonBody that puts the body into room, as far as it fits.
func jsonBodyIn(c *gin.Context, room []byte) ([]byte, error) {
	if err := saysJSON(c.GetHeader("Content-Type")); err != nil {
		return nil, err
	}
	return readBodyIn(c, maxBody, room)
}

const mediaJSON = "application/json"

// saysJSON refuses a Content-Type that is not JSON's.
func saysJSON(contentType string) error {
	if contentType == mediaJSON { // as nearly everyone writes it
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

// readBody reads a body of at most limit bytes, sent without content coding.
func readBody(c *gin.Context, limit int64) ([]byte, error) { return readBodyIn(c, limit, nil) }

// readBodyIn is readBody that puts the body into room, as far as it fits.
func readBodyIn(c *gin.Context, limit int64, room []byte) ([]byte, error) {
	if coding := c.GetHeader("Content-Encoding"); coding != "" && !strings.EqualFold(coding, "identity") {
		return nil, &problem{code: CodeUnsupportedMedia, msg: "send the body without Content-Encoding"}
	}
	if c.Request.ContentLength > limit {
		return nil, tooLarge(c, limit)
	}
	from := c.Request.Body
	if c.Request.ContentLength < 0 { // a length that is told binds net/http
		from = http.MaxBytesReader(c.Writer, from, limit)
	}
	body, err := readAll(from, room[:0], c.Request.ContentLength)
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

// readAll appends what there is to read to a text, which is expected to be so
// long; less than 0: nobody knows. What is said of the length is believed up to
// believed bytes: more room is made as they come.
func readAll(from io.Reader, text []byte, expected int64) ([]byte, error) {
	const least, believed = 512, 16 << 10
	if cap(text) == 0 {
		text = make([]byte, 0, min(max(expected+1, least), believed)) // one more: where the end is found
	}
	for {
		if len(text) == cap(text) {
			text = append(text, 0)[:len(text)]
		}
		n, err := from.Read(text[len(text):cap(text)])
		text = text[:len(text)+n]
		if errors.Is(err, io.EOF) {
			return text, nil
		}
		if err != nil {
			return nil, err
		}
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

// sheets are pairs of buffers, used for one request after the other: an order
// takes no room of its own.
type sheets struct{ pool sync.Pool }

// sheet is what one request is read into and answered from. Nothing of it may
// be kept when it is given back.
type sheet struct{ asked, answer []byte }

// take gives a sheet, which giveBack must get.
func (s *sheets) take() *sheet {
	if kept, ok := s.pool.Get().(*sheet); ok {
		return kept
	}
	return new(sheet)
}

// keptSheet is the largest buffer that is kept, in bytes; an ordinary order
// needs a tenth of it.
const keptSheet = 32 << 10

// giveBack keeps the sheet for the next request.
func (s *sheets) giveBack(used *sheet) {
	if cap(used.asked) <= keptSheet && cap(used.answer) <= keptSheet {
		s.pool.Put(used)
	}
}
