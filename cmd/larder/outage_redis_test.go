package main

import (
	"net/http"
	"strings"
	"syscall"
	"testing"
	"time"

	"larder.local/cache"
	"larder.local/cmd/larder/client"
	"larder.local/internal/menu"
	"larder.local/internal/testkit/clitest"
	"larder.local/internal/testkit/metrics"
	"larder.local/internal/testkit/redistest"
)

// Redis becomes unavailable in several ways during constant reads. No read fails,
// orders are rejected before anything is sent, syncs pause, and readiness is degraded.
// When Redis is back, everything recovers by itself (policy S5).
func TestRedisOutage(t *testing.T) {
	t.Parallel()
	for name, fault := range map[string]struct{ begin, end func(o *outage) }{
		"connections are reset": {func(o *outage) { o.toRedis.Refuse() }, func(o *outage) { o.toRedis.Pass() }},
		"the line hangs":        {func(o *outage) { o.toRedis.Hang() }, func(o *outage) { o.toRedis.Pass() }},
		"the server is frozen": {
			func(o *outage) { o.redis.Signal(syscall.SIGSTOP) },
			func(o *outage) { o.redis.Signal(syscall.SIGCONT) },
		},
		"the server is killed and starts again": {func(o *outage) { o.redis.Stop() }, func(o *outage) { o.redis.Restart() }},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			o := newOutage(t)
			p := o.start(t)
			base := o.serving(t, p)
			shop := shopper(t, base)
			if status, _, body := o.place(t, shop, "before"); status != http.StatusCreated {
				t.Fatalf("an order before: %d %s", status, body)
			}
			reading := o.read(t, base)
			o.stop(t, o.restaurants[0], true)
			o.shows(t, base, o.restaurants[0], true)

			fault.begin(o)
			p.log.Find(t, `"event":"sync.paused"`)
			o.degraded(t, base)
			o.answersSoon(t, base)
			o.refuses(t, shop)
			o.pauses(t, base)
			o.stop(t, o.restaurants[0], false) // it is not published yet

			fault.end(o)
			p.log.Find(t, `"event":"sync.resumed"`)
			o.shows(t, base, o.restaurants[0], false)
			clitest.Eventually(t, "an order is placed again", func() bool {
				status, _, _ := o.place(t, shop, "after")
				return status == http.StatusCreated
			})
			if _, orders := o.calls(t); orders != 2 {
				t.Errorf("the ordering service got %d orders, want those before and after", orders)
			}
			clitest.Eventually(t, "readiness is ok", func() bool {
				status, body := clitest.Fetch(t, base+"/readyz")
				return status == http.StatusOK && strings.Contains(body, `"status":"ok"`)
			})
			reading.stop().whole(t, len(o.restaurants)+2)
			p.wantCatchUps(t)
		})
	}
}

// degraded waits until readiness is degraded by Redis and the journal, with status
// 200.
func (o *outage) degraded(t *testing.T, base string) {
	t.Helper()
	type part struct {
		OK  bool
		Msg string
	}
	if status, body := clitest.Fetch(t, base+"/readyz"); status != http.StatusOK || body != `{"status":"degraded"}` {
		t.Errorf("plain readiness without Redis: %d %s, want 200 and degraded", status, body)
	}
	status, body := clitest.Fetch(t, base+"/readyz?verbose")
	state := clitest.FromJSON[struct {
		Status string
		Parts  struct{ Redis, Journal, Catalogues part }
	}](t, body)
	if status != http.StatusOK || state.Status != "degraded" {
		t.Errorf("readiness without Redis: %d %s, want 200 and degraded", status, body)
	}
	if p := state.Parts; p.Redis.OK || p.Redis.Msg == "" || p.Journal.OK || !p.Catalogues.OK {
		t.Errorf("readiness names %+v, want Redis and the journal alone", p)
	}
	if strings.Contains(body, "127.0.0.1") {
		t.Errorf("readiness contains the address of Redis: %s", body)
	}
}

// answersSoon checks that an unavailable Redis delays no request for long. The list of
// restaurants comes from memory, and operator routes return 503.
func (o *outage) answersSoon(t *testing.T, base string) {
	t.Helper()
	ops := client.New(t.Context(), base, "ops", "ops-secret")
	for path, want := range map[string]struct {
		status int
		within time.Duration
	}{
		"/v1/restaurants": {http.StatusOK, 900 * time.Millisecond},
		"/v1/ops/orders":  {http.StatusServiceUnavailable, 10 * time.Second},
		"/v1/ops/restaurants/" + o.restaurants[0] + "/versions": {http.StatusServiceUnavailable, 10 * time.Second},
	} {
		live, err := http.NewRequestWithContext(t.Context(), http.MethodGet, base+"/livez", http.NoBody)
		if err != nil {
			t.Fatal(err)
		}
		request, err := http.NewRequestWithContext(t.Context(), http.MethodGet, base+path, http.NoBody)
		if err != nil {
			t.Fatal(err)
		}
		timed := func(request *http.Request) (status int, took time.Duration) {
			began := time.Now()
			response, err := ops.Authorized.Do(request)
			if err != nil {
				t.Fatal(err)
			}
			_ = response.Body.Close()
			return response.StatusCode, time.Since(began)
		}
		clitest.Eventually(t, path+" responds soon without Redis", func() bool {
			_, before := timed(live)
			status, took := timed(request)
			_, after := timed(live)
			if status != want.status {
				t.Errorf("%s without Redis: %d, want %d", path, status, want.status)
			}
			slow := took > want.within
			if slow && max(before, after) < want.within/10 { // this machine is not busy
				t.Errorf("%s without Redis took %v, /livez %v and %v", path, took, before, after)
			}
			return !slow || t.Failed()
		})
	}
}

// refuses checks that an order is rejected and not sent.
func (o *outage) refuses(t *testing.T, shop *client.Client) {
	t.Helper()
	_, before := o.calls(t)
	status, header, body := o.place(t, shop, "meanwhile")
	if status != http.StatusServiceUnavailable || header.Get("Retry-After") == "" || !strings.Contains(body, "journal_unavailable") {
		t.Errorf("an order without Redis: %d, Retry-After %q, %s; want 503 and when to ask again", status, header.Get("Retry-After"), body)
	}
	if _, after := o.calls(t); after != before {
		t.Errorf("%d orders were sent without a journal", after-before)
	}
}

// pauses checks that larder sends no request to the ordering service for two
// schedules.
func (o *outage) pauses(t *testing.T, base string) {
	t.Helper()
	skipped := func(s metrics.Sample) int { return int(s.Sum("larder_sync_ticks_skipped_total", `reason="redis"`)) }
	from := skipped(o.sample(t, base))
	wait := func(schedules int) {
		o.until(t, base, "ticks are skipped", func(s metrics.Sample) bool {
			return skipped(s) >= from+schedules*len(o.restaurants)
		})
	}
	wait(1) // syncs in progress have ended
	before, _ := o.calls(t)
	wait(3)
	if after, _ := o.calls(t); after != before {
		t.Errorf("the ordering service was asked for %d menus while syncs pause", after-before)
	}
}

// An instance that starts while Redis hangs reports the reason within a time limit,
// and recovers by itself.
func TestRedisHangsDuringStartup(t *testing.T) {
	t.Parallel()
	o := newOutage(t)
	o.toRedis.Hang()
	p := o.start(t)
	base := p.url(t)
	status, body := clitest.Fetch(t, base+"/v1/restaurants/"+o.restaurants[0]+"/menu")
	if status != http.StatusServiceUnavailable || !strings.Contains(body, "storage_unavailable") {
		t.Errorf("a menu: %d %s, want 503 and why", status, body)
	}
	if status, body := clitest.Fetch(t, base+"/readyz?verbose"); status != http.StatusServiceUnavailable || !strings.Contains(body, "does not answer") {
		t.Errorf("readiness: %d %s, want 503 and Redis named", status, body)
	}
	if menus, _ := o.calls(t); menus != 0 {
		t.Errorf("%d menus were pulled that nobody could keep", menus)
	}
	o.toRedis.Pass()
	o.serving(t, p)
	clitest.Eventually(t, "the pause has ended", func() bool {
		return p.lines("sync.paused") > 0 && p.lines("sync.paused") == p.lines("sync.resumed")
	})
}

// A Redis master is killed or frozen during constant reads and syncs of two instances.
// No read fails, no version goes back, and later changes reach both instances.
func TestRedisMasterIsLost(t *testing.T) {
	t.Parallel()
	t.Run("of Sentinel", func(t *testing.T) {
		t.Parallel()
		group := redistest.StartSentinel(t, redistest.AppendOnly())
		o := newOutageOn(t, group.URL())
		o.losesMaster(t, func() {
			master := group.Master()
			master.Stop()
			group.AwaitFailover(master)
		})
	})
	t.Run("of Sentinel, frozen", func(t *testing.T) {
		t.Parallel()
		group := redistest.StartSentinel(t, redistest.AppendOnly())
		o := newOutageOn(t, group.URL())
		o.losesMaster(t, func() {
			master := group.Master()
			master.Signal(syscall.SIGSTOP) // its connections stay open
			group.AwaitFailover(master)
		})
	})
	t.Run("of Cluster, replaced by its replica", func(t *testing.T) {
		t.Parallel()
		cluster := redistest.StartCluster(t, 1, redistest.AppendOnly())
		o := newOutageOn(t, cluster.URL())
		key := cache.NewKeys("").Current(menu.RestaurantID(o.restaurants[0]))
		o.losesMaster(t, func() {
			master := cluster.MasterOf(key)
			master.Stop()
			cluster.AwaitFailover(key, master)
			master.Restart() // as a replica, which orders need (policy O14)
		})
	})
	t.Run("of Cluster, started again", func(t *testing.T) {
		t.Parallel()
		cluster := redistest.StartCluster(t, 0, redistest.AppendOnly())
		o := newOutageOn(t, cluster.URL())
		key := cache.NewKeys("").Current(menu.RestaurantID(o.restaurants[0]))
		o.losesMaster(t, func() {
			master := cluster.MasterOf(key)
			master.Stop()
			o.stop(t, o.restaurants[0], true) // no other instance can publish it
			master.Restart()
			cluster.AwaitAllSlots()
		})
	})
}

// losesMaster runs the test for each kind of loss. lose returns when Redis has a
// master again.
func (o *outage) losesMaster(t *testing.T, lose func()) {
	t.Helper()
	first, second := o.start(t), o.start(t)
	bases := []string{o.serving(t, first), o.serving(t, second)}
	shop := shopper(t, bases[0])
	if status, _, body := o.place(t, shop, "before"); status != http.StatusCreated {
		t.Fatalf("an order before: %d %s", status, body)
	}
	reading := o.read(t, bases...)
	change := func(stopped bool) {
		for _, restaurant := range o.restaurants {
			o.stop(t, restaurant, stopped)
		}
		for _, base := range bases {
			for _, restaurant := range o.restaurants {
				o.shows(t, base, restaurant, stopped)
			}
		}
	}
	change(true)
	change(false)
	lose()
	change(true)
	change(false)
	for _, key := range []string{"before", "after"} { // the first is replayed, not sent again
		clitest.Eventually(t, "an order is placed", func() bool {
			status, _, _ := o.place(t, shop, key)
			return status == http.StatusCreated
		})
	}
	if _, orders := o.calls(t); orders != 2 {
		t.Errorf("the ordering service got %d orders, want two", orders)
	}
	for i, base := range bases {
		clitest.Eventually(t, "readiness is ok", func() bool {
			_, body := clitest.Fetch(t, base+"/readyz")
			return strings.Contains(body, `"status":"ok"`)
		})
		if p := []*process{first, second}[i]; p.lines("http.panic")+p.lines("sync.panic") > 0 {
			t.Errorf("larder %d panicked:\n%s", i+1, p.log)
		}
	}
	reading.stop().whole(t, 2*len(o.restaurants))
}
