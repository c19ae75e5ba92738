package main

import (
	"net/http"
	"strings"
	"syscall"
	"testing"

	"larder/cache"
	"larder/internal/menu"
	"larder/internal/testkit/clitest"
	"larder/internal/testkit/redistest"
)

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
	client := shopper(t, bases[0])
	if status, _, body := o.place(t, client, "before"); status != http.StatusCreated {
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
			status, _, _ := o.place(t, client, key)
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
