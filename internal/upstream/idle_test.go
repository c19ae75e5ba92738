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
// at about that time, or at about the time for which connections are kept. An order on a closing
// connection would have an unknown outcome.
func TestAServiceThatClosesIdleConnections(t *testing.T) {
	t.Parallel()
	const orders, callers = 1200, 24
	for _, tc := range []struct {
		idle   time.Duration
		reuse  time.Duration
		orders int64
	}{
		{5 * time.Millisecond, 2 * time.Second, orders},
		{20 * time.Millisecond, 2 * time.Second, orders},
		{50 * time.Millisecond, 2 * time.Second, orders},
		{400 * time.Millisecond, 2 * time.Second, orders / 5},
		{600 * time.Millisecond, 200 * time.Millisecond, orders / 5},
	} {
		t.Run(fmt.Sprint(tc.idle, " ", tc.reuse), func(t *testing.T) {
			t.Parallel()
			want := tc.reuse < tc.idle
			// On a busy machine an order may take longer than reuse, and then none can share a connection.
			for slower := 1; ; slower *= 2 {
				conns := ordersWhenIdle(t, tc.idle*time.Duration(slower), tc.reuse*time.Duration(slower), callers, tc.orders)
				if shared := conns < tc.orders; shared == want {
					return
				}
				if !want || slower == 16 {
					t.Fatalf("%d connections for %d orders, with times × %d", conns, tc.orders, slower)
				}
			}
		})
	}
}

// ordersWhenIdle places orders at about the time after which the service closes idle connections, or after which
// the client does not use them. None may fail. It returns the number of connections.
func ordersWhenIdle(t *testing.T, idle, reuse time.Duration, callers int, orders int64) (conns int64) {
	t.Helper()
	var taken atomic.Int64
	server, opened, _ := counted(t, idle, func(w http.ResponseWriter, r *http.Request) {
		_, _ = io.Copy(io.Discard, r.Body)
		w.WriteHeader(http.StatusCreated)
		_, _ = fmt.Fprintf(w, `{"result":{"orderID":"%d"}}`, taken.Add(1))
	})
	tokens := httptest.NewServer(&service{})
	t.Cleanup(tokens.Close)
	cfg := config(server.URL)
	cfg.AuthURL, cfg.Concurrency, cfg.Timeouts.Reuse = tokens.URL, callers, &reuse
	client := connect(t, cfg)
	var unsure atomic.Int64
	var all sync.WaitGroup
	for n := range callers {
		dice := rand.New(rand.NewPCG(uint64(idle), uint64(n)))
		all.Go(func() {
			for range orders / int64(callers) {
				pause := idle
				if reuse < idle && dice.IntN(3) > 0 {
					pause = reuse
				}
				<-time.After(pause*9/10 + time.Duration(dice.Int64N(int64(pause/5)))) //testwaits:allow the idle time is the subject
				if _, err := client.CreateOrder(t.Context(), []byte(`{"dishList":[]}`)); err != nil {
					if unsure.Add(1) == 1 {
						t.Errorf("an order after an idle time of about %s = %v", pause, err)
					}
				}
			}
		})
	}
	all.Wait()
	if unsure.Load() != 0 || taken.Load() != orders {
		t.Errorf("%d of %d orders failed, the service accepted %d", unsure.Load(), orders, taken.Load())
	}
	return opened.Load()
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
