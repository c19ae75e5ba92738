package main

import (
	"encoding/json"
	"sync"
	"syscall"
	"testing"

	"larder/internal/testkit/clitest"
)

// dishEvents collects the events of one stream.
type dishEvents struct {
	mu     sync.Mutex
	events []menuEvent
	ended  error
}

type menuEvent struct {
	Version  int
	Products []struct {
		ID        string
		Available bool
	}
}

// follow reads a restaurant's stream until the test ends.
func (o *outage) follow(t *testing.T, base, restaurant string) *dishEvents {
	t.Helper()
	stream, err := openEvents(t.Context(), shopper(t, base), "/v1/events?restaurant="+restaurant)
	if err != nil {
		t.Fatal(err)
	}
	seen := &dishEvents{}
	done := make(chan struct{})
	go func() {
		defer close(done)
		for {
			_, data, err := stream.next()
			var event menuEvent
			if err == nil {
				err = json.Unmarshal(data, &event)
			}
			seen.mu.Lock()
			if err != nil {
				seen.ended = err
				seen.mu.Unlock()
				return
			}
			seen.events = append(seen.events, event)
			seen.mu.Unlock()
		}
	}()
	t.Cleanup(func() {
		stream.close()
		<-done
	})
	return seen
}

// await waits for an event with this availability of the dish.
func (s *dishEvents) await(t *testing.T, what, dish string, available bool) {
	t.Helper()
	clitest.Eventually(t, what, func() bool {
		s.mu.Lock()
		defer s.mu.Unlock()
		if s.ended != nil {
			t.Fatalf("%s: the stream ended: %v", what, s.ended)
		}
		if len(s.events) == 0 {
			return false
		}
		for _, product := range s.events[len(s.events)-1].Products {
			if product.ID == dish && product.Available == available {
				return true
			}
		}
		return false
	})
}

// A page that is open while Redis is unavailable or frozen keeps its stream. It
// receives later changes, and never an older version.
func TestEventStreamDuringAnOutage(t *testing.T) {
	t.Parallel()
	for name, fault := range map[string]struct{ begin, end func(o *outage) }{
		"connections are reset": {func(o *outage) { o.toRedis.Refuse() }, func(o *outage) { o.toRedis.Pass() }},
		"the server is frozen": {
			func(o *outage) { o.redis.Signal(syscall.SIGSTOP) },
			func(o *outage) { o.redis.Signal(syscall.SIGCONT) },
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			o := newOutage(t)
			p := o.start(t)
			base := o.serving(t, p)
			page := o.follow(t, base, o.restaurants[0])
			o.stop(t, o.restaurants[0], true)
			page.await(t, "the dish is stopped", o.dish, false)

			fault.begin(o)
			p.log.Find(t, `"event":"sync.paused"`)
			o.stop(t, o.restaurants[0], false)
			fault.end(o)
			page.await(t, "the dish is back", o.dish, true)

			page.mu.Lock()
			defer page.mu.Unlock()
			for i := 1; i < len(page.events); i++ {
				if before, after := page.events[i-1].Version, page.events[i].Version; after <= before {
					t.Errorf("version %d was sent after %d", after, before)
				}
			}
		})
	}
}
