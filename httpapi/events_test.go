package httpapi_test

import (
	"context"
	"fmt"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"golang.org/x/sync/errgroup"

	"larder/httpapi/events"
	"larder/internal/menu"
	"larder/internal/testkit/redistest"
	menusync "larder/sync"
)

// dishes returns a menu with this number of dishes. Either all of them are stopped or none.
func dishes(n, price int, stopped bool) string {
	stops := "[]"
	if stopped {
		stops = `["` + bistro + `"]`
	}
	rows := make([]string, n)
	for i := range rows {
		rows[i] = fmt.Sprintf(`{"id":"dish-number-%d","externalId":"e%d","categoryId":"c","name":"Dish %d","price":%d,"isContainInStopList":%s}`, i, i, i, price, stops)
	}
	return `{"name":"Menu","categories":[{"id":"c","name":"All"}],"products":[` + strings.Join(rows, ",") + `]}`
}

func TestEventsForEachVersion(t *testing.T) {
	t.Parallel()
	w := newFixture(t)
	f := w.follow(bistro)
	for name, want := range map[string]string{
		"Content-Type": "text/event-stream", "Cache-Control": "no-store", "X-Accel-Buffering": "no",
		"Content-Encoding": "", "Content-Length": "",
	} {
		if got := f.response.Header.Get(name); got != want {
			t.Errorf("%s: %q, want %q", name, got, want)
		}
	}
	first := f.next()
	if diff := cmp.Diff(menuEvent{bistro, 1, []menu.Availability{}, []menu.Availability{}}, first.about(t, "menu.updated")); diff != "" {
		t.Errorf("on connect (-want +got):\n%s", diff)
	}
	if retry, err := strconv.Atoi(f.retry); err != nil || retry < 2000 || retry > 6000 {
		t.Errorf("retry %q, want 2 to 6 s in milliseconds", f.retry)
	}

	w.service.setMenu(bistro, strings.Replace(fullMenu, `"externalId": "e1",`, `"externalId": "e1", "isContainInStopList": ["bistro"],`, 1))
	w.syncOnce(bistro)
	stopped := f.next()
	if diff := cmp.Diff(menuEvent{bistro, 2, []menu.Availability{{ID: "p1", Available: false}}, []menu.Availability{}}, stopped.about(t, "menu.availability")); diff != "" {
		t.Errorf("a stopped dish (-want +got):\n%s", diff)
	}
	w.service.setMenu(bistro, strings.Replace(fullMenu, `"id": "i2",`, `"id": "i2", "isContainInStopList": true,`, 1))
	w.syncOnce(bistro)
	released := f.next()
	want := menuEvent{bistro, 3, []menu.Availability{{ID: "p1", Available: true}}, []menu.Availability{{ID: "i2", Available: false}}}
	if diff := cmp.Diff(want, released.about(t, "menu.availability")); diff != "" {
		t.Errorf("a released dish and a stopped ingredient (-want +got):\n%s", diff)
	}
	w.service.setMenu(bistro, strings.Replace(fullMenu, "199.90", "209.90", 1))
	w.syncOnce(bistro)
	priced := f.next()
	if got := priced.about(t, "menu.updated"); got.Version != 4 || len(got.Products) != 0 {
		t.Errorf("another price: %+v", got)
	}

	for name, test := range map[string]struct {
		lastEventID, wantFirst string
	}{
		"the version it has":   {priced.id, ""},
		"the version before":   {released.id, "menu.updated"},
		"one of no version":    {"whatever", "menu.updated"},
		"the number alone":     {"4", "menu.updated"},
		"a number given again": {"4-00000000", "menu.updated"},
	} {
		again := w.follow(bistro, "Last-Event-ID", test.lastEventID)
		if test.wantFirst != "" {
			if got := again.next(); got.name != test.wantFirst || got.id != priced.id {
				t.Errorf("%s: got %+v, want %s of %s", name, got, test.wantFirst, priced.id)
			}
			continue
		}
		w.service.setMenu(bistro, fullMenu)
		w.syncOnce(bistro)
		if got := again.next(); got.about(t, "menu.updated").Version != 5 {
			t.Errorf("%s: got %+v, want version 5 first", name, got)
		}
		w.service.setMenu(bistro, strings.Replace(fullMenu, "199.90", "209.90", 1))
		w.syncOnce(bistro)
		priced = again.next()
	}
}

// A restaurant without a menu has a stream, and its first event is its first menu. Events of menus
// without readers are not sent.
func TestEventsBeforeTheFirstMenu(t *testing.T) {
	t.Parallel()
	w := newFixture(t, eager)
	f := w.follow(empty)
	w.service.setMenu(empty, fullMenu)
	w.syncOnce(bistro)
	w.syncOnce(empty)
	if got := f.next().about(t, "menu.updated"); got.Restaurant != empty || got.Version != 1 {
		t.Errorf("got %+v, want the first version of %s", got, empty)
	}
	f.beat()
}

func TestEventsRefusals(t *testing.T) {
	t.Parallel()
	w := newFixture(t)
	w.get("/v1/events").refused(t, http.StatusBadRequest, "restaurant_required")
	w.get("/v1/events?restaurant=a&restaurant=b").refused(t, http.StatusBadRequest, "invalid_parameter")
	w.get("/v1/events?restaurant=nowhere").refused(t, http.StatusNotFound, "restaurant_not_found")
	w.get("/v1/events?restaurant=@main").refused(t, http.StatusNotFound, "restaurant_not_found")
	w.get("/v1/events?restaurant="+bistro, w.as(clientNorth)...).refused(t, http.StatusNotFound, "restaurant_not_found")
	w.get("/v1/events?restaurant="+bistro, "Authorization", "Bearer x").refused(t, http.StatusUnauthorized, "unauthorized")
	if got := w.do(http.MethodHead, "/v1/events?restaurant="+bistro, ""); got.status != http.StatusMethodNotAllowed {
		t.Errorf("HEAD: %d, want 405", got.status)
	}
	closed := newFixture(t, func(p *plan) {
		open := false
		p.auth.OpenMenu = &open
	})
	closed.get("/v1/events?restaurant="+bistro).refused(t, http.StatusUnauthorized, "unauthorized")
	closed.follow(bistro, closed.as(clientRead)...).next()
}

// A stream ends when its token expires.
func TestATokensEndEndsItsStream(t *testing.T) {
	t.Parallel()
	w := newFixture(t)
	token := w.as(clientRead)
	w.ahead(time.Hour - 2*time.Second) // token times are whole seconds
	f := w.follow(bistro, token...)
	f.next()
	f.over()
	w.metric(`larder_event_streams_ended_total{kind="menu",reason="expired"} 1`)
}

// A reload may remove a restaurant, or move it to a connection that the reader must not see. Either
// ends the stream.
func TestAReloadEndsTheStreamsOfWhatIsGone(t *testing.T) {
	t.Parallel()
	w := newFixture(t, eager)
	ours, moved, gone := w.follow(bistro, w.as(clientShop)...), w.follow(north, w.as(clientNorth)...), w.follow(empty)
	ours.next()
	moved.next()
	restaurants := w.syncDeps(defaultPlan(), nil).Restaurants
	restaurants = slices.DeleteFunc(restaurants, func(r menusync.Restaurant) bool { return r.ID == empty })
	for i := range restaurants {
		restaurants[i].Connection = "main"
	}
	w.replace(restaurants)
	moved.over()
	gone.over()
	w.metric(`larder_event_streams_ended_total{kind="menu",reason="removed"} 2`)
	ours.beat()
}

func TestEventsAreLimited(t *testing.T) { // policy H1
	t.Parallel()
	w := newFixture(t, withEvents(func(c *events.Config) { c.PerAddress, c.Total = 2, 3 }), func(p *plan) {
		p.cfg.TrustedProxies = []string{"127.0.0.1"}
	})
	from := func(address string) []string { return []string{"X-Forwarded-For", address} }
	one := w.follow(bistro, from("192.0.2.1")...)
	w.follow(north, from("192.0.2.1")...)
	const path = "/v1/events?restaurant=" + bistro
	refused := w.get(path, from("192.0.2.1")...)
	refused.refused(t, http.StatusTooManyRequests, "rate_limited")
	if refused.header.Get("Retry-After") != "10" {
		t.Errorf("Retry-After %q, want 10", refused.header.Get("Retry-After"))
	}
	w.follow(bistro, from("192.0.2.2")...)
	refused = w.get(path, from("192.0.2.3")...)
	refused.refused(t, http.StatusServiceUnavailable, "streams_unavailable")
	if refused.header.Get("Retry-After") == "" {
		t.Error("no Retry-After")
	}
	w.metric(`larder_event_streams{kind="menu"} 3`)
	one.close()
	w.metric(`larder_event_streams{kind="menu"} 2`)
	w.metric(`larder_event_streams_ended_total{kind="menu",reason="client"} 1`)
	w.follow(bistro, from("192.0.2.1")...).next()
}

// Every replica sends an event for each version, with the same id, whichever instance published it.
func TestEventsOnSeveralReplicas(t *testing.T) {
	t.Parallel()
	url := redistest.Start(t).URL()
	onRedis := func(p *plan) { p.redis.URL = url }
	publisher := newFixture(t, anyMenu, onRedis)
	reader := newFixture(t, onRedis, func(p *plan) { p.unsynced = true })
	ctx, cancel := context.WithCancel(t.Context())
	var running errgroup.Group
	running.Go(func() error { return reader.replica.Run(ctx) })
	t.Cleanup(func() {
		cancel()
		if err := running.Wait(); err != nil {
			t.Error(err)
		}
	})
	here, there := publisher.follow(bistro), reader.follow(bistro)
	first := here.next()
	if got := there.next(); got != first {
		t.Fatalf("the replicas send %+v and %+v", first, got)
	}
	for n := range 20 {
		publisher.service.setMenu(bistro, dishes(5, 100+n/4, n%2 == 1))
		publisher.syncOnce(bistro)
		a, b := here.next(), there.next()
		if a.id != b.id || a.data != b.data && b.name != "menu.updated" {
			t.Fatalf("version %d: the replicas send %+v and %+v", n+2, a, b)
		}
		again := reader.follow(bistro, "Last-Event-ID", a.id) // on any replica
		again.close()
	}
}

// Pages on listed origins may read events, and may send the id of the last event.
func TestEventsUnderCORS(t *testing.T) {
	t.Parallel()
	w := newFixture(t, func(p *plan) { p.cfg.CORSOrigins = []string{"https://shop.example"} })
	f := w.follow(bistro, "Origin", "https://shop.example")
	if got := f.response.Header.Get("Access-Control-Allow-Origin"); got != "https://shop.example" {
		t.Errorf("Access-Control-Allow-Origin %q", got)
	}
	asked := w.do(http.MethodOptions, "/v1/events", "", "Origin", "https://shop.example", "Access-Control-Request-Method", "GET")
	if !strings.Contains(asked.header.Get("Access-Control-Allow-Headers"), "Last-Event-ID") {
		t.Errorf("Access-Control-Allow-Headers %q", asked.header.Get("Access-Control-Allow-Headers"))
	}
}
