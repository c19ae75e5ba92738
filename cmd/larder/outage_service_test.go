package main

import (
	"encoding/json"
	"io"
	"net/http"
	"os"
	"strings"
	"sync"
	"syscall"
	"testing"

	"larder.local/cmd/larder/cli"
	"larder.local/internal/testkit/clitest"
	"larder.local/internal/testkit/metrics"
)

// While the ordering service is unavailable, larder serves the last menus with their
// age. The log reports the change of state, not each attempt (policy S5).
func TestOrderingServiceOutage(t *testing.T) {
	t.Parallel()
	o := newOutage(t)
	p := o.start(t)
	base := o.serving(t, p)
	reading := o.read(t, base)
	_, before := clitest.Fetch(t, base+"/v1/restaurants/"+o.restaurants[0]+"/menu")

	o.toService.Refuse()
	n := float64(len(o.restaurants))
	failed := func(s metrics.Sample) float64 { // or waiting for the service (policy S10)
		return s.Sum("larder_sync_runs_total", `outcome="failed"`) + s.Sum("larder_sync_runs_total", `outcome="waiting"`)
	}
	// The age makes a menu stale after 3 schedules.
	// The replica learns of a failure after the run is counted.
	o.until(t, base, "every restaurant is stale, after many tries", func(s metrics.Sample) bool {
		return s.Sum("larder_restaurants", `state="stale"`) == n && failed(s) >= 4*n && s.Sum("larder_menu_age_seconds") >= 3 &&
			s.Sum("larder_restaurants_by_last_outcome", `outcome="failed"`)+s.Sum("larder_restaurants_by_last_outcome", `outcome="waiting"`) == n
	})
	if status, list := clitest.Fetch(t, base+"/v1/restaurants"); status != http.StatusOK || strings.Count(list, `"stale":true`) != len(o.restaurants) {
		t.Errorf("the restaurants' list: %d %s, want every one stale", status, list)
	}
	if _, after := clitest.Fetch(t, base+"/v1/restaurants/"+o.restaurants[0]+"/menu"); after != before {
		t.Error("the menu served is not the last good one, byte for byte")
	}
	if status, body := clitest.Fetch(t, base+"/readyz?verbose"); status != http.StatusOK || !strings.Contains(body, `"status":"degraded"`) || !strings.Contains(body, "last sync") {
		t.Errorf("readiness: %d %s, want degraded and the connection named", status, body)
	}
	// At most one line for each restaurant, the rejection reasons and the breaker,
	// although each failed at least four times.
	if said := warnings(p); said < 1 || said > 2*(len(o.restaurants)+2) {
		t.Errorf("%d warnings after %v failed syncs, want one for a change of state\n%s", said, failed(o.sample(t, base)), p.log)
	}

	o.stop(t, o.restaurants[0], true) // published after the recovery
	o.toService.Pass()
	o.until(t, base, "every restaurant is fresh", func(s metrics.Sample) bool {
		return s.Sum("larder_restaurants", `state="fresh"`) == n
	})
	o.shows(t, base, o.restaurants[0], true)
	reading.stop().whole(t, len(o.restaurants)+1)
}

// warnings returns the number of log lines with level warning and error.
func warnings(p *process) int {
	text := p.log.String()
	return strings.Count(text, `"level":"warning"`) + strings.Count(text, `"level":"error"`)
}

// An instance that starts without the ordering service serves the menus in Redis.
func TestStartWithoutTheOrderingServiceServesMenusInRedis(t *testing.T) {
	t.Parallel()
	o := newOutage(t)
	first := o.start(t)
	base := o.serving(t, first)
	bodies := map[string]string{}
	for _, restaurant := range o.restaurants {
		_, bodies[restaurant] = clitest.Fetch(t, base+"/v1/restaurants/"+restaurant+"/menu")
	}
	first.signal(t, syscall.SIGTERM)
	if status := first.status(t); status != cli.StatusDone {
		t.Fatalf("status %d\n%s", status, first.log)
	}
	o.toService.Refuse()
	before, _ := o.calls(t)

	second := o.start(t)
	base = second.url(t)
	waitReady(t, base)
	reading := o.read(t, base)
	for _, restaurant := range o.restaurants {
		if status, body := clitest.Fetch(t, base+"/v1/restaurants/"+restaurant+"/menu"); status != http.StatusOK || body != bodies[restaurant] {
			t.Errorf("%s: %d, want what was served before, byte for byte", restaurant, status)
		}
	}
	o.until(t, base, "every sync has failed or waits", func(s metrics.Sample) bool {
		return s.Sum("larder_sync_runs_total", `outcome="failed"`)+s.Sum("larder_sync_runs_total", `outcome="waiting"`) >= float64(len(o.restaurants))
	})
	if after, _ := o.calls(t); after != before {
		t.Errorf("%d calls reached an ordering service that is gone", after-before)
	}
	reading.stop().whole(t, len(o.restaurants))
}

// While Redis is unavailable, a token is valid on every instance, even on one that has
// not seen a token before, because each instance has the signing key.
func TestTokensDuringARedisOutage(t *testing.T) {
	t.Parallel()
	o := newOutage(t)
	text, err := os.ReadFile(o.config)
	if err != nil {
		t.Fatal(err)
	}
	o.config = clitest.WriteFile(t, "larder.yaml", strings.NewReplacer(
		"auth:\n", "auth:\n  open_menu: false\n",
		"deadline: 3s", "deadline: 1m", // no run fails on a busy machine
	).Replace(string(text)))
	// The second instance gets no request with a token before the outage. It starts alone, so that it has the menus
	// in memory: it published them itself.
	second := o.start(t)
	bases := []string{"", second.url(t)}
	waitReady(t, bases[1])
	o.until(t, bases[1], "every menu is published", func(s metrics.Sample) bool {
		return s.Sum("larder_sync_runs_total", `outcome="updated"`) == float64(len(o.restaurants))
	})
	first := o.start(t)
	bases[0] = first.url(t)
	waitReady(t, bases[0])
	client := shopper(t, bases[0])
	read := func(base string) (status int, body string) {
		request, err := http.NewRequestWithContext(t.Context(), http.MethodGet, base+"/v1/restaurants/"+o.restaurants[0]+"/menu", http.NoBody)
		if err != nil {
			t.Fatal(err)
		}
		response, err := client.Authorized.Do(request)
		if err != nil {
			t.Fatal(err)
		}
		content, err := io.ReadAll(response.Body)
		if closed := response.Body.Close(); err != nil || closed != nil {
			t.Fatal(err, closed)
		}
		return response.StatusCode, string(content)
	}
	if status, body := read(bases[0]); status != http.StatusOK { // the client gets its token
		t.Fatalf("the first larder with Redis: %d %s", status, body)
	}
	o.toRedis.Refuse()
	for i, p := range []*process{first, second} {
		p.log.Find(t, `"event":"sync.paused"`)
		if status, body := read(bases[i]); status != http.StatusOK {
			t.Errorf("larder %d without Redis: %d %s, want its menu from memory", i+1, status, body)
		}
	}
}

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
