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

	"larder/httpapi/fastpath"
	"larder/httpapi/menus"
	"larder/internal/sleep"
)

// The limits of a connection, policy H1.
const (
	maxHeader    = 16 << 10
	readTimeout  = 10 * time.Second
	idleTimeout  = 75 * time.Second
	writeTimeout = 2 * time.Minute // the longest answer: a sync waited for, a large menu on a slow line
)

// Listen opens the listeners, so that Addr is known and a taken port is
// reported before anything else starts. Run does it where Listen was not called.
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
	if tcp, ok := listener.(*net.TCPListener); ok { // it always is
		s.listener = &limitedListener{TCPListener: tcp, conns: s.open, closed: make(chan struct{})}
	}
	return nil
}

// Addr is where the public routes are served once Listen has returned; empty
// before.
func (s *Server) Addr() string { return address(s.listener) }

// OpsAddr is where ops are served: Addr without http.ops_listen.
func (s *Server) OpsAddr() string {
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

// Run serves until ctx ends, then drains: event streams end, /readyz answers 503
// for http.drain_delay, the listeners close, and requests in flight get
// http.drain_timeout to end before their connections are cut. It returns when
// nothing is left of them.
func (s *Server) Run(ctx context.Context) error {
	if err := s.Listen(ctx); err != nil {
		return err
	}
	// Requests outlive ctx by the drain; what ends them is cut.
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
	s.deps.Log.WithFields(logrus.Fields{"event": "http.listening", "addr": s.Addr(), "opsAddr": s.OpsAddr()}).Info("listening")
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

// newFastPath puts the fast path before the public listener. It answers hot
// reads as the handlers do, by the same functions; whatever is not at hand, or
// is to be refused, is left to them.
func (s *Server) newFastPath(inner net.Listener) *fastpath.Listener {
	deps := &menus.FastPathDeps{
		Auth: s.auth, CORS: s.cors, OnPanic: s.onFastPathPanic,
		ShouldLog: func(status int, took time.Duration) bool { return s.requests.wants(false, false, status, took) },
		Log:       func(line menus.Line) { s.requests.write(requestLine{Line: line}) },
	}
	return fastpath.New(inner, fastpath.Config{
		Handler:     func() fastpath.Handler { return s.menus.FastPath(deps) },
		HeadTimeout: readTimeout, IdleTimeout: idleTimeout, WriteTimeout: writeTimeout,
		OnPanic: s.onFastPathPanic,
	})
}

// onFastPathPanic logs a panic of the fast path.
func (s *Server) onFastPathPanic(fault any) {
	s.deps.Log.WithFields(logrus.Fields{
		"event": "http.panic", "route": "fast path", "panic": fmt.Sprint(fault), "stack": string(debug.Stack()),
	}).Error("the fast path panicked")
}

// drain lets balancers notice, then closes the servers within the limit.
// fast is the fast path before the first of them, nil where it is off.
func (s *Server) drain(ctx context.Context, servers []*http.Server, fast *fastpath.Listener, notice bool) {
	s.health.draining.Store(true)
	s.events.End() // first of all: they would never end by themselves
	if notice && s.cfg.DrainDelay > 0 {
		_ = sleep.For(ctx, s.cfg.DrainDelay) // the drain begins in either case
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
		s.deps.Log.WithFields(logrus.Fields{"event": "http.drain_cut", "cause": err.Error()}).Warn("requests were cut at shutdown")
	}
}

// httpServer is a server with the limits of policy H1.
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

// ErrorLog returns an http.Server's ErrorLog that writes to the program's log
// what net/http itself reports: panics as errors; a client's broken request or
// an answer that was cut at debug, so that nobody is woken by it.
func ErrorLog(to logrus.FieldLogger) *log.Logger { return log.New(serverLog{to}, "", 0) }

type serverLog struct{ to logrus.FieldLogger }

// Write implements io.Writer: each call is one line.
func (s serverLog) Write(line []byte) (int, error) {
	entry, text := s.to.WithField("event", "http.server"), strings.TrimSpace(string(line))
	if strings.HasPrefix(text, "http: panic ") {
		entry.Error(text)
	} else {
		entry.Debug(text)
	}
	return len(line), nil
}
