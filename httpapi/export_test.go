package httpapi

import (
	"net"
	"net/http"

	"github.com/gin-gonic/gin"
	"github.com/sirupsen/logrus"

	"larder.local/httpapi/fastpath"
)

// Handler returns a handler for the routes of the public listener.
func (s *Server) Handler() http.Handler { return s.handler }

// OpsHandler returns a handler for the routes of http.ops_listen.
func (s *Server) OpsHandler() http.Handler { return s.ops }

// FastPath puts the fast path before a test's listener.
func (s *Server) FastPath(inner net.Listener) *fastpath.Listener { return s.newFastPath(inner) }

// PlacesFor returns the number of connections that are allowed; 0 means no limit.
func PlacesFor(limit, files int, log logrus.FieldLogger) int {
	return newOpenConnections(limit, files, &addressConnections{}, log).limit
}

// Routes returns the routes of both listeners, in Gin's format.
func (s *Server) Routes() gin.RoutesInfo {
	var all gin.RoutesInfo
	for _, handler := range []any{s.handler, s.ops} {
		if engine, ok := handler.(*gin.Engine); ok {
			all = append(all, engine.Routes()...)
		}
	}
	return all
}

// OpsAddr calls opsAddr.
func (s *Server) OpsAddr() string { return s.opsAddr() }
