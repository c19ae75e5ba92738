package upstream

import (
	"context"
	"sync"
	"time"

	"golang.org/x/oauth2"
	"golang.org/x/sync/singleflight"
)

// tokenSource keeps one token fresh. Unlike the reuse source of
// golang.org/x/oauth2 it holds no lock while it fetches, lets every caller
// wait by its own context, and can drop a token that the service refused.
type tokenSource struct {
	fetch func(context.Context) (*oauth2.Token, error)
	limit time.Duration // of one fetch
	clock func() time.Time

	flight  singleflight.Group
	mu      sync.Mutex
	current *oauth2.Token
	renewAt time.Time
}

// Token gives the token in memory while it is good, or a new one.
func (s *tokenSource) Token(ctx context.Context) (*oauth2.Token, error) {
	if token := s.fresh(); token != nil {
		return token, nil
	}
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	// The fetch belongs to all who wait, so no single caller's end stops it.
	detached := context.WithoutCancel(ctx)
	done := s.flight.DoChan("token", func() (any, error) {
		if token := s.fresh(); token != nil {
			return token, nil
		}
		fetching, cancel := context.WithTimeout(detached, s.limit)
		defer cancel()
		return s.renew(fetching)
	})
	select {
	case <-ctx.Done():
		return nil, ctx.Err()
	case result := <-done:
		token, _ := result.Val.(*oauth2.Token)
		return token, result.Err
	}
}

func (s *tokenSource) fresh() *oauth2.Token {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.current != nil && s.clock().Before(s.renewAt) {
		return s.current
	}
	return nil
}

// pauseAfterFailure is how long an old token that still holds is used before
// another fetch is tried.
const pauseAfterFailure = 3 * time.Second

// renew fetches a token. While the old one has not quite expired, a failed
// fetch is no failure yet.
func (s *tokenSource) renew(ctx context.Context) (*oauth2.Token, error) {
	asked := s.clock()
	token, err := s.fetch(ctx)
	s.mu.Lock()
	defer s.mu.Unlock()
	if err != nil {
		if now := s.clock(); s.current != nil && now.Before(s.current.Expiry) {
			s.renewAt = now.Add(min(pauseAfterFailure, s.current.Expiry.Sub(now)))
			return s.current, nil
		}
		return nil, err
	}
	s.current = token
	s.renewAt = token.Expiry.Add(-min(30*time.Second, token.Expiry.Sub(asked)/5))
	return token, nil
}

// Invalidate drops the token that the service refused, when it is still the
// current one: another caller may have renewed it already.
func (s *tokenSource) Invalidate(token *oauth2.Token) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.current != nil && token != nil && s.current.AccessToken == token.AccessToken {
		s.current = nil
	}
}
