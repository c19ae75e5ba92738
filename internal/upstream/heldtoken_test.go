package upstream_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/sirupsen/logrus"
	logtest "github.com/sirupsen/logrus/hooks/test"

	"larder.local/internal/upstream"
)

// tokenService is a service that takes orders, and whose first token lives 50 s. Later token requests are answered by later.
func tokenService(later http.HandlerFunc) *service {
	s := &service{handler: reply(http.StatusCreated, `{"result":{"orderID":"1"}}`)}
	s.token = func(w http.ResponseWriter, r *http.Request) {
		if s.tokens.Load() == 1 {
			_, _ = io.WriteString(w, `{"access_token":"first","expires_in":50}`)
			return
		}
		later(w, r)
	}
	return s
}

// refuses answers with a status and, if after is not 0, Retry-After.
func refuses(status, after int) http.HandlerFunc {
	return func(w http.ResponseWriter, _ *http.Request) {
		if after != 0 {
			w.Header().Set("Retry-After", strconv.Itoa(after))
		}
		w.WriteHeader(status)
	}
}

func place(ctx context.Context, c *upstream.Client) error {
	_, err := c.CreateOrder(ctx, []byte("{}"))
	return err
}

// A token is renewed beside the valid one: no order waits or is refused while the old token is valid, whatever the token
// endpoint does.
func TestNoOrderWaitsForARenewal(t *testing.T) {
	t.Parallel()
	for name, later := range map[string]http.HandlerFunc{
		"slow":           slow(reply(http.StatusOK, `{"access_token":"second","expires_in":500}`)),
		"hangs":          hang,
		"says wait":      refuses(http.StatusTooManyRequests, 30),
		"is down":        refuses(http.StatusServiceUnavailable, 0),
		"refuses":        refuses(http.StatusUnauthorized, 0),
		"breaks off":     breaksOff,
		"sends no token": reply(http.StatusOK, `{}`),
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				client, _, stop := within(t, tokenService(later))
				defer stop()
				for second := range 49 {
					begun := time.Now()
					if err := place(t.Context(), client); err != nil || time.Since(begun) != 0 {
						t.Errorf("the order at %d s: %v after %s, want it at once", second, err, time.Since(begun))
					}
					<-time.After(time.Second)
				}
			})
		})
	}
}

// Retry-After of the token endpoint holds for the connection, up to five minutes: all calls return the rest of it, and
// the endpoint is not asked. Then it is asked once.
func TestRetryAfterOfTheTokenEndpointHolds(t *testing.T) {
	t.Parallel()
	for _, tc := range []struct{ status, after, holds int }{
		{http.StatusTooManyRequests, 30, 30},
		{http.StatusServiceUnavailable, 20, 20},
		{http.StatusUnauthorized, 200, 200},
		{http.StatusTooManyRequests, 3600, 300},
	} {
		t.Run(fmt.Sprintf("%d for %d s", tc.status, tc.after), func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				s := &service{handler: reply(http.StatusCreated, `{"orderID":"1"}`), token: refuses(tc.status, tc.after)}
				client, _, stop := within(t, s)
				defer stop()
				begun := time.Now()
				for step := range 20 {
					var all sync.WaitGroup
					for range 40 {
						all.Go(func() {
							e := asError(t, place(t.Context(), client))
							rest := time.Duration(tc.holds)*time.Second - time.Since(begun)
							if e.RetryAfter < rest || e.RetryAfter > rest+time.Second || e.Effect != upstream.EffectNone {
								t.Errorf("step %d: %v, retry after %s, want %s", step, e, e.RetryAfter, rest)
							}
						})
					}
					all.Wait()
					client.AskTokenAgain() // it does not end a Retry-After
					<-time.After(200 * time.Millisecond)
				}
				if got := s.tokens.Load(); got != 1 {
					t.Errorf("%d token requests for 800 orders, want 1", got)
				}
				<-time.After(time.Duration(tc.holds)*time.Second - time.Since(begun))
				if _ = place(t.Context(), client); s.tokens.Load() != 2 {
					t.Errorf("%d token requests after Retry-After, want 2", s.tokens.Load())
				}
			})
		})
	}
}

// A refusal of the token endpoint is asked again after 1, 2, 4 … 60 s, once for all callers.
func TestARefusedTokenIsAskedForAgainAfterGrowingPauses(t *testing.T) {
	t.Parallel()
	for _, status := range []int{http.StatusBadRequest, http.StatusUnauthorized, http.StatusForbidden, http.StatusNotFound} {
		t.Run(strconv.Itoa(status), func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				begun := time.Now()
				var mu sync.Mutex
				var asked []time.Duration
				s := &service{token: func(w http.ResponseWriter, _ *http.Request) {
					mu.Lock()
					asked = append(asked, time.Since(begun))
					mu.Unlock()
					w.WriteHeader(status)
				}}
				log, hook := logtest.NewNullLogger()
				client, _, stop := within(t, s, upstream.WithLogger(log))
				defer stop()
				var all sync.WaitGroup
				for range 60 { // restaurants, and orders between
					all.Go(func() {
						for range 200 {
							if _, err := client.MenuView(t.Context(), "r", upstream.Validator{}, 0); err == nil {
								t.Error("a menu without a token")
							}
							e := asError(t, place(t.Context(), client))
							if e.Effect != upstream.EffectNone || e.RetryAfter < 0 {
								t.Errorf("an order without a token: %+v", e)
							}
							<-time.After(time.Second)
						}
					})
				}
				all.Wait()
				var want []time.Duration
				for _, seconds := range []int{0, 1, 3, 7, 15, 31, 63, 123, 183} {
					want = append(want, time.Duration(seconds)*time.Second)
				}
				if !slices.Equal(asked, want) {
					t.Errorf("asked at %v, want %v", asked, want)
				}
				loud := 0
				for _, entry := range hook.AllEntries() {
					if entry.Level <= logrus.WarnLevel && entry.Data["event"] == "upstream.token_refused" && entry.Data["status"] == status {
						loud++
					}
				}
				if loud != 1 {
					t.Errorf("%d lines upstream.token_refused, want 1", loud)
				}
			})
		})
	}
}

// secretService refuses all secrets but one, and records the secrets with their times.
type secretService struct {
	service
	mu    sync.Mutex
	good  string
	asked []string
}

func newSecretService(good string) *secretService {
	s := &secretService{good: good}
	begun := time.Now()
	s.handler = reply(http.StatusCreated, `{"orderID":"1"}`)
	s.token = func(w http.ResponseWriter, r *http.Request) {
		_, fields := formOf(r)
		given := ""
		for _, field := range fields {
			if field[0] == "client_secret" {
				given = field[1]
			}
		}
		s.mu.Lock()
		defer s.mu.Unlock()
		s.asked = append(s.asked, fmt.Sprintf("%s %s", time.Since(begun), given))
		if given != s.good {
			w.WriteHeader(http.StatusUnauthorized)
			return
		}
		_, _ = io.WriteString(w, `{"access_token":"abc","expires_in":3600}`)
	}
	return s
}

// requests returns the token requests after the first ones, with their times.
func (s *secretService) requests(after int) []string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.Clone(s.asked[after:])
}

// After a refusal, AskTokenAgain makes the next caller ask at once, at most once every five seconds; a request that is
// too early is made up for.
func TestAskTokenAgain(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		s := newSecretService("another")
		client, _, stop := within(t, s)
		defer stop()
		for range 40 { // until the pause is 32 s
			_ = place(t.Context(), client)
			<-time.After(time.Second)
		}
		before := len(s.requests(0))
		for range 8 {
			client.AskTokenAgain()
			_ = place(t.Context(), client)
			<-time.After(time.Second)
		}
		if got := strings.Join(s.requests(before), ", "); got != "40s "+secret+", 45s "+secret {
			t.Errorf("asked at %s, want at 40s and 45s", got)
		}
	})
}

// A changed secret is used at once, and at most every five seconds; the old token is used until the new one is there. A
// configuration without a change asks at once after a refusal, and otherwise not.
func TestReloadAsksAtOnce(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		s := newSecretService(secret)
		client, _, stop := within(t, s)
		defer stop()
		client.Reload(secret, &upstream.TLSFiles{})
		if err := place(t.Context(), client); err != nil {
			t.Fatal(err)
		}
		client.Reload(secret, &upstream.TLSFiles{})
		synctest.Wait()
		<-time.After(10 * time.Second)
		client.Reload("wrong", &upstream.TLSFiles{}) // a valid token is in memory
		synctest.Wait()
		if err := place(t.Context(), client); err != nil {
			t.Errorf("an order after a wrong secret: %v, want the old token", err)
		}
		if status := client.TokenStatus(); status.State != upstream.TokenRefused || !status.OK {
			t.Errorf("state %+v, want refused, with a valid token", status)
		}
		<-time.After(20 * time.Second)
		s.mu.Lock()
		s.good = "new"
		s.mu.Unlock()
		client.Reload("new", &upstream.TLSFiles{})
		synctest.Wait()
		if want := "0s " + secret + ", 10s wrong, 30s new"; strings.Join(s.requests(0), ", ") != want {
			t.Errorf("asked: %s; want %s", s.requests(0), want)
		}
		if status := client.TokenStatus(); status != (upstream.TokenStatus{State: upstream.TokenValid, OK: true}) {
			t.Errorf("state %+v, want valid", status)
		}
	})
}

// SIGHUP without a changed secret asks at once after a refusal, although nobody orders: an operator has changed
// something at the service.
func TestReloadAfterARefusal(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		s := newSecretService("other")
		client, _, stop := within(t, s)
		defer stop()
		for range 20 {
			_ = place(t.Context(), client)
			<-time.After(time.Second)
		}
		before := len(s.requests(0)) // the pause is 16 s, until 31 s
		client.Reload(secret, &upstream.TLSFiles{})
		synctest.Wait()
		s.mu.Lock()
		s.good = secret
		s.mu.Unlock()
		<-time.After(time.Second)
		client.Reload(secret, &upstream.TLSFiles{}) // too early: at 25 s
		<-time.After(10 * time.Second)
		if got := strings.Join(s.requests(before), ", "); got != "20s "+secret+", 25s "+secret {
			t.Errorf("asked at %s, want at 20s and 25s", got)
		}
	})
}

// The state of the token, with its reason.
func TestTokenStatus(t *testing.T) {
	t.Parallel()
	for name, tc := range map[string]struct {
		later http.HandlerFunc
		state upstream.TokenState
		msg   string
	}{
		"refused": {refuses(http.StatusForbidden, 0), upstream.TokenRefused, "the token endpoint refused larder's request (status 403); it is asked again in 1s"},
		"waiting": {refuses(http.StatusTooManyRequests, 90), upstream.TokenWaiting, "the token endpoint asked larder to wait (status 429); it is asked again in 1m30s"},
		"failing": {refuses(http.StatusBadGateway, 0), upstream.TokenFailing, "the token endpoint fails (status 502)"},
		"silent":  {breaksOff, upstream.TokenFailing, "the token endpoint fails"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				client, _, stop := within(t, tokenService(tc.later))
				defer stop()
				check := func(want upstream.TokenStatus) {
					t.Helper()
					if got := client.TokenStatus(); got != want {
						t.Errorf("status %+v, want %+v", got, want)
					}
				}
				token := func() error {
					_, err := client.Token(t.Context())
					synctest.Wait()
					return err
				}
				check(upstream.TokenStatus{State: upstream.TokenNone, OK: true})
				_ = token()
				check(upstream.TokenStatus{State: upstream.TokenValid, OK: true})
				<-time.After(45 * time.Second)
				_ = token()
				check(upstream.TokenStatus{State: tc.state, Msg: tc.msg + "; the current token is valid", OK: true})
				<-time.After(6 * time.Second)
				if err := token(); !errors.As(err, new(*upstream.Error)) {
					t.Errorf("a token after the old one has expired: %v", err)
				}
				if got := client.TokenStatus(); got.State != tc.state || got.OK {
					t.Errorf("status %+v without a token, want %s", got, tc.state)
				}
			})
		})
	}
}
