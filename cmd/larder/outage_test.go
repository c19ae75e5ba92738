package main

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"larder.local/cmd/larder/client"
	"larder.local/cmd/larder/demo"
	"larder.local/internal/menu"
	"larder.local/internal/sandbox"
	"larder.local/internal/sleep"
	"larder.local/internal/testkit/clitest"
	"larder.local/internal/testkit/faultproxy"
	"larder.local/internal/testkit/metrics"
	"larder.local/internal/testkit/redistest"
)

// outage is an ordering service and a Redis, each behind a fault proxy, and the
// settings of real instances that use them for a few restaurants.
type outage struct {
	generate    sandbox.Generate
	restaurants []string
	service     *httptest.Server
	toService   *faultproxy.Proxy
	redis       *redistest.Server
	toRedis     *faultproxy.Proxy
	config      string
	order       []byte // an order for the first restaurant
	dish        string // a dish of the first restaurant's menu
}

func newOutage(t *testing.T) *outage {
	t.Helper()
	redis := redistest.Start(t, redistest.AppendOnly())
	o := newOutageOn(t, "")
	o.redis, o.toRedis = redis, faultproxy.Start(t, redis.Addr())
	o.config = o.configuration(t, "redis://"+o.toRedis.Addr()+"/0")
	return o
}

// newOutageOn is newOutage with another form of Redis.
func newOutageOn(t *testing.T, redisURL string) *outage {
	t.Helper()
	o := &outage{generate: sandbox.Generate{Restaurants: 4, Products: 30, Seed: 1}}
	box := sandbox.New(sandbox.Config{})
	box.SetGenerated(o.generate)
	o.service = httptest.NewServer(box.Handler())
	t.Cleanup(func() {
		box.Close()
		o.service.Close()
	})
	o.toService = faultproxy.Start(t, strings.TrimPrefix(o.service.URL, "http://"))
	for i := range o.generate.Restaurants {
		o.restaurants = append(o.restaurants, o.generate.RestaurantID(i))
	}
	raw := o.generate.Menu(0)
	view, err := menu.Decode(raw)
	if err != nil {
		t.Fatal(err)
	}
	o.dish = view.Products[0].ID
	if o.order, _, err = demo.SampleOrders(raw, o.restaurants[0]); err != nil {
		t.Fatal(err)
	}
	if redisURL != "" {
		o.config = o.configuration(t, redisURL)
	}
	return o
}

// configuration syncs each menu every second, so that a test has many syncs.
func (o *outage) configuration(t *testing.T, redisURL string) string {
	t.Helper()
	var text strings.Builder
	fmt.Fprintf(&text, `http: {listen: "127.0.0.1:0", metrics: open, rate: {place: 1000/s, validate: 1000/s}}
redis: {url: %q}
cache: {poll: 500ms}
connections:
  - {name: main, base_url: "http://%[2]s", auth_url: "http://%[2]s", client_id: demo, client_secret: demo-secret, default_menu: false}
sync: {schedule: "@every 1s", deadline: 3s, lease: 3s}
auth:
  clients:
    - {id: storefront, secret: storefront-secret, scopes: [menu, orders]}
    - {id: ops, secret: ops-secret, scopes: [menu, orders, ops]}
restaurants:
`, redisURL, o.toService.Addr())
	for _, id := range o.restaurants {
		fmt.Fprintf(&text, "  - {id: %s}\n", id)
	}
	return clitest.WriteFile(t, "larder.yaml", text.String())
}

// start starts a real process.
func (o *outage) start(t *testing.T) *process {
	t.Helper()
	return startProcess(t, []string{"LARDER_LOG_FORMAT=json"}, "serve", "--config", o.config)
}

// serving waits until the process is ready and has all menus in memory, and returns its URL. After
// a start, a menu counts as fresh before its content is loaded: reading it loads it.
func (o *outage) serving(t *testing.T, p *process) string {
	t.Helper()
	base := p.url(t)
	waitReady(t, base)
	o.until(t, base, "every menu is fresh", func(s metrics.Sample) bool {
		return s.Sum("larder_restaurants", `state="fresh"`) == float64(len(o.restaurants))
	})
	for _, restaurant := range o.restaurants {
		clitest.Eventually(t, "every menu is served", func() bool {
			status, _ := clitest.Fetch(t, base+"/v1/restaurants/"+restaurant+"/menu")
			return status == http.StatusOK
		})
	}
	return base
}

// until waits until the metrics of the process satisfy a condition.
func (o *outage) until(t *testing.T, base, what string, is func(metrics.Sample) bool) {
	t.Helper()
	clitest.Eventually(t, what, func() bool { return is(o.sample(t, base)) })
}

func (o *outage) sample(t *testing.T, base string) metrics.Sample {
	t.Helper()
	status, text := clitest.Fetch(t, base+"/metrics")
	if status != http.StatusOK {
		t.Fatalf("/metrics: %d", status)
	}
	return metrics.Parse(text)
}

// calls returns how many requests for menus and how many orders reached the ordering
// service.
func (o *outage) calls(t *testing.T) (menus, orders int) {
	t.Helper()
	_, body := clitest.Fetch(t, o.service.URL+"/sandbox/counters")
	calls := clitest.FromJSON[struct {
		Result struct{ Calls map[string]int }
	}](t, body).Result.Calls
	return calls["GET /orders/api/v1/menu/view"], calls["POST /orders/api/v1/orders"]
}

// stop adds the dish to the stop list of a restaurant, or removes it.
func (o *outage) stop(t *testing.T, restaurant string, on bool) {
	t.Helper()
	request, err := http.NewRequestWithContext(t.Context(), http.MethodPatch, o.service.URL+"/sandbox/stop-list/"+restaurant,
		strings.NewReader(fmt.Sprintf(`{%q:%t}`, o.dish, on)))
	if err != nil {
		t.Fatal(err)
	}
	response, err := http.DefaultClient.Do(request)
	if err != nil {
		t.Fatal(err)
	}
	body, _ := io.ReadAll(response.Body)
	if _ = response.Body.Close(); response.StatusCode != http.StatusOK {
		t.Fatalf("stop list: %d %s", response.StatusCode, body)
	}
}

// shows waits until larder serves the dish with this availability.
func (o *outage) shows(t *testing.T, base, restaurant string, stopped bool) {
	t.Helper()
	clitest.Eventually(t, "the stop list is shown", func() bool {
		status, body := clitest.Fetch(t, base+"/v1/restaurants/"+restaurant+"/products/"+o.dish)
		return status == http.StatusOK && strings.Contains(body, fmt.Sprintf(`"available":%t`, !stopped))
	})
}

// place places an order with a key. The client reuses its token.
func (o *outage) place(t *testing.T, shop *client.Client, key string) (status int, header http.Header, body string) {
	t.Helper()
	request, err := http.NewRequestWithContext(t.Context(), http.MethodPost, shop.Base+"/v1/restaurants/"+o.restaurants[0]+"/orders", bytes.NewReader(o.order))
	if err != nil {
		t.Fatal(err)
	}
	request.GetBody = nil // otherwise net/http could repeat the request
	request.Header.Set("Content-Type", "application/json")
	request.Header.Set("Idempotency-Key", key)
	response, err := shop.Authorized.Do(request)
	if err != nil {
		t.Fatal(err)
	}
	content, err := io.ReadAll(response.Body)
	if closed := response.Body.Close(); err != nil || closed != nil {
		t.Fatal(err, closed)
	}
	return response.StatusCode, response.Header, string(content)
}

// shopper is a client of larder.
func shopper(t *testing.T, base string) *client.Client {
	t.Helper()
	shop := client.New(t.Context(), base, "storefront", "storefront-secret")
	t.Cleanup(shop.HTTP.CloseIdleConnections)
	return shop
}

// readers read menus constantly, each with its own connection, and count failures.
type readers struct {
	stop func() counted
}

// counted is the result of readers.
type counted struct {
	requests, failed, notModified int
	backwards                     int      // versions older than the previous one on the same connection
	versions                      int      // new versions, counted for each connection
	faults                        []string // the first failures
}

// read starts two readers for each instance.
func (o *outage) read(t *testing.T, bases ...string) *readers {
	t.Helper()
	ctx, cancel := context.WithCancel(context.WithoutCancel(t.Context()))
	var (
		reading sync.WaitGroup
		mu      sync.Mutex
		all     counted
	)
	for _, base := range bases {
		for range 2 {
			reading.Go(func() {
				seen := o.readAll(ctx, base)
				mu.Lock()
				defer mu.Unlock()
				all.add(seen)
			})
		}
	}
	r := &readers{stop: sync.OnceValue(func() counted {
		cancel()
		reading.Wait()
		return all
	})}
	t.Cleanup(func() { r.stop() })
	return r
}

func (c *counted) add(other counted) {
	c.requests += other.requests
	c.failed += other.failed
	c.notModified += other.notModified
	c.backwards += other.backwards
	c.versions += other.versions
	c.faults = append(c.faults, other.faults...)
}

// readPause limits the processor time of readers.
const readPause = 2 * time.Millisecond

// readAll reads one restaurant after the other until ctx ends. A repeated read is
// conditional.
func (o *outage) readAll(ctx context.Context, base string) (seen counted) {
	caller := &http.Client{Timeout: 10 * time.Second, Transport: &http.Transport{MaxConnsPerHost: 1}}
	defer caller.CloseIdleConnections()
	versions, tags := map[string]int{}, map[string]string{}
	fault := func(format string, args ...any) {
		seen.failed++
		if len(seen.faults) < 3 {
			seen.faults = append(seen.faults, fmt.Sprintf(format, args...))
		}
	}
	for i := 0; sleep.For(ctx, readPause) == nil; i++ {
		restaurant := o.restaurants[i%len(o.restaurants)]
		request, err := http.NewRequestWithContext(context.WithoutCancel(ctx), http.MethodGet, base+"/v1/restaurants/"+restaurant+"/menu", http.NoBody)
		if err != nil {
			fault("%v", err)
			return seen
		}
		if i/len(o.restaurants)%2 == 1 {
			request.Header.Set("If-None-Match", tags[restaurant])
		}
		seen.requests++
		response, err := caller.Do(request)
		if err != nil {
			fault("%v", err)
			continue
		}
		body, err := io.ReadAll(response.Body)
		_ = response.Body.Close()
		version, _ := strconv.Atoi(response.Header.Get("Larder-Menu-Version"))
		switch {
		case err != nil:
			fault("%v", err)
			continue
		case response.StatusCode == http.StatusNotModified:
			seen.notModified++
		case response.StatusCode != http.StatusOK, !json.Valid(body), version == 0:
			fault("%s: %d %.100s", restaurant, response.StatusCode, body)
			continue
		}
		tags[restaurant] = response.Header.Get("ETag")
		switch before := versions[restaurant]; {
		case version < before:
			seen.backwards++
			fault("%s went from version %d back to %d", restaurant, before, version)
		case version > before:
			seen.versions++
		}
		versions[restaurant] = version
	}
	return seen
}

// whole checks that no read failed and no version was older than a previous one.
func (c counted) whole(t *testing.T, leastVersions int) {
	t.Helper()
	t.Logf("%d reads, %d failed, %d not modified, %d versions seen", c.requests, c.failed, c.notModified, c.versions)
	if c.failed > 0 || c.backwards > 0 {
		t.Errorf("%d of %d reads failed, %d went back: %v", c.failed, c.requests, c.backwards, c.faults)
	}
	if c.requests < 20 || c.versions < leastVersions {
		t.Errorf("%d reads and %d versions are too few, want at least 20 and %d", c.requests, c.versions, leastVersions)
	}
}

// lines returns the number of log lines with the event.
func (p *process) lines(event string) int {
	return strings.Count(p.log.String(), `"event":"`+event+`"`)
}

// wantCatchUps checks that syncs caught up at the start, and once after each pause. An outage is one pause, but on a busy
// machine Redis may be too slow for a probe once more. A run of a catch-up can end before the catch-up is logged.
func (p *process) wantCatchUps(t *testing.T) {
	t.Helper()
	clitest.Eventually(t, "each pause has ended with one catch-up", func() bool {
		paused, resumed := p.lines("sync.paused"), p.lines("sync.resumed")
		return paused > 0 && paused == resumed && p.lines("sync.catch_up") == resumed+1
	})
	if paused := p.lines("sync.paused"); paused > 3 {
		t.Errorf("%d log lines for paused syncs, want one for an outage", paused)
	}
}
