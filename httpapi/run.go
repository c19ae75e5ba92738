package httpapi

import (
	"context"
	"errors"
	"fmt"
	"log" //nolint:depguard // http.Server.ErrorLog has this type
	"net"
	"net/http"
	"runtime/debug"
	"strings"
	"time"

	"github.com/sirupsen/logrus"
	"golang.org/x/sync/errgroup"

	"larder.local/httpapi/fastpath"
	"larder.local/httpapi/menus"
	"larder.local/internal/sleep"
)

// The limits of a connection (policy H1).
const (
	maxHeader    = 16 << 10
	readTimeout  = 10 * time.Second
	idleTimeout  = 75 * time.Second
	writeTimeout = 2 * time.Minute // for the longest response: waiting for a sync, or a large menu on a slow network
)

// Listen opens the listeners. Then Addr is known, and an address in use is reported before
// anything else starts. Run calls Listen if it was not called.
func (s *Server) Listen(ctx context.Context) error {
	if s.listener != nil {
		return nil
	}
	var config net.ListenConfig
	listener, err := config.Listen(ctx, "tcp", s.cfg.Listen)
	if err != nil {
		return fmt.Errorf("httpapi: http.listen: %w", err)
	}
	if s.cfg.OpsListen != "" {
		s.opsListener, err = config.Listen(ctx, "tcp", s.cfg.OpsListen)
		if err != nil {
			return errors.Join(fmt.Errorf("httpapi: http.ops_listen: %w", err), listener.Close())
		}
	}
	s.listener = listener
	if tcp, ok := listener.(*net.TCPListener); ok { // always true
		s.listener = &limitedListener{TCPListener: tcp, conns: s.open, closed: make(chan struct{})}
	}
	return nil
}

// Addr returns the address of the public listener, or "" before Listen has returned.
func (s *Server) Addr() string { return address(s.listener) }

// opsAddr returns the address of the ops routes. If http.ops_listen is empty, it is Addr.
func (s *Server) opsAddr() string {
	if s.cfg.OpsListen == "" {
		return s.Addr()
	}
	return address(s.opsListener)
}

func address(listener net.Listener) string {
	if listener == nil {
		return ""
	}
	return listener.Addr().String()
}

// Run serves until ctx ends, then drains. Event streams end, /readyz answers 503 for
// http.drain_delay, and the listeners close. Requests in progress get http.drain_timeout to end
// before their connections are closed. Run returns when all of them have ended.
func (s *Server) Run(ctx context.Context) error {
	if err := s.Listen(ctx); err != nil {
		return err
	}
	// Requests may outlive ctx until the drain ends.
	requests, cut := context.WithCancel(context.WithoutCancel(ctx))
	defer cut()
	servers := []*http.Server{s.httpServer(requests, s.handler)}
	listeners := []net.Listener{s.listener}
	var fast *fastpath.Listener
	if s.cfg.fastPath() {
		fast = s.newFastPath(s.listener)
		listeners[0] = fast
	}
	if s.opsListener != nil {
		servers = append(servers, s.httpServer(requests, s.ops))
		listeners = append(listeners, s.opsListener)
	}
	group, running := errgroup.WithContext(ctx)
	if fast != nil {
		group.Go(func() error { return fast.Run(requests) })
	}
	for i, server := range servers {
		group.Go(func() error {
			if err := server.Serve(listeners[i]); !errors.Is(err, http.ErrServerClosed) {
				return fmt.Errorf("httpapi: serve %s: %w", listeners[i].Addr(), err)
			}
			return nil
		})
	}
	s.deps.Log.WithFields(logrus.Fields{"event": "http.listening", "addr": s.Addr(), "opsAddr": s.opsAddr()}).Info("listening")
	group.Go(func() error {
		s.auth.Run(running)
		return nil
	})
	group.Go(func() error {
		<-running.Done()
		s.drain(requests, servers, fast, ctx.Err() != nil)
		cut()
		return nil
	})
	return group.Wait()
}

// newFastPath puts the fast path before the public listener. It answers menu reads with the functions of the
// handlers. The handlers answer requests without a cached body and requests that fail.
func (s *Server) newFastPath(inner net.Listener) *fastpath.Listener {
	deps := &menus.FastPathDeps{
		Auth:       s.auth,
		WriteCORS:  s.cors.WriteHeaders,
		CORSVaries: s.cors.Varies(),
		OnPanic:    s.onFastPathPanic,
		ShouldLog:  func(status int, took time.Duration) bool { return s.logs(false, false, status, took) },
		Log:        s.logRequest,
	}
	return fastpath.New(inner, fastpath.Config{
		Handler:      func() fastpath.Handler { return s.menus.FastPath(deps) },
		HeadTimeout:  readTimeout,
		IdleTimeout:  idleTimeout,
		WriteTimeout: writeTimeout,
		OnPanic:      s.onFastPathPanic,
	})
}

// onFastPathPanic logs a panic of the fast path.
func (s *Server) onFastPathPanic(fault any) {
	s.deps.Log.WithFields(logrus.Fields{
		"event": "http.panic",
		"route": "fast path",
		"panic": fmt.Sprint(fault),
		"stack": string(debug.Stack()),
	}).Error("the fast path panicked")
}

// drain waits until load balancers have noticed, then closes the servers within the limit. fast is
// the fast path before the first server, or nil. notice is false if the server failed.
func (s *Server) drain(ctx context.Context, servers []*http.Server, fast *fastpath.Listener, notice bool) {
	s.health.draining.Store(true)
	s.events.End() // first, because event streams do not end by themselves
	if notice && s.cfg.DrainDelay > 0 {
		_ = sleep.For(ctx, s.cfg.DrainDelay) // the drain continues if ctx ends
	}
	ctx, cancel := context.WithTimeout(ctx, s.cfg.DrainTimeout)
	defer cancel()
	var group errgroup.Group
	for _, server := range servers {
		group.Go(func() error {
			err := server.Shutdown(ctx)
			if err != nil {
				err = errors.Join(err, server.Close())
			}
			return err
		})
	}
	if fast != nil {
		group.Go(func() error { return fast.Wait(ctx) }) // the server has closed it
	}
	if err := group.Wait(); err != nil {
		s.deps.Log.WithFields(logrus.Fields{"event": "http.drain_cut", "cause": err.Error()}).
			Warn("requests in progress were aborted at shutdown; raise http.drain_timeout if this repeats")
	}
}

// httpServer returns a server with the limits of policy H1.
func (s *Server) httpServer(ctx context.Context, handler http.Handler) *http.Server {
	return &http.Server{
		Handler:           handler,
		ReadHeaderTimeout: readTimeout,
		ReadTimeout:       readTimeout,
		WriteTimeout:      writeTimeout,
		IdleTimeout:       idleTimeout,
		MaxHeaderBytes:    maxHeader,
		BaseContext:       func(net.Listener) context.Context { return ctx },
		ErrorLog:          ErrorLog(s.deps.Log),
	}
}

// ErrorLog returns the ErrorLog of an http.Server. It logs panics as errors, and other messages of
// net/http (malformed requests, broken connections) at debug level, because they need no action.
func ErrorLog(to logrus.FieldLogger) *log.Logger { return log.New(serverLog{to}, "", 0) }

type serverLog struct{ to logrus.FieldLogger }

// Write implements io.Writer. Each call is one line.
func (s serverLog) Write(line []byte) (int, error) {
	entry, text := s.to.WithField("event", "http.server"), strings.TrimSpace(string(line))
	if strings.HasPrefix(text, "http: panic ") {
		entry.Error(text)
	} else {
		entry.Debug(text)
	}
	return len(line), nil
}
