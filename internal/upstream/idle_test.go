package upstream_test

import (
	"fmt"
	"io"
	"math/rand/v2"
	"net/http"
	"net/http/httptest"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"
)

// Under load, the service closes each connection that is idle for a moment, and orders arrive
// at about that time. An order on a closing connection would have an unknown outcome.
func TestAServiceThatClosesIdleConnections(t *testing.T) {
	t.Parallel()
	const orders, callers = 1200, 24
	for _, idle := range []time.Duration{5 * time.Millisecond, 20 * time.Millisecond, 50 * time.Millisecond} {
		t.Run(idle.String(), func(t *testing.T) {
			t.Parallel()
			var taken atomic.Int64
			s := &service{handler: func(w http.ResponseWriter, r *http.Request) {
				_, _ = io.Copy(io.Discard, r.Body)
				w.WriteHeader(http.StatusCreated)
				_, _ = fmt.Fprintf(w, `{"result":{"orderID":"%d"}}`, taken.Add(1))
			}}
			server := httptest.NewUnstartedServer(s)
			server.Config.IdleTimeout = idle
			server.Start()
			t.Cleanup(server.Close)
			cfg := config(server.URL)
			cfg.Concurrency = callers
			client := connect(t, cfg)
			var unsure atomic.Int64
			var all sync.WaitGroup
			for n := range callers {
				dice := rand.New(rand.NewPCG(uint64(idle), uint64(n)))
				all.Go(func() {
					for range orders / callers {
						<-time.After(idle*9/10 + time.Duration(dice.Int64N(int64(idle/5))))
						if _, err := client.CreateOrder(t.Context(), []byte(`{"dishList":[]}`)); err != nil {
							if unsure.Add(1) == 1 {
								t.Errorf("an order after an idle time of about %s = %v", idle, err)
							}
						}
					}
				})
			}
			all.Wait()
			if unsure.Load() != 0 || taken.Load() != orders {
				t.Errorf("%d of %d orders failed, the service accepted %d", unsure.Load(), orders, taken.Load())
			}
		})
	}
}

// The service breaks every connection with a second request, and requires two retries.
func TestEachAttemptHasItsOwnConnection(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		used := map[any]bool{}
		s := &service{}
		s.handler = func(w http.ResponseWriter, r *http.Request) {
			conn := r.Context().Value(connKey{})
			if used[conn] {
				panic(http.ErrAbortHandler)
			}
			used[conn] = true
			if s.calls.Load()%3 != 0 {
				w.WriteHeader(http.StatusTooManyRequests)
				return
			}
			_, _ = io.WriteString(w, `{"result":{"orderID":"1"}}`)
		}
		client, network, stop := within(t, s)
		defer stop()
		for op, call := range operations(t.Context(), client) {
			before := network.dials.Load()
			if s.tokens.Load() == 0 {
				before++ // of the token
			}
			if err := call(); err != nil {
				t.Errorf("%s = %v", op, err)
			}
			if got := network.dials.Load() - before; got != 3 {
				t.Errorf("%s used %d connections for 3 attempts", op, got)
			}
		}
	})
}
