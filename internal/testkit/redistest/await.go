package redistest

import (
	"context"
	"strings"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"
)

const (
	// groupPollEvery is how often the state of a group of servers is read.
	groupPollEvery = 50 * time.Millisecond
	// groupPollWithin bounds one read: a frozen server does not answer.
	groupPollWithin = 5 * time.Second
	// answerWithin bounds the wait for one server's answer.
	answerWithin = time.Second
)

// await ends the test unless agreed returns nil within agreedWithin. Its error
// says what is missing.
func await(tb testing.TB, what string, agreed func(ctx context.Context) error) {
	tb.Helper()
	// The test's own context ends before its cleanups run; they may want Redis.
	ctx, cancel := context.WithTimeout(context.WithoutCancel(tb.Context()), agreedWithin)
	defer cancel()
	ticker := time.NewTicker(groupPollEvery)
	defer ticker.Stop()
	var missing error // as last found out, not that the time was over
	for {
		poll, end := context.WithTimeout(ctx, groupPollWithin)
		err := agreed(poll)
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
	defer func() { _ = client.Close() }() // only read from
	return client.Info(ctx, section).Val()
}

// once is a client for one command, which is not retried.
func (s *Server) once() *redis.Client { return redis.NewClient(s.onceOptions()) }

func (s *Server) onceOptions() *redis.Options {
	options := s.options()
	options.MaxRetries, options.DialerRetries, options.ContextTimeoutEnabled = -1, 1, true
	options.ReadTimeout = answerWithin
	return options
}

// running reports whether the server was started and not stopped; a frozen one runs.
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
