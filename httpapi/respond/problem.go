package respond

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"net/http"
	"strconv"
	"strings"
	"time"

	"github.com/gin-gonic/gin"

	"larder/cache"
	"larder/internal/jsontext"
	"larder/internal/menu"
	"larder/internal/redisdb"
	"larder/ordering/violation"
	menusync "larder/sync"
	"larder/sync/runlog"
)

// Problem is a refusal on its way to the client: what it is, what a person may
// read of it, and the cause, which goes to the log alone.
type Problem struct { //nolint:errname // named after the problem documents of RFC 9457, which it becomes
	Code       Code
	Msg        string
	Params     map[string]any        // becomes the one entry of errors
	Violations []violation.Violation // becomes errors
	More       bool                  // there are more violations than those listed (policy H7)
	Upstream   *UpstreamAnswer
	Ref        string
	RetryAfter time.Duration
	Cause      error

	// Of an answer that is told from a record, and so the same each time: the
	// first request's id, and where it went. Empty: this request's.
	RequestID, Instance string
}

// UpstreamAnswer is what the ordering service said, passed on inside a 502.
type UpstreamAnswer struct {
	Status    int             `json:"status"`
	Code      string          `json:"code"`
	Msg       string          `json:"msg"`
	RequestID string          `json:"requestId"`
	Errors    json.RawMessage `json:"errors,omitempty"` // what it found wrong, as it said it
}

// Error is the text of the log, never of an answer. What the ordering service
// said is left out: it may have said it of a guest.
func (p *Problem) Error() string {
	if p.Upstream != nil {
		return string(p.Code) + ": status " + strconv.Itoa(p.Upstream.Status)
	}
	if p.Cause != nil {
		return string(p.Code) + ": " + p.Msg + ": " + p.Cause.Error()
	}
	return string(p.Code) + ": " + p.Msg
}

// Unwrap returns the cause.
func (p *Problem) Unwrap() error { return p.Cause }

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
	Upstream  *UpstreamAnswer       `json:"upstream,omitempty"`
}

// Content types of answers.
const (
	ContentJSON    = "application/json; charset=utf-8"
	ContentHTML    = "text/html; charset=utf-8"
	contentProblem = "application/problem+json; charset=utf-8"
)

const (
	retryCatalogue = 5 * time.Second  // until a first menu may be there
	retryStorage   = 2 * time.Second  // until Redis may be back
	retryBatches   = 10 * time.Second // until a batch may have ended
	retryBusy      = 5 * time.Second  // until a run may have ended
)

// ProblemOf is the one place where errors of other packages become answers;
// orderProblem is its part for orders.
func ProblemOf(err error) *Problem {
	var (
		ready   *Problem
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
		return RestaurantNotFound(unknown.Known)
	case errors.As(err, &version):
		return VersionNotFound(version.Version)
	case errors.Is(err, menusync.ErrBusy):
		return &Problem{
			Code: CodeSyncBusy, Msg: "another run of this restaurant is not finished; nothing was changed, try again", RetryAfter: retryBusy,
		}
	case errors.As(err, &syntax):
		return &Problem{
			Code: CodeMalformedJSON, Msg: syntax.Error(),
			Params: map[string]any{"line": syntax.Line, "column": syntax.Column},
		}
	case errors.Is(err, cache.ErrVersionGone): // before its cause
		return &Problem{Code: CodeVersionGone, Msg: "this version is not kept, or has not been published yet; read the whole menu"}
	case errors.Is(err, cache.ErrNoCatalogue):
		return &Problem{Code: CodeNoCatalogue, Msg: "no menu of this restaurant has been pulled yet", RetryAfter: retryCatalogue, Cause: err}
	case errors.Is(err, redisdb.ErrUnavailable):
		return &Problem{Code: CodeStorageUnavailable, Msg: "Redis " + redisdb.SafeText(err) + "; try again", RetryAfter: retryStorage, Cause: err}
	case errors.Is(err, cache.ErrNoReasons):
		return &Problem{Code: CodeNoReasons, Msg: "the rejection reasons have not been pulled yet", RetryAfter: retryCatalogue, Cause: err}
	case errors.Is(err, runlog.ErrUnknownRun):
		return &Problem{Code: CodeRunNotFound, Msg: "there is no such run, or its record is no longer kept"}
	case errors.Is(err, runlog.ErrUnknownBatch):
		return &Problem{Code: CodeBatchNotFound, Msg: "there is no such batch, or it is no longer kept"}
	case errors.Is(err, runlog.ErrTooManyBatches):
		return &Problem{
			Code: CodeRateLimited, RetryAfter: retryBatches, Cause: err,
			Msg: "too many resyncs of all restaurants are under way; wait until one has ended",
		}
	case errors.Is(err, context.Canceled):
		return &Problem{Code: CodeClientGone, Msg: "the client left before the answer was there", Cause: err}
	case errors.Is(err, context.DeadlineExceeded):
		return &Problem{Code: CodeStorageUnavailable, Msg: "the answer took too long; try again", RetryAfter: retryStorage, Cause: err}
	default:
		return &Problem{Code: CodeInternal, Msg: "something went wrong inside larder; the log has the cause under this requestId", Cause: err}
	}
}

// Entries is what stands in errors: the violations, or the one entry with the
// code's params; nil for neither.
func (p *Problem) Entries() []violation.Violation {
	if p.Violations == nil && p.Params != nil {
		return []violation.Violation{{Code: violation.Code(p.Code), Msg: p.Msg, Params: p.Params}}
	}
	return p.Violations
}

// body lays the problem out for one request.
func (p *Problem) body(c *gin.Context) problemBody {
	status, title := p.Code.Status()
	return problemBody{
		Type: "urn:larder:problem:" + string(p.Code), Title: title, Status: status,
		Detail: p.Msg, Instance: cmp.Or(p.Instance, c.Request.URL.EscapedPath()),
		Code: p.Code, Msg: p.Msg, RequestID: cmp.Or(p.RequestID, RequestID(c)),
		Errors: p.Entries(), More: p.More, Ref: p.Ref, Upstream: p.Upstream,
	}
}

// Of gin.Context.
const (
	keyCode   = "larder.code"         // the Code of an answer of 500 and above
	keyFormat = "larder.error_format" // the ErrorFormat of a request, where it has its own
)

// ErrorFormat answers the problems of an interface whose errors are no problem
// documents.
type ErrorFormat interface {
	Refuse(c *gin.Context, p *Problem)
}

// SetErrorFormat has the problems of a request answered in a format of its own.
func SetErrorFormat(c *gin.Context, format ErrorFormat) { c.Set(keyFormat, format) }

// FailureCode returns the code of an answer of 500 and above; empty for any
// other.
func FailureCode(c *gin.Context) Code {
	code, _ := c.Value(keyCode).(Code)
	return code
}

// Handler answers a request, or returns why it cannot.
type Handler func(c *gin.Context) error

// Handle makes a Gin handler of h: an error is answered as its problem.
func Handle(h Handler) gin.HandlerFunc {
	return func(c *gin.Context) {
		if err := h(c); err != nil {
			Fail(c, err)
		}
	}
}

// Fail answers with the problem that err is, and ends the request. The cause of
// an answer of 500 and above is kept for the log.
func Fail(c *gin.Context, err error) {
	p := ProblemOf(err)
	status, _ := p.Code.Status()
	if status >= http.StatusInternalServerError {
		_ = c.Error(err)
		c.Set(keyCode, p.Code)
	}
	if p.RetryAfter > 0 {
		c.Header("Retry-After", Seconds(p.RetryAfter))
	}
	if p.Code == CodeUnauthorized && c.Writer.Header().Get("WWW-Authenticate") == "" {
		c.Header("WWW-Authenticate", `Bearer realm="larder"`)
	}
	c.Header("Cache-Control", "no-store")
	c.Abort()
	if format, ok := c.Value(keyFormat).(ErrorFormat); ok {
		format.Refuse(c, p)
		return
	}
	text, err := json.Marshal(p.body(c))
	if err != nil {
		_ = c.Error(err)
		text = []byte(`{"type":"urn:larder:problem:internal","status":500,"code":"internal"}`)
	}
	Write(c, status, contentProblem, text)
}

// Write sends a complete body; a HEAD request gets the same header without it.
func Write(c *gin.Context, status int, contentType string, body []byte) {
	header := c.Writer.Header()
	values := [...]string{contentType, strconv.Itoa(len(body))}
	header["Content-Type"], header["Content-Length"] = values[:1:1], values[1:]
	if c.Request.Method == http.MethodHead {
		Status(c, status)
		return
	}
	c.Writer.WriteHeader(status)
	_, _ = c.Writer.Write(body) // the client is gone: nobody to tell
}

// Status answers without a body.
func Status(c *gin.Context, status int) {
	c.Writer.WriteHeader(status)
	c.Writer.WriteHeaderNow()
}

// Seconds is a duration as Retry-After wants it: whole, rounded up.
func Seconds(d time.Duration) string {
	return strconv.FormatInt(int64((d+time.Second-1)/time.Second), 10)
}

// maxKnown bounds the ids that restaurant_not_found and restaurant_required list.
const maxKnown = 100

// RestaurantNotFound lists the ids that exist.
func RestaurantNotFound(known []menu.RestaurantID) *Problem {
	return restaurantProblem(CodeRestaurantNotFound, "there is no such restaurant; ", known)
}

// RestaurantRequired lists the ids to choose from.
func RestaurantRequired(known []menu.RestaurantID) *Problem {
	return restaurantProblem(CodeRestaurantRequired, "name the restaurant; ", known)
}

// restaurantProblem lists at most a hundred of the ids, in the sentence and as
// params.
func restaurantProblem(code Code, msg string, known []menu.RestaurantID) *Problem {
	ids := append([]menu.RestaurantID{}, known[:min(len(known), maxKnown)]...)
	params := map[string]any{"known": ids}
	switch {
	case len(known) == 0:
		msg += "none is configured"
	case len(known) > maxKnown:
		params["total"] = len(known)
		msg += "the first of " + strconv.Itoa(len(known)) + " that exist are: " + join(ids, ", ")
	default:
		msg += "there are: " + join(ids, ", ")
	}
	return &Problem{Code: code, Msg: msg, Params: params}
}

// ConnectionNotFound lists the connections that there are, for this caller.
func ConnectionNotFound(names []string) *Problem {
	p := &Problem{
		Code: CodeConnectionNotFound, Msg: "there is no such connection; there are: " + strings.Join(names, ", "),
		Params: map[string]any{"known": names},
	}
	if len(names) == 0 {
		p.Msg = "no connection is configured"
	}
	return p
}

// VersionNotFound refuses a version that is not in the history.
func VersionNotFound(version int64) *Problem {
	return &Problem{
		Code:   CodeVersionNotFound,
		Msg:    "version " + strconv.FormatInt(version, 10) + " is not kept; /v1/ops/restaurants/{restaurant}/versions lists those that are",
		Params: map[string]any{"version": version},
	}
}
