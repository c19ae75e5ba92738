package events_test

import (
	"context"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"golang.org/x/sync/errgroup"

	"larder.local/httpapi/events"
	"larder.local/internal/menu"
	"larder.local/internal/testkit/apitest"
	"larder.local/internal/testkit/redistest"
	menusync "larder.local/sync"
)

func TestEventsForEachVersion(t *testing.T) {
	t.Parallel()
	w := apitest.New(t)
	f := w.Follow(apitest.Bistro)
	for name, want := range map[string]string{
		"Content-Type": "text/event-stream", "Cache-Control": "no-store", "X-Accel-Buffering": "no",
		"Content-Encoding": "", "Content-Length": "",
	} {
		if got := f.Response.Header.Get(name); got != want {
			t.Errorf("%s: %q, want %q", name, got, want)
		}
	}
	first := f.Next()
	if diff := cmp.Diff(apitest.MenuEvent{Restaurant: apitest.Bistro, Version: 1, Products: []menu.Availability{}, Ingredients: []menu.Availability{}}, first.About(t, "menu.updated")); diff != "" {
		t.Errorf("on connect (-want +got):\n%s", diff)
	}
	if retry, err := strconv.Atoi(f.Retry); err != nil || retry < 2000 || retry > 6000 {
		t.Errorf("retry %q, want 2 to 6 s in milliseconds", f.Retry)
	}

	w.Service.SetMenu(apitest.Bistro, strings.Replace(apitest.FullMenu, `"externalId": "e1",`, `"externalId": "e1", "isContainInStopList": ["bistro"],`, 1))
	w.SyncOnce(apitest.Bistro)
	stopped := f.Next()
	if diff := cmp.Diff(apitest.MenuEvent{Restaurant: apitest.Bistro, Version: 2, Products: []menu.Availability{{ID: "p1", Available: false}}, Ingredients: []menu.Availability{}}, stopped.About(t, "menu.availability")); diff != "" {
		t.Errorf("a stopped dish (-want +got):\n%s", diff)
	}
	w.Service.SetMenu(apitest.Bistro, strings.Replace(apitest.FullMenu, `"id": "i2",`, `"id": "i2", "isContainInStopList": true,`, 1))
	w.SyncOnce(apitest.Bistro)
	released := f.Next()
	want := apitest.MenuEvent{Restaurant: apitest.Bistro, Version: 3, Products: []menu.Availability{{ID: "p1", Available: true}}, Ingredients: []menu.Availability{{ID: "i2", Available: false}}}
	if diff := cmp.Diff(want, released.About(t, "menu.availability")); diff != "" {
		t.Errorf("a released dish and a stopped ingredient (-want +got):\n%s", diff)
	}
	w.Service.SetMenu(apitest.Bistro, strings.Replace(apitest.FullMenu, "199.90", "209.90", 1))
	w.SyncOnce(apitest.Bistro)
	priced := f.Next()
	if got := priced.About(t, "menu.updated"); got.Version != 4 || len(got.Products) != 0 {
		t.Errorf("another price: %+v", got)
	}

	for name, test := range map[string]struct {
		lastEventID, wantFirst string
	}{
		"the version it has":   {priced.ID, ""},
		"the version before":   {released.ID, "menu.updated"},
		"one of no version":    {"whatever", "menu.updated"},
		"the number alone":     {"4", "menu.updated"},
		"a number given again": {"4-00000000", "menu.updated"},
	} {
		again := w.Follow(apitest.Bistro, "Last-Event-ID", test.lastEventID)
		if test.wantFirst != "" {
			if got := again.Next(); got.Name != test.wantFirst || got.ID != priced.ID {
				t.Errorf("%s: got %+v, want %s of %s", name, got, test.wantFirst, priced.ID)
			}
			continue
		}
		w.Service.SetMenu(apitest.Bistro, apitest.FullMenu)
		w.SyncOnce(apitest.Bistro)
		if got := again.Next(); got.About(t, "menu.updated").Version != 5 {
			t.Errorf("%s: got %+v, want version 5 first", name, got)
		}
		w.Service.SetMenu(apitest.Bistro, strings.Replace(apitest.FullMenu, "199.90", "209.90", 1))
		w.SyncOnce(apitest.Bistro)
		priced = again.Next()
	}
}

// A restaurant without a menu has a stream, and its first event is its first menu. Events of menus
// without readers are not sent.
func TestEventsBeforeTheFirstMenu(t *testing.T) {
	t.Parallel()
	w := apitest.New(t, apitest.Eager)
	f := w.Follow(apitest.Empty)
	w.Service.SetMenu(apitest.Empty, apitest.FullMenu)
	w.SyncOnce(apitest.Bistro)
	w.SyncOnce(apitest.Empty)
	if got := f.Next().About(t, "menu.updated"); got.Restaurant != apitest.Empty || got.Version != 1 {
		t.Errorf("got %+v, want the first version of %s", got, apitest.Empty)
	}
	f.Beat()
}

func TestEventsRefusals(t *testing.T) {
	t.Parallel()
	w := apitest.New(t)
	w.Get("/v1/events").Refused(t, http.StatusBadRequest, "restaurant_required")
	w.Get("/v1/events?restaurant=a&restaurant=b").Refused(t, http.StatusBadRequest, "invalid_parameter")
	w.Get("/v1/events?restaurant=nowhere").Refused(t, http.StatusNotFound, "restaurant_not_found")
	w.Get("/v1/events?restaurant=@main").Refused(t, http.StatusNotFound, "restaurant_not_found")
	w.Get("/v1/events?restaurant="+apitest.Bistro, w.As(apitest.ClientNorth)...).Refused(t, http.StatusNotFound, "restaurant_not_found")
	w.Get("/v1/events?restaurant="+apitest.Bistro, "Authorization", "Bearer x").Refused(t, http.StatusUnauthorized, "unauthorized")
	if got := w.Do(http.MethodHead, "/v1/events?restaurant="+apitest.Bistro, ""); got.Status != http.StatusMethodNotAllowed {
		t.Errorf("HEAD: %d, want 405", got.Status)
	}
	closed := apitest.New(t, func(p *apitest.Plan) {
		open := false
		p.Auth.OpenMenu = &open
	})
	closed.Get("/v1/events?restaurant="+apitest.Bistro).Refused(t, http.StatusUnauthorized, "unauthorized")
	closed.Follow(apitest.Bistro, closed.As(apitest.ClientRead)...).Next()
}

// A stream ends when its token expires.
func TestATokensEndEndsItsStream(t *testing.T) {
	t.Parallel()
	w := apitest.New(t)
	token := w.As(apitest.ClientRead)
	w.Ahead(time.Hour - 2*time.Second) // token times are whole seconds
	f := w.Follow(apitest.Bistro, token...)
	f.Next()
	f.Over()
	w.WaitMetric(`larder_event_streams_ended_total{kind="menu",reason="expired"} 1`)
}

// A reload may remove a restaurant, or move it to a connection that the reader must not see. Either
// ends the stream.
func TestAReloadEndsTheStreamsOfWhatIsGone(t *testing.T) {
	t.Parallel()
	w := apitest.New(t, apitest.Eager)
	ours, moved, gone := w.Follow(apitest.Bistro, w.As(apitest.ClientShop)...), w.Follow(apitest.North, w.As(apitest.ClientNorth)...), w.Follow(apitest.Empty)
	ours.Next()
	moved.Next()
	restaurants := w.SyncDeps(apitest.DefaultPlan(), nil).Restaurants
	restaurants = slices.DeleteFunc(restaurants, func(r menusync.Restaurant) bool { return r.ID == apitest.Empty })
	for i := range restaurants {
		restaurants[i].Connection = "main"
	}
	w.Replace(restaurants)
	moved.Over()
	gone.Over()
	w.WaitMetric(`larder_event_streams_ended_total{kind="menu",reason="removed"} 2`)
	ours.Beat()
}

func TestEventsAreLimited(t *testing.T) { // policy H1
	t.Parallel()
	w := apitest.New(t, apitest.WithEvents(func(c *events.Config) { c.PerAddress, c.Total = 2, 3 }), func(p *apitest.Plan) {
		p.HTTP.TrustedProxies = []string{"127.0.0.1"}
	})
	from := func(address string) []string { return []string{"X-Forwarded-For", address} }
	one := w.Follow(apitest.Bistro, from("192.0.2.1")...)
	w.Follow(apitest.North, from("192.0.2.1")...)
	const path = "/v1/events?restaurant=" + apitest.Bistro
	refused := w.Get(path, from("192.0.2.1")...)
	refused.Refused(t, http.StatusTooManyRequests, "rate_limited")
	if refused.Header.Get("Retry-After") != "10" {
		t.Errorf("Retry-After %q, want 10", refused.Header.Get("Retry-After"))
	}
	w.Follow(apitest.Bistro, from("192.0.2.2")...)
	refused = w.Get(path, from("192.0.2.3")...)
	refused.Refused(t, http.StatusServiceUnavailable, "streams_unavailable")
	if refused.Header.Get("Retry-After") == "" {
		t.Error("no Retry-After")
	}
	w.WaitMetric(`larder_event_streams{kind="menu"} 3`)
	one.Close()
	w.WaitMetric(`larder_event_streams{kind="menu"} 2`)
	w.WaitMetric(`larder_event_streams_ended_total{kind="menu",reason="client"} 1`)
	w.Follow(apitest.Bistro, from("192.0.2.1")...).Next()
}

// Every replica sends an event for each version, with the same id, whichever instance published it.
func TestEventsOnSeveralReplicas(t *testing.T) {
	t.Parallel()
	url := redistest.Start(t).URL()
	onRedis := func(p *apitest.Plan) { p.Redis.URL = url }
	publisher := apitest.New(t, apitest.AnyMenu, onRedis)
	reader := apitest.New(t, onRedis, func(p *apitest.Plan) { p.Unsynced = true })
	ctx, cancel := context.WithCancel(t.Context())
	var running errgroup.Group
	running.Go(func() error { return reader.Replica.Run(ctx) })
	t.Cleanup(func() {
		cancel()
		if err := running.Wait(); err != nil {
			t.Error(err)
		}
	})
	here, there := publisher.Follow(apitest.Bistro), reader.Follow(apitest.Bistro)
	first := here.Next()
	if got := there.Next(); got != first {
		t.Fatalf("the replicas send %+v and %+v", first, got)
	}
	for n := range 20 {
		publisher.Service.SetMenu(apitest.Bistro, apitest.Dishes(5, 100+n/4, n%2 == 1))
		publisher.SyncOnce(apitest.Bistro)
		a, b := here.Next(), there.Next()
		if a.ID != b.ID || a.Data != b.Data && b.Name != "menu.updated" {
			t.Fatalf("version %d: the replicas send %+v and %+v", n+2, a, b)
		}
		again := reader.Follow(apitest.Bistro, "Last-Event-ID", a.ID) // on any replica
		again.Close()
	}
}

// Pages on listed origins may read events, and may send the id of the last event.
func TestEventsUnderCORS(t *testing.T) {
	t.Parallel()
	w := apitest.New(t, func(p *apitest.Plan) { p.HTTP.CORSOrigins = []string{"https://shop.example"} })
	f := w.Follow(apitest.Bistro, "Origin", "https://shop.example")
	if got := f.Response.Header.Get("Access-Control-Allow-Origin"); got != "https://shop.example" {
		t.Errorf("Access-Control-Allow-Origin %q", got)
	}
	asked := w.Do(http.MethodOptions, "/v1/events", "", "Origin", "https://shop.example", "Access-Control-Request-Method", "GET")
	if !strings.Contains(asked.Header.Get("Access-Control-Allow-Headers"), "Last-Event-ID") {
		t.Errorf("Access-Control-Allow-Headers %q", asked.Header.Get("Access-Control-Allow-Headers"))
	}
}
