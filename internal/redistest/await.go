package redistest

import (
	"context"
	"strings"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"
)

const (
	// lookEvery is how often a group of servers is looked at.
	lookEvery = 50 * time.Millisecond
	// lookWithin bounds one look: a frozen server does not answer.
	lookWithin = 5 * time.Second
	// answerWithin bounds the wait for one server's answer.
	answerWithin = time.Second
)

// await ends the test when something is not so within agreedWithin; so tells
// what is missing.
func await(tb testing.TB, what string, so func(ctx context.Context) error) {
	tb.Helper()
	// The test's own context ends before its cleanups run; they may want Redis.
	ctx, cancel := context.WithTimeout(context.WithoutCancel(tb.Context()), agreedWithin)
	defer cancel()
	ticker := time.NewTicker(lookEvery)
	defer ticker.Stop()
	var missing error // as last found out, not that the time was over
	for {
		look, end := context.WithTimeout(ctx, lookWithin)
		err := so(look)
		end()
		switch {
		case err == nil:
			return
		case ctx.Err() == nil || missing == nil:
			missing = err
		}
		select {
		case <-ctx.Done():
			tb.Fatalf("redistest: not within %s: %s: %v", agreedWithin, what, missing)
		case <-ticker.C:
		}
	}
}

// Info returns a section of the server's INFO, "" when it does not answer within
// a second.
func (s *Server) Info(ctx context.Context, section string) string {
	if !s.running() {
		return ""
	}
	client := s.once()
	defer func() { _ = client.Close() }() // it was only asked
	return client.Info(ctx, section).Val()
}

// once is a client for one question, which nobody repeats.
func (s *Server) once() *redis.Client { return redis.NewClient(s.onceOptions()) }

func (s *Server) onceOptions() *redis.Options {
	options := s.options()
	options.MaxRetries, options.DialerRetries, options.ContextTimeoutEnabled = -1, 1, true
	options.ReadTimeout = answerWithin
	return options
}

// running tells whether the server was started and not stopped; a frozen one runs.
func (s *Server) running() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.process != nil
}

// addresses are those of the servers, as a URL lists them.
func addresses(servers []*Server) string {
	var list []string
	for _, server := range servers {
		list = append(list, server.Announced())
	}
	return strings.Join(list, ",")
}
