package sync_test

import (
	"bytes"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strconv"
	"strings"
	stdsync "sync"
	"testing"

	"golang.org/x/sync/errgroup"

	"larder.local/cache"
	"larder.local/internal/directory"
	"larder.local/internal/menu"
	"larder.local/internal/redisdb"
	"larder.local/internal/upstream"
	menusync "larder.local/sync"
	"larder.local/sync/runlog"
)

// announcing is an ordering service over HTTP that announces the lengths of its menu views.
type announcing struct {
	mu     stdsync.Mutex
	bodies map[string][]byte
	asked  map[string]int
	hook   func(restaurant string)
}

func (a *announcing) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	if r.URL.Path == "/connect/token" {
		_, _ = io.WriteString(w, `{"access_token":"t","expires_in":3600}`)
		return
	}
	id := r.URL.Query().Get("restaurantId")
	a.mu.Lock()
	a.asked[id]++
	body, hook := a.bodies[id], a.hook
	a.mu.Unlock()
	if hook != nil {
		hook(id)
	}
	w.Header().Set("Content-Length", strconv.Itoa(len(body)))
	_, _ = w.Write(body)
}

// set replaces a menu view and returns how often it was requested before.
func (a *announcing) set(id string, body []byte) int {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.bodies[id] = body
	return a.asked[id]
}

func announcingFixture(t *testing.T, memory cache.ByteSize, ids ...string) (*fixture, *announcing) {
	t.Helper()
	service := &announcing{bodies: map[string][]byte{}, asked: map[string]int{}}
	server := httptest.NewServer(service)
	t.Cleanup(server.Close)
	cfg := upstream.Config{Name: "main", BaseURL: server.URL, AuthURL: server.URL, ClientID: "c", ClientSecret: "secret"}
	cfg.SetDefaults()
	client, err := upstream.New(cfg, upstream.Deps{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(client.Close)
	return newFixture(t, redisdb.Embedded, func(d *menusync.Deps) {
		d.Config.Memory, d.Connections[0].Source = memory, client
		for _, id := range ids {
			d.Restaurants = append(d.Restaurants, menusync.Restaurant{Restaurant: directory.Restaurant{ID: menu.RestaurantID(id), Connection: "main"}, Settings: menu.DefaultSettings()})
		}
	}), service
}

// A menu that grew is fetched with its announced length at the first attempt.
func TestAMenuThatGrewIsFetchedWithOneRequest(t *testing.T) {
	t.Parallel()
	g, service := announcingFixture(t, 512*mib)
	service.set(string(bistro), ofSize(20_000))
	g.want(g.once(), runlog.OutcomeUpdated, 1)
	for i, size := range []int{1_100_000, 31 * mib, 40_000, 64 * mib} {
		before := service.set(string(bistro), bytes.Replace(ofSize(size), []byte(`"price":100`), fmt.Appendf(nil, `"price":%d`, 101+i), 1))
		g.want(g.once(), runlog.OutcomeUpdated, int64(i+2))
		if asked := service.set(string(bistro), nil) - before; asked != 1 {
			t.Errorf("%d bytes: %d requests, want one", size, asked)
		}
	}
	before := service.set(string(bistro), ofSize(64*mib+1))
	if run := g.once(); run.Outcome != runlog.OutcomeFailed || !strings.Contains(run.Error, "too large") {
		t.Errorf("a view above the limit: %+v", run)
	}
	if asked := service.set(string(bistro), nil) - before; asked != 1 {
		t.Errorf("a view above the limit: %d requests, want one", asked)
	}
}

// While other runs have the memory, a run that needs more gives its own back. It waits for what was announced.
func TestAMenuThatGrewWaitsForTheAnnouncedMemory(t *testing.T) {
	t.Parallel()
	g, service := announcingFixture(t, 16*mib, "second")
	service.set(string(bistro), ofSize(3*mib/2))
	service.set("second", ofSize(20_000))
	entered, leave := make(chan struct{}), make(chan struct{})
	service.hook = func(id string) {
		if id == "second" { // holds half of the memory
			close(entered)
			<-leave
		}
	}
	var group errgroup.Group
	group.Go(func() error {
		_, err := g.OnceOf(t.Context(), "second", runlog.TriggerCron)
		return err
	})
	<-entered
	first := make(chan struct{})
	service.mu.Lock()
	service.hook = func(id string) {
		if id == string(bistro) && service.set(id, ofSize(3*mib/2)) == 1 {
			close(first)
		}
	}
	service.mu.Unlock()
	group.Go(func() error {
		<-first
		close(leave)
		return nil
	})
	g.want(g.once(), runlog.OutcomeUpdated, 1)
	if err := group.Wait(); err != nil {
		t.Fatal(err)
	}
	if asked := service.set(string(bistro), nil); asked > 2 {
		t.Errorf("%d requests, want at most two", asked)
	}
}
