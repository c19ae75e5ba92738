package httpapi

import (
	"net"
	"net/http"
	"strings"

	"github.com/gin-gonic/gin"
	"github.com/sirupsen/logrus"

	"larder/httpapi/fastpath"
	"larder/httpapi/orders"
)

// Handler serves the routes of the public listener.
func (s *Server) Handler() http.Handler { return s.handler }

// OpsHandler serves the routes of http.ops_listen.
func (s *Server) OpsHandler() http.Handler { return s.ops }

// FastPath puts the fast path before a test's listener.
func (s *Server) FastPath(inner net.Listener) *fastpath.Listener { return s.newFastPath(inner) }

// PlacesFor is how many connections are let in; 0 is no limit.
func PlacesFor(limit, files int, log logrus.FieldLogger) int {
	return newOpenConnections(limit, files, newAddressConnections(0, nil), log).limit
}

// Routes are the routes of both listeners, as Gin has them.
func (s *Server) Routes() gin.RoutesInfo {
	var all gin.RoutesInfo
	for _, handler := range []any{s.handler, s.ops} {
		if engine, ok := handler.(*gin.Engine); ok {
			all = append(all, engine.Routes()...)
		}
	}
	return all
}

// OfPages reports whether a path is one of the pages that larder serves to
// people, or of their files: those are no part of the interface.
func OfPages(path string) bool {
	for _, folder := range []string{"/web/", "/photos/", "/ops/"} {
		if strings.HasPrefix(path, folder) && path != "/ops/session" {
			return true
		}
	}
	return path == "/" || path == "/ops"
}

// OrderTokens is how many tokens of its rate limit an order takes.
func OrderTokens(body string) int { return orders.Tokens([]byte(body)) }
