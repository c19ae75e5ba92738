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
	"time"

	"github.com/gin-gonic/gin"
	"github.com/sirupsen/logrus"

	"larder.local/httpapi/auth"
	"larder.local/httpapi/compat"
	"larder.local/httpapi/events"
	"larder.local/httpapi/menus"
	"larder.local/httpapi/metrics"
	"larder.local/httpapi/respond"
	"larder.local/internal/tracing"
)

const (
	sampleEvery = 100         // LogSampled logs one of this number of ordinary requests
	slowRequest = time.Second // always logged by LogSampled
	maxLogPath  = 200         // bytes of a path in the log
)

// instrument is the outermost middleware: it sets the request id and the CORS headers, recovers
// panics, and writes the request log and the request metrics.
func (s *Server) instrument(c *gin.Context) {
	start := time.Now()
	span := s.startTrace(c)
	defer span.End()
	c.Writer.Header()[respond.HeaderRequestID] = []string{respond.RequestIDFrom(c.Request.Header.Get(respond.HeaderRequestID))}
	s.cors.header(c)
	if strings.HasPrefix(c.Request.URL.Path, compat.Path) {
		respond.SetErrorFormat(c, s.cfg.Compat.Refuse)
	}
	defer func() {
		if fault := recover(); fault != nil {
			s.onPanic(c, fault)
		}
		s.setTrace(c, span)
		s.finish(c, time.Since(start))
	}()
	// net/http ignores malformed parameters. Without this check, a malformed filter would be
	// dropped silently and the response would contain too much.
	if query := c.Request.URL.RawQuery; query != "" {
		if _, err := url.ParseQuery(query); err != nil {
			respond.Fail(c, respond.InvalidParameter("query", "is malformed: separate parameters with &, and write % as %25"))
			return
		}
	}
	c.Next()
}

// onPanic turns a panic into a 500 without its details. If the response has already begun,
// onPanic closes the connection, so that no client takes a partial response for a complete one.
func (s *Server) onPanic(c *gin.Context, fault any) {
	if err, ok := fault.(error); ok && errors.Is(err, http.ErrAbortHandler) {
		panic(http.ErrAbortHandler)
	}
	s.deps.Log.WithFields(logrus.Fields{
		"event":     "http.panic",
		"requestId": respond.RequestID(c),
		"route":     routeOf(c),
		"panic":     fmt.Sprint(fault),
		"stack":     string(debug.Stack()),
	}).WithFields(tracing.LogFields(c.Request.Context())).Error("a request handler panicked")
	if c.Writer.Written() {
		panic(http.ErrAbortHandler)
	}
	id := respond.RequestID(c)
	clear(c.Writer.Header()) // the headers that the handler set belong to another response
	c.Writer.Header()[respond.HeaderRequestID] = []string{id}
	s.cors.header(c)
	const msg = "internal error; the log has the cause under this requestId"
	respond.Fail(c, &respond.Problem{Code: respond.CodeInternal, Msg: msg})
}

// finish counts the request, and logs it if http.access_log selects it.
func (s *Server) finish(c *gin.Context, took time.Duration) {
	status, route, stream := c.Writer.Status(), routeOf(c), events.IsStream(c)
	s.deps.Metrics.Request(route, c.Request.Method, status, took, stream)
	probe := strings.HasPrefix(route, "/livez") || strings.HasPrefix(route, "/readyz")
	if !s.logs(probe, stream, status, took) {
		return
	}
	s.logRequest(menus.Line{
		ID:     respond.RequestID(c),
		Method: c.Request.Method,
		Route:  route,
		Path:   c.Request.URL.Path,
		Status: status,
		Bytes:  max(c.Writer.Size(), 0),
		Took:   took,
		Client: auth.CallerOf(c).Client,
		Code:   respond.FailureCode(c),
		Causes: c.Errors.Errors(),
		Trace:  tracing.LogFields(c.Request.Context()),
	})
}

// logRequest logs one request.
func (s *Server) logRequest(line menus.Line) {
	// Without query, body and address: a log line has no secrets and no personal data.
	entry := s.deps.Log.WithFields(line.Trace).WithFields(logrus.Fields{
		"event":     "http.request",
		"requestId": line.ID,
		"method":    line.Method,
		"route":     line.Route,
		"path":      line.Path[:min(len(line.Path), maxLogPath)],
		"status":    line.Status,
		"bytes":     line.Bytes,
		"ms":        float64(line.Took.Microseconds()) / 1000,
	})
	if line.Client != "" {
		entry = entry.WithField("client", line.Client)
	}
	if len(line.Causes) > 0 {
		entry = entry.WithField("cause", strings.Join(line.Causes, "; "))
	}
	if line.Code != "" {
		entry = entry.WithField("code", line.Code)
	}
	switch {
	case line.Code == respond.CodeUpstreamBusy: // policy O8a: rejecting orders under overload is not an error of larder
		entry.Warn("request rejected")
	case line.Status >= http.StatusInternalServerError:
		entry.Error("request failed")
	default:
		entry.Info("request")
	}
}

// logs reports whether http.access_log selects a request. probe marks a health check. stream marks an event
// stream, whose duration depends on its client.
func (s *Server) logs(probe, stream bool, status int, took time.Duration) bool {
	switch {
	case s.cfg.AccessLog == LogAll:
		return true
	case probe: // probes come every few seconds, and "not ready" is a normal response
		return false
	case status >= http.StatusInternalServerError:
		return true
	case s.cfg.AccessLog == LogErrors:
		return false
	default:
		return took >= slowRequest && !stream || s.sampled.Add(1)%sampleEvery == 0
	}
}

// routeOf returns the registered route, or "unmatched", so that the number of label values is bounded.
func routeOf(c *gin.Context) string {
	return cmp.Or(c.FullPath(), "unmatched")
}

// startTrace starts the span of a request, as a child of the span in its traceparent. Probes, scrapes, event
// streams and reads on the fast path have no span (docs/decisions/0038-opentelemetry-traces.md).
func (s *Server) startTrace(c *gin.Context) tracing.Span {
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

// setTrace sets the attributes of the span that startTrace started.
func (s *Server) setTrace(c *gin.Context, span tracing.Span) {
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
