package httpapi

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"net/http"
	"strconv"
	"time"

	"github.com/gin-gonic/gin"

	"larder/cache"
	"larder/internal/jsontext"
	"larder/internal/redisdb"
	"larder/ordering/violation"
	menusync "larder/sync"
)

// problem is a refusal on its way to the client: what it is, what a person may
// read of it, and the cause, which goes to the log alone.
type problem struct {
	code       Code
	msg        string
	params     map[string]any        // becomes the one entry of errors
	violations []violation.Violation // becomes errors
	more       bool                  // there are more violations than those listed (policy H7)
	upstream   *upstreamAnswer
	ref        string
	retryAfter time.Duration
	err        error

	// Of an answer that is told from a record, and so the same each time: the
	// first request's id, and where it went. Empty: this request's.
	requestID, instance string
}

// upstreamAnswer is what the ordering service said, passed on inside a 502.
type upstreamAnswer struct {
	Status    int             `json:"status"`
	Code      string          `json:"code"`
	Msg       string          `json:"msg"`
	RequestID string          `json:"requestId"`
	Errors    json.RawMessage `json:"errors,omitempty"` // what it found wrong, as it said it
}

// Error is the text of the log, never of an answer. What the ordering service
// said is left out: it may have said it of a guest.
func (p *problem) Error() string {
	if p.upstream != nil {
		return string(p.code) + ": status " + strconv.Itoa(p.upstream.Status)
	}
	if p.err != nil {
		return string(p.code) + ": " + p.msg + ": " + p.err.Error()
	}
	return string(p.code) + ": " + p.msg
}

// Unwrap returns the cause.
func (p *problem) Unwrap() error { return p.err }

// problemBody is application/problem+json (RFC 9457) with larder's four fields.
type problemBody struct {
	Type      string                `json:"type"`
	Title     string                `json:"title"`
	Status    int                   `json:"status"`
	Detail    string                `json:"detail"`
	Instance  string                `json:"instance"`
	Code      Code                  `json:"code"`
	Msg       string                `json:"msg"`
	RequestID string                `json:"requestId"`
	Errors    []violation.Violation `json:"errors"`
	More      bool                  `json:"more,omitempty"`
	Ref       string                `json:"ref,omitempty"`
	Upstream  *upstreamAnswer       `json:"upstream,omitempty"`
}

const (
	contentJSON    = "application/json; charset=utf-8"
	contentProblem = "application/problem+json; charset=utf-8"
	contentHTML    = "text/html; charset=utf-8"

	retryCatalogue = 5 * time.Second  // until a first menu may be there
	retryStorage   = 2 * time.Second  // until Redis may be back
	retryBatches   = 10 * time.Second // until a batch may have ended
	retryBusy      = 5 * time.Second  // until a run may have ended
)

// asProblem is the one place where errors of other packages become answers;
// orderProblem is its part for orders.
func asProblem(err error) *problem {
	var (
		ready   *problem
		syntax  *jsontext.SyntaxError
		unknown *menusync.UnknownRestaurantError
		version *menusync.UnknownVersionError
	)
	if errors.As(err, &ready) { // before its cause, which it words
		return ready
	}
	if p := orderProblem(err); p != nil {
		return p
	}
	switch {
	case errors.As(err, &unknown):
		return restaurantNotFound(unknown.Known)
	case errors.As(err, &version):
		return versionNotFound(version.Version)
	case errors.Is(err, menusync.ErrBusy):
		return &problem{
			code: CodeSyncBusy, msg: "another run of this restaurant is not finished; nothing was changed, try again", retryAfter: retryBusy,
		}
	case errors.As(err, &syntax):
		return &problem{
			code: CodeMalformedJSON, msg: syntax.Error(),
			params: map[string]any{"line": syntax.Line, "column": syntax.Column},
		}
	case errors.Is(err, cache.ErrVersionGone): // before its cause
		return &problem{code: CodeVersionGone, msg: "this version is not kept, or has not been published yet; read the whole menu"}
	case errors.Is(err, cache.ErrNoCatalogue):
		return &problem{code: CodeNoCatalogue, msg: "no menu of this restaurant has been pulled yet", retryAfter: retryCatalogue, err: err}
	case errors.Is(err, redisdb.ErrUnavailable):
		return &problem{code: CodeStorageUnavailable, msg: "Redis " + redisdb.SafeText(err) + "; try again", retryAfter: retryStorage, err: err}
	case errors.Is(err, cache.ErrNoReasons):
		return &problem{code: CodeNoReasons, msg: "the rejection reasons have not been pulled yet", retryAfter: retryCatalogue, err: err}
	case errors.Is(err, menusync.ErrUnknownRun):
		return &problem{code: CodeRunNotFound, msg: "there is no such run, or its record is no longer kept"}
	case errors.Is(err, menusync.ErrUnknownBatch):
		return &problem{code: CodeBatchNotFound, msg: "there is no such batch, or it is no longer kept"}
	case errors.Is(err, menusync.ErrTooManyBatches):
		return &problem{
			code: CodeRateLimited, retryAfter: retryBatches, err: err,
			msg: "too many resyncs of all restaurants are under way; wait until one has ended",
		}
	case errors.Is(err, context.Canceled):
		return &problem{code: CodeClientGone, msg: "the client left before the answer was there", err: err}
	case errors.Is(err, context.DeadlineExceeded):
		return &problem{code: CodeStorageUnavailable, msg: "the answer took too long; try again", retryAfter: retryStorage, err: err}
	default:
		return &problem{code: CodeInternal, msg: "something went wrong inside larder; the log has the cause under this requestId", err: err}
	}
}

// listed is what stands in errors: the violations, or the one entry with the
// code's params; nil for neither.
func (p *problem) listed() []violation.Violation {
	if p.violations == nil && p.params != nil {
		return []violation.Violation{{Code: violation.Code(p.code), Msg: p.msg, Params: p.params}}
	}
	return p.violations
}

// body lays the problem out for one request.
func (p *problem) body(c *gin.Context) problemBody {
	status, title := p.code.status()
	return problemBody{
		Type: "urn:larder:problem:" + string(p.code), Title: title, Status: status,
		Detail: p.msg, Instance: cmp.Or(p.instance, c.Request.URL.EscapedPath()),
		Code: p.code, Msg: p.msg, RequestID: cmp.Or(p.requestID, idOf(c)), Errors: p.listed(), More: p.more, Ref: p.ref, Upstream: p.upstream,
	}
}

// Of gin.Context.
const (
	keyCode   = "larder.code"         // the Code of an answer of 500 and above
	keyFormat = "larder.error_format" // the errorFormat of a request, where it has its own
)

// errorFormat answers the problems of an interface whose errors are no problem
// documents.
type errorFormat interface {
	Refuse(c *gin.Context, p *problem)
}

// setErrorFormat has the problems of a request answered in a format of its own.
func setErrorFormat(c *gin.Context, format errorFormat) { c.Set(keyFormat, format) }

// failureCode returns the code of an answer of 500 and above; empty for any
// other.
func failureCode(c *gin.Context) Code {
	code, _ := c.Value(keyCode).(Code)
	return code
}

// handler answers a request, or returns why it cannot.
type handler func(c *gin.Context) error

// handle makes a Gin handler of h: an error is answered as its problem.
func handle(h handler) gin.HandlerFunc {
	return func(c *gin.Context) {
		if err := h(c); err != nil {
			fail(c, err)
		}
	}
}

// fail answers with the problem that err is, and ends the request. The cause of
// an answer of 500 and above is kept for the log.
func fail(c *gin.Context, err error) {
	p := asProblem(err)
	status, _ := p.code.status()
	if status >= http.StatusInternalServerError {
		_ = c.Error(err)
		c.Set(keyCode, p.code)
	}
	if p.retryAfter > 0 {
		c.Header("Retry-After", seconds(p.retryAfter))
	}
	if p.code == CodeUnauthorized && c.Writer.Header().Get("WWW-Authenticate") == "" {
		c.Header("WWW-Authenticate", `Bearer realm="larder"`)
	}
	c.Header("Cache-Control", "no-store")
	c.Abort()
	if format, ok := c.Value(keyFormat).(errorFormat); ok {
		format.Refuse(c, p)
		return
	}
	text, err := json.Marshal(p.body(c))
	if err != nil {
		_ = c.Error(err)
		text = []byte(`{"type":"urn:larder:problem:internal","status":500,"code":"internal"}`)
	}
	write(c, status, contentProblem, text)
}

// write sends a complete body; a HEAD request gets the same header without it.
func write(c *gin.Context, status int, contentType string, body []byte) {
	header := c.Writer.Header()
	values := [...]string{contentType, strconv.Itoa(len(body))}
	header["Content-Type"], header["Content-Length"] = values[:1:1], values[1:]
	if c.Request.Method == http.MethodHead {
		writeStatus(c, status)
		return
	}
	c.Writer.WriteHeader(status)
	_, _ = c.Writer.Write(body) // the client is gone: nobody to tell
}

// writeStatus answers without a body.
func writeStatus(c *gin.Context, status int) {
	c.Writer.WriteHeader(status)
	c.Writer.WriteHeaderNow()
}

// seconds is a duration as Retry-After wants it: whole, rounded up.
func seconds(d time.Duration) string {
	return strconv.FormatInt(int64((d+time.Second-1)/time.Second), 10)
}
