package httpapi

import (
	"net/http"
	"strconv"
	"strings"

	"github.com/gin-gonic/gin"

	"larder/internal/tracing"
)

// trace begins the span of a request, below the caller's where it sent a
// traceparent. Probes, scrapes and event streams have none, nor have reads that
// the express lane answers (docs/decisions/0038-traces.md).
func (s *Server) trace(c *gin.Context) tracing.Span {
	if s.tracing == nil || untraced(routeOf(c)) {
		return tracing.Span{}
	}
	ctx, span := s.tracing.Serve(c.Request.Context(), c.Request.Header, methodLabel(c.Request.Method))
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
	route, method, status := routeOf(c), methodLabel(c.Request.Method), c.Writer.Status()
	span.Name(method + " " + route)
	span.Text("http.request.method", method)
	span.Text("http.route", route)
	span.Number("http.response.status_code", status)
	span.Text("larder.request_id", idOf(c))
	if status >= http.StatusInternalServerError {
		span.Fail(strconv.Itoa(status))
	}
}

// untraced tells of routes that say nothing of what a guest waits for.
func untraced(route string) bool {
	switch route {
	case "/livez", "/readyz", "/metrics":
		return true
	default:
		return strings.HasSuffix(route, "/events")
	}
}
