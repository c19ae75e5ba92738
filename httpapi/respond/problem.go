package respond

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"strconv"
	"strings"
	"time"

	"github.com/gin-gonic/gin"

	"larder.local/cache"
	"larder.local/internal/jsontext"
	"larder.local/internal/menu"
	"larder.local/internal/redisdb"
	"larder.local/ordering"
	"larder.local/ordering/violation"
	menusync "larder.local/sync"
	"larder.local/sync/runlog"
)

// Problem is an error response: its code, its message for people, and the cause for the log.
type Problem struct { //nolint:errname // named after the problem documents of RFC 9457
	Code       Code
	Msg        string
	Params     map[string]any        // the one entry of errors
	Violations []violation.Violation // the errors
	More       bool                  // there are more violations than listed (policy H7)
	Ref        string
	RetryAfter time.Duration
	Cause      error
	upstream   *upstreamAnswer
	// public replaces Msg and Params for callers without the scope ops, who cannot remove the cause; "" if they get both.
	public string

	// The request id and path of the first request, if the response comes from a record and
	// must be the same each time. If empty, those of this request are used.
	RequestID, instance string
}

// upstreamAnswer is the ordering service's response inside a 502.
type upstreamAnswer struct {
	Status    int             `json:"status"`
	Code      string          `json:"code"`
	Msg       string          `json:"msg"`
	RequestID string          `json:"requestId"`
	Errors    json.RawMessage `json:"errors,omitempty"` // the errors in its response
}

// Error returns the text for the log, never for a response. It omits the ordering service's
// message, which can contain guests' data.
func (p *Problem) Error() string {
	if p.upstream != nil {
		return string(p.Code) + ": status " + strconv.Itoa(p.upstream.Status)
	}
	if p.Cause != nil {
		return string(p.Code) + ": " + p.Msg + ": " + p.Cause.Error()
	}
	return string(p.Code) + ": " + p.Msg
}

// Unwrap returns the cause.
func (p *Problem) Unwrap() error { return p.Cause }

// problemBody is application/problem+json (RFC 9457) with larder's extension fields.
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

// Content types of responses.
const (
	ContentJSON    = "application/json; charset=utf-8"
	ContentHTML    = "text/html; charset=utf-8"
	contentProblem = "application/problem+json; charset=utf-8"
)

const (
	retryCatalogue = 5 * time.Second  // until a first menu may exist
	retryStorage   = 2 * time.Second  // until Redis may be up again
	retryBatches   = 10 * time.Second // until a batch may have finished
	retryBusy      = 5 * time.Second  // until a run may have finished
)

// plainErrors are the errors without data of their own, in the order in which ProblemOf checks them.
var plainErrors = []struct { //nolint:gochecknoglobals // constant
	err   error
	code  Code
	msg   string
	retry time.Duration
}{
	{menusync.ErrBusy, CodeSyncBusy, "another run of this restaurant is in progress; nothing was changed; try again", retryBusy},
	// Before its cause, which is ErrNoCatalogue.
	{cache.ErrVersionGone, CodeVersionGone, "this version has expired or has not been published; read the whole menu", 0},
	{cache.ErrNoCatalogue, CodeNoCatalogue, "no menu of this restaurant has been fetched yet; try again later", retryCatalogue},
	{
		err:   cache.ErrOtherSource,
		code:  CodeMenuOfAnotherService,
		msg:   "the menu of this restaurant's ordering service has not been fetched yet; try again later",
		retry: retryCatalogue,
	},
	{cache.ErrNotQuarantined, CodeVersionNotFound, "no quarantined menu is kept: there is none, or there was no space for it", 0},
	{cache.ErrNoReasons, CodeNoReasons, "the rejection reasons have not been fetched yet; try again later", retryCatalogue},
	{runlog.ErrUnknownRun, CodeRunNotFound, "the run does not exist, or its record has expired", 0},
	{runlog.ErrUnknownBatch, CodeBatchNotFound, "the batch does not exist, or it has expired", 0},
	{
		err:   runlog.ErrTooManyBatches,
		code:  CodeRateLimited,
		msg:   "too many syncs of all restaurants are in progress; wait until one has finished",
		retry: retryBatches,
	},
	{ordering.ErrNoOrder, CodeOrderNotFound, "the order does not exist, or its record has expired", 0},
	{context.Canceled, CodeClientGone, "the client disconnected before the response", 0},
	{context.DeadlineExceeded, CodeStorageUnavailable, "the response took too long; try again", retryStorage},
}

// ProblemOf is the only mapping from errors of other packages to responses; orderProblem is its part for orders.
func ProblemOf(err error) *Problem {
	if ready, ok := errors.AsType[*Problem](err); ok { // before its cause
		return ready
	}
	if p := orderProblem(err); p != nil {
		return p
	}
	if unknown, ok := errors.AsType[*menusync.UnknownRestaurantError](err); ok {
		return RestaurantNotFound(nil, unknown.Total)
	}
	if version, ok := errors.AsType[*menusync.UnknownVersionError](err); ok {
		return VersionNotFound(version.Version)
	}
	if syntax, ok := errors.AsType[*jsontext.SyntaxError](err); ok {
		params := map[string]any{"line": syntax.Line, "column": syntax.Column}
		return &Problem{Code: CodeMalformedJSON, Msg: syntax.Error(), Params: params}
	}
	if errors.Is(err, redisdb.ErrUnavailable) { // before its cause
		p := temporaryProblem(CodeStorageUnavailable, retryStorage, err, "Redis "+redisdb.SafeText(err)+"; try again")
		p.public = "the storage is not available at the moment; try again"
		return p
	}
	for _, plain := range plainErrors {
		if errors.Is(err, plain.err) {
			return temporaryProblem(plain.code, plain.retry, err, plain.msg)
		}
	}
	return &Problem{Code: CodeInternal, Msg: "internal error; the log has the cause under this requestId", Cause: err}
}

// temporaryProblem returns the problem of a failure that may be over after the wait; 0 means that the wait is not known.
func temporaryProblem(code Code, wait time.Duration, cause error, msg string) *Problem {
	return &Problem{Code: code, Msg: msg, Cause: cause, RetryAfter: wait}
}

// Invalid returns the problem of a request with violations. more means that there are more than listed.
func Invalid(msg string, violations []violation.Violation, more bool, cause error) *Problem {
	return &Problem{Code: CodeValidationFailed, Msg: msg, Violations: violations, More: more, Cause: cause}
}

// Entries returns the errors of the body: the violations, or one entry with the code's params, or nil.
func (p *Problem) Entries() []violation.Violation {
	if p.Violations == nil && p.Params != nil {
		return []violation.Violation{{Code: violation.Code(p.Code), Msg: p.Msg, Params: p.Params}}
	}
	return p.Violations
}

// body returns the problem's body for one request.
func (p *Problem) body(c *gin.Context) problemBody {
	status, title := p.Code.Status()
	return problemBody{
		Type:      "urn:larder:problem:" + string(p.Code),
		Title:     title,
		Status:    status,
		Detail:    p.Msg,
		Instance:  cmp.Or(p.instance, shortPath(c.Request.URL.EscapedPath())),
		Code:      p.Code,
		Msg:       p.Msg,
		RequestID: cmp.Or(p.RequestID, RequestID(c)),
		Errors:    p.Entries(),
		More:      p.More,
		Ref:       p.Ref,
		Upstream:  p.upstream,
	}
}

// shortPath cuts a path that would need more than 160 bytes of a problem (policy H7), but not within an escape.
func shortPath(path string) string {
	const most = 160
	if len(path)+5*strings.Count(path, "&") <= most { // JSON has \u0026 for "&"
		return path
	}
	path, _, _ = strings.Cut(path[:min(most, len(path))], "&")
	if escape := strings.LastIndexByte(path, '%'); escape >= most-2 {
		return path[:escape]
	}
	return path
}

// Keys of gin.Context.
const (
	keyCode     = "larder.code"         // the Code of a response with status 500 or higher
	keyFormat   = "larder.error_format" // what SetErrorFormat has set
	keyOperator = "larder.operator"     // what SetOperator has set
)

// SetOperator makes Fail answer with the text for operators: the caller has the scope ops.
func SetOperator(c *gin.Context) { c.Set(keyOperator, true) }

// SetErrorFormat makes Fail write the problem of a request by the given function instead of as a problem document.
func SetErrorFormat(c *gin.Context, write func(*gin.Context, *Problem)) { c.Set(keyFormat, write) }

// FailureCode returns the code of a response with status 500 or higher, or "".
func FailureCode(c *gin.Context) Code {
	code, _ := c.Value(keyCode).(Code)
	return code
}

// Handler answers a request, or returns an error.
type Handler func(c *gin.Context) error

// Handle returns a Gin handler that answers h's error with its problem.
func Handle(h Handler) gin.HandlerFunc {
	return func(c *gin.Context) {
		if err := h(c); err != nil {
			Fail(c, err)
		}
	}
}

// Fail answers with the problem of err and ends the request. It stores the cause of a response
// with status 500 or higher for the log.
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
	if p.public != "" && !c.GetBool(keyOperator) {
		p = &Problem{Code: p.Code, Msg: p.public}
	}
	c.Header("Cache-Control", "no-store")
	c.Abort()
	if write, ok := c.Value(keyFormat).(func(*gin.Context, *Problem)); ok {
		write(c, p)
		return
	}
	text, err := json.Marshal(p.body(c))
	if err != nil {
		_ = c.Error(err)
		text = []byte(`{"type":"urn:larder:problem:internal","status":500,"code":"internal"}`)
	}
	Write(c, status, contentProblem, text)
}

// Write writes a complete response. For HEAD it writes only the header.
func Write(c *gin.Context, status int, contentType string, body []byte) {
	header := c.Writer.Header()
	values := [...]string{contentType, strconv.Itoa(len(body))}
	header["Content-Type"], header["Content-Length"] = values[:1:1], values[1:]
	if c.Request.Method == http.MethodHead {
		Status(c, status)
		return
	}
	c.Writer.WriteHeader(status)
	_, _ = c.Writer.Write(body) // an error means that the client has disconnected
}

// Status answers without a body.
func Status(c *gin.Context, status int) {
	c.Writer.WriteHeader(status)
	c.Writer.WriteHeaderNow()
}

// Seconds returns a duration for Retry-After: whole seconds, rounded up.
func Seconds(d time.Duration) string {
	return strconv.FormatInt(int64((d+time.Second-1)/time.Second), 10)
}

// RestaurantNotFound returns a problem for an unknown id. It has ids that follow it, and how many restaurants
// there are, from directory.Directory.Following (policy H7).
func RestaurantNotFound(following []menu.RestaurantID, total int) *Problem {
	return restaurantProblem(CodeRestaurantNotFound, "the restaurant does not exist", following, total)
}

// RestaurantRequired returns a problem with the first ids, and how many restaurants there are.
func RestaurantRequired(first []menu.RestaurantID, total int) *Problem {
	return restaurantProblem(CodeRestaurantRequired, "specify a restaurant", first, total)
}

func restaurantProblem(code Code, msg string, ids []menu.RestaurantID, total int) *Problem {
	if msg += "; GET /v1/restaurants lists those that exist"; total == 0 {
		msg = "no restaurant is configured"
	}
	return &Problem{Code: code, Msg: msg, Params: map[string]any{"known": append([]menu.RestaurantID{}, ids...), "total": total}}
}

// ConnectionNotFound returns a problem that lists the connections of this caller.
func ConnectionNotFound(names []string) *Problem {
	msg := "the connection does not exist; known connections: " + strings.Join(names, ", ")
	if len(names) == 0 {
		msg = "no connection is configured"
	}
	return &Problem{Code: CodeConnectionNotFound, Msg: msg, Params: map[string]any{"known": names}}
}

// VersionNotFound returns the problem of a version that is not in the history.
func VersionNotFound(version int64) *Problem {
	const form = "version %d is not in the history; /v1/ops/restaurants/{restaurant}/versions lists the available ones"
	return &Problem{Code: CodeVersionNotFound, Msg: fmt.Sprintf(form, version), Params: map[string]any{"version": version}}
}
