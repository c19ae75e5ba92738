package httpapi

import (
	"fmt"
	"net"
	"runtime/debug"
	"time"

	"github.com/sirupsen/logrus"

	"larder/httpapi/fastpath"
	"larder/httpapi/menus"
)

// newFastPath puts the fast path before the public listener. It answers hot
// reads as the handlers do, by the same functions; whatever is not at hand, or
// is to be refused, is left to them.
func (s *Server) newFastPath(inner net.Listener) *fastpath.Listener {
	deps := &menus.FastPathDeps{
		Auth: s.auth, CORS: s.cors, OnPanic: s.onFastPathPanic,
		ShouldLog: func(status int, took time.Duration) bool { return s.shouldLog(false, false, status, took) },
		Log: func(line menus.Line) {
			s.logRequest(requestLine{
				id: line.ID, method: line.Method, route: line.Route, path: line.Path,
				status: line.Status, bytes: line.Bytes, took: line.Took, client: line.Client,
			})
		},
	}
	return fastpath.New(inner, fastpath.Config{
		Handler:     func() fastpath.Handler { return s.menus.FastPath(deps) },
		HeadTimeout: readTimeout, IdleTimeout: idleTimeout, WriteTimeout: writeTimeout,
		OnPanic: s.onFastPathPanic,
	})
}

// onFastPathPanic logs a panic of the fast path.
func (s *Server) onFastPathPanic(fault any) {
	s.log.WithFields(logrus.Fields{
		"event": "http.panic", "route": "fast path", "panic": fmt.Sprint(fault), "stack": string(debug.Stack()),
	}).Error("the fast path panicked")
}
