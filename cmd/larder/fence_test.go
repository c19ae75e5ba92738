package main

import (
	"maps"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"syscall"
	"testing"

	"larder/cache"
	"larder/internal/menu"
	"larder/internal/testkit/clitest"
	"larder/internal/testkit/faultproxy"
)

// holdingBack is an ordering service that can delay one complete response, so that its
// menu is outdated when larder receives it.
type holdingBack struct {
	service http.Handler

	mu sync.Mutex
	of string // the restaurant whose next response is delayed; empty: none

	asked, made chan struct{} // closed after the request, and after the response is complete
	make, gate  chan struct{} // closed to compute the response, and to send it
}

func (h *holdingBack) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	h.mu.Lock()
	mine := h.of != "" && r.URL.Query().Get("restaurantId") == h.of
	if mine {
		h.of = "" // delay only one response
	}
	h.mu.Unlock()
	if !mine {
		h.service.ServeHTTP(w, r)
		return
	}
	close(h.asked)
	<-h.make
	answer := httptest.NewRecorder()
	h.service.ServeHTTP(answer, r)
	close(h.made)
	<-h.gate
	maps.Copy(w.Header(), answer.Header())
	w.WriteHeader(answer.Code)
	_, _ = w.Write(answer.Body.Bytes())
}

func (h *holdingBack) next(restaurant string) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.of = restaurant
}

// An instance is paused (SIGSTOP) during a sync for longer than its lease. Another one
// takes over the restaurant and publishes. When the first one continues (SIGCONT), it
// receives an outdated menu. It does not publish this menu, and serves that of the
// other instance (policy S2).
func TestPausedInstanceDoesNotPublish_S2(t *testing.T) {
	t.Parallel()
	o := newOutage(t)
	held := &holdingBack{
		service: o.service.Config.Handler,
		asked:   make(chan struct{}),
		made:    make(chan struct{}),
		make:    make(chan struct{}),
		gate:    make(chan struct{}),
	}
	mayMake, mayGo := sync.OnceFunc(func() { close(held.make) }), sync.OnceFunc(func() { close(held.gate) })
	service := httptest.NewServer(held)
	t.Cleanup(service.Close)
	t.Cleanup(func() { mayMake(); mayGo() }) // before the server closes
	o.toService = faultproxy.Start(t, strings.TrimPrefix(service.URL, "http://"))
	o.config = o.configuration(t, "redis://"+o.redis.Addr()+"/0")

	restaurant := o.restaurants[0]
	paused := o.start(t)
	base := o.serving(t, paused)
	client, keys, id := o.redis.Client(), cache.NewKeys(""), menu.RestaurantID(restaurant)
	current := func() map[string]string { return client.HGetAll(t.Context(), keys.Current(id)).Val() }
	first := current()["version"]
	held.next(restaurant)
	<-held.asked
	o.stop(t, restaurant, true)
	mayMake()
	<-held.made // the response has the dish stopped; no version has this stop yet
	paused.signal(t, syscall.SIGSTOP)
	t.Cleanup(func() { _ = paused.cmd.Process.Signal(syscall.SIGCONT) })

	o.dish = anotherDish(t, o)
	o.stop(t, restaurant, true)
	other := o.start(t)
	clitest.Eventually(t, "another takes the restaurant over and publishes", func() bool { return current()["version"] != first })
	// From here on, only the paused instance could publish.
	other.signal(t, syscall.SIGSTOP)
	t.Cleanup(func() { _ = other.cmd.Process.Signal(syscall.SIGCONT) })
	before := current()

	paused.signal(t, syscall.SIGCONT)
	mayGo()
	clitest.Eventually(t, "the paused larder syncs again", func() bool { return current()["checkedAt"] != before["checkedAt"] })
	clitest.Eventually(t, "the paused larder serves the other's version", func() bool {
		status, body := clitest.Fetch(t, base+"/v1/restaurants/"+restaurant+"/menu")
		return status == http.StatusOK && strings.Contains(body, `"version":`+before["version"]+`,`)
	})
	after := current()
	for _, field := range []string{"version", "content", "syncedAt", "publication"} {
		if after[field] != before[field] || after[field] == "" {
			t.Errorf("%s is %q, and was %q when the paused larder went on", field, after[field], before[field])
		}
	}
}

func anotherDish(t *testing.T, o *outage) string {
	t.Helper()
	view, err := menu.Decode(o.generate.Menu(0))
	if err != nil {
		t.Fatal(err)
	}
	for _, dish := range view.Products {
		if dish.ID != o.dish {
			return dish.ID
		}
	}
	t.Fatal("the menu has one dish")
	return ""
}
