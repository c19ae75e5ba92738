package httpapi

import (
	"cmp"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"runtime/debug"
	"strconv"
	"strings"
	"sync/atomic"
	"time"

	"github.com/gin-gonic/gin"
	"github.com/sirupsen/logrus"

	"larder/httpapi/auth"
	"larder/httpapi/compat"
	"larder/httpapi/events"
	"larder/httpapi/menus"
	"larder/httpapi/metrics"
	"larder/httpapi/respond"
	"larder/internal/tracing"
)

const (
	sampleEvery = 100         // of the requests that LogSampled would not log anyway
	slowRequest = time.Second // always logged by LogSampled
	maxLogPath  = 200         // bytes of a path in the log
)

// instrument is the outermost layer of every request: its id, CORS, the answer to a
// panic, the request log and the request metrics.
func (s *Server) instrument(c *gin.Context) {
	start := time.Now()
	span := s.trace(c)
	defer span.End()
	c.Writer.Header()[respond.HeaderRequestID] = []string{respond.RequestIDFrom(c.Request.Header.Get(respond.HeaderRequestID))}
	s.cors.header(c)
	if strings.HasPrefix(c.Request.URL.Path, compat.Path) {
		respond.SetErrorFormat(c, s.cfg.Compat)
	}
	defer func() {
		if fault := recover(); fault != nil {
			s.onPanic(c, fault)
		}
		s.traced(c, span)
		s.finish(c, time.Since(start))
	}()
	// net/http drops what is malformed, and a filter with it: too much would
	// be answered, without a word.
	if query := c.Request.URL.RawQuery; query != "" {
		if _, err := url.ParseQuery(query); err != nil {
			respond.Fail(c, respond.InvalidParameter("query", "is not well-formed: write & between parameters, and % as %25"))
			return
		}
	}
	c.Next()
}

// onPanic turns a panic into a 500 that says nothing of it. Where the answer
// has already begun the connection is cut, so that no client takes half an
// answer for a whole one.
func (s *Server) onPanic(c *gin.Context, fault any) {
	if err, ok := fault.(error); ok && errors.Is(err, http.ErrAbortHandler) {
		panic(http.ErrAbortHandler)
	}
	s.deps.Log.WithFields(logrus.Fields{
		"event": "http.panic", "requestId": respond.RequestID(c), "route": routeOf(c),
		"panic": fmt.Sprint(fault), "stack": string(debug.Stack()),
	}).WithFields(tracing.LogFields(c.Request.Context())).Error("a request handler panicked")
	if c.Writer.Written() {
		panic(http.ErrAbortHandler)
	}
	id := respond.RequestID(c)
	clear(c.Writer.Header()) // what the handler had prepared belongs to another answer
	c.Writer.Header()[respond.HeaderRequestID] = []string{id}
	s.cors.header(c)
	const msg = "something went wrong inside larder; the log has the cause under this requestId"
	respond.Fail(c, &respond.Problem{Code: respond.CodeInternal, Msg: msg})
}

// finish counts the request and, where the setting says so, logs it.
func (s *Server) finish(c *gin.Context, took time.Duration) {
	status, route, stream := c.Writer.Status(), routeOf(c), events.IsStream(c)
	s.deps.Metrics.Request(route, c.Request.Method, status, took, stream)
	probe := strings.HasPrefix(route, "/livez") || strings.HasPrefix(route, "/readyz")
	if !s.requests.wants(probe, stream, status, took) {
		return
	}
	s.requests.write(requestLine{
		Line: menus.Line{
			ID: respond.RequestID(c), Method: c.Request.Method, Route: route, Path: c.Request.URL.Path,
			Status: status, Bytes: max(c.Writer.Size(), 0), Took: took, Client: auth.CallerOf(c).Client,
		},
		code: respond.FailureCode(c), causes: c.Errors.Errors(), trace: tracing.LogFields(c.Request.Context()),
	})
}

// requestLine is what the log tells of a request.
type requestLine struct {
	menus.Line
	causes []string
	code   respond.Code  // of a failure; empty where there is none
	trace  logrus.Fields // its ids; nil where it is not traced
}

// requestLog has a line for each request that http.access_log chooses.
type requestLog struct {
	access  AccessLog
	to      logrus.FieldLogger
	sampled atomic.Uint64
}

// write writes the line of one request.
func (l *requestLog) write(line requestLine) {
	// No query, no body, no address: a line holds no secret and no personal data.
	entry := l.to.WithFields(line.trace).WithFields(logrus.Fields{
		"event": "http.request", "requestId": line.ID, "method": line.Method, "route": line.Route,
		"path":   line.Path[:min(len(line.Path), maxLogPath)],
		"status": line.Status, "bytes": line.Bytes, "ms": float64(line.Took.Microseconds()) / 1000,
	})
	if line.Client != "" {
		entry = entry.WithField("client", line.Client)
	}
	if len(line.causes) > 0 {
		entry = entry.WithField("cause", strings.Join(line.causes, "; "))
	}
	if line.code != "" {
		entry = entry.WithField("code", line.code)
	}
	switch {
	case line.code == respond.CodeUpstreamBusy: // policy O8a: rejecting orders under overload is no fault of larder
		entry.Warn("request rejected")
	case line.Status >= http.StatusInternalServerError:
		entry.Error("request failed")
	default:
		entry.Info("request")
	}
}

// wants reports whether a request gets a line. probe is one that asks how larder
// is, stream one whose answer takes as long as its reader stays.
func (l *requestLog) wants(probe, stream bool, status int, took time.Duration) bool {
	switch {
	case l.access == LogAll:
		return true
	case probe: // "not ready" is an answer, asked for every few seconds
		return false
	case status >= http.StatusInternalServerError:
		return true
	case l.access == LogErrors:
		return false
	default:
		return took >= slowRequest && !stream || l.sampled.Add(1)%sampleEvery == 0
	}
}

// routeOf is the route as it was registered; what matches none has one name
// for all, so that labels stay bounded.
func routeOf(c *gin.Context) string {
	return cmp.Or(c.FullPath(), "unmatched")
}

// trace begins the span of a request, below the caller's where it sent a
// traceparent. Probes, scrapes and event streams have none, nor have reads that
// the fast path answers (docs/decisions/0038-opentelemetry-traces.md).
func (s *Server) trace(c *gin.Context) tracing.Span {
	switch route := routeOf(c); {
	case s.deps.Tracing == nil, route == "/livez", route == "/readyz", route == "/metrics", strings.HasSuffix(route, "/events"):
		return tracing.Span{}
	}
	ctx, span := s.deps.Tracing.Serve(c.Request.Context(), c.Request.Header, metrics.Method(c.Request.Method))
	if span.Kept() {
		c.Request = c.Request.WithContext(ctx)
	}
	return span
}

// traced ends what trace began, but for the time that a panic that cuts the
// connection takes.
func (s *Server) traced(c *gin.Context, span tracing.Span) {
	if !span.Kept() {
		return
	}
	route, method, status := routeOf(c), metrics.Method(c.Request.Method), c.Writer.Status()
	span.Name(method + " " + route)
	span.Text("http.request.method", method)
	span.Text("http.route", route)
	span.Number("http.response.status_code", status)
	span.Text("larder.request_id", respond.RequestID(c))
	if status >= http.StatusInternalServerError {
		span.Fail(strconv.Itoa(status))
	}
}
