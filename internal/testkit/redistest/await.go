package redistest

import (
	"context"
	"strings"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"
)

const (
	// groupPollEvery is the interval for reading the state of a group of servers.
	groupPollEvery = 50 * time.Millisecond
	// groupPollWithin limits one read: a frozen server does not respond.
	groupPollWithin = 5 * time.Second
	// answerWithin limits the wait for one server's response.
	answerWithin = time.Second
)

// await waits until agreed returns nil. After agreedWithin it ends the test with
// agreed's error.
func await(tb testing.TB, what string, agreed func(ctx context.Context) error) {
	tb.Helper()
	// The test's own context ends before its cleanups, which may use Redis.
	ctx, cancel := context.WithTimeout(context.WithoutCancel(tb.Context()), agreedWithin)
	defer cancel()
	ticker := time.NewTicker(groupPollEvery)
	defer ticker.Stop()
	var missing error // the last error, not the timeout
	for {
		poll, end := context.WithTimeout(ctx, groupPollWithin) //testwaits:allow limits one attempt, which is repeated
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

// Info returns a section of the server's INFO, "" if it does not respond within a
// second.
func (s *Server) Info(ctx context.Context, section string) string {
	if !s.running() {
		return ""
	}
	client := s.once()
	defer func() { _ = client.Close() }() // only read from
	return client.Info(ctx, section).Val()
}

// once returns a client for one command without retries.
func (s *Server) once() *redis.Client { return redis.NewClient(s.onceOptions()) }

func (s *Server) onceOptions() *redis.Options {
	options := s.options()
	options.MaxRetries, options.DialerRetries, options.ContextTimeoutEnabled = -1, 1, true
	options.ReadTimeout = answerWithin
	return options
}

// running reports whether the server was started and not stopped; a frozen one
// runs.
func (s *Server) running() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.process != nil
}

// addresses returns the servers' addresses as a URL lists them.
func addresses(servers []*Server) string {
	var list []string
	for _, server := range servers {
		list = append(list, server.Announced())
	}
	return strings.Join(list, ",")
}
