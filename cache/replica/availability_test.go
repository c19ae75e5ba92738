package replica

import (
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"larder.local/cache"
	"larder.local/cache/encoded"
	"larder.local/internal/hours"
	"larder.local/internal/menu"
	"larder.local/internal/redisdb"
	"larder.local/internal/testkit/cachetest"
	"larder.local/internal/testkit/menutest"
	"larder.local/internal/testkit/redistest"
	"larder.local/internal/testkit/topology"
)

// wallClock is a clock that a test moves, also backwards.
type wallClock struct{ offset atomic.Int64 }

func (c *wallClock) now() time.Time        { return time.Now().Add(time.Duration(c.offset.Load())) }
func (c *wallClock) step(by time.Duration) { c.offset.Add(int64(by)) }
func (c *wallClock) in(d time.Duration) time.Time {
	return c.now().Add(d).UTC().Truncate(time.Millisecond)
}

// ofBistro returns a configuration whose polls cannot hide a lost notice.
func ofBistro(clock *wallClock) Config {
	return Config{Restaurants: func() []menu.RestaurantID { return []menu.RestaurantID{bistro} }, Poll: time.Hour, Clock: clock.now}
}

func available(t *testing.T, r *Replica, id string) bool {
	t.Helper()
	served := read(t, r, bistro).Catalogue
	at, ok := served.Products().ByID(id)
	if !ok {
		t.Fatalf("no dish %s", id)
	}
	return served.Available(at)
}

// lastRev orders what operators say in these tests.
var lastRev atomic.Int64

func restrict(t *testing.T, s *cache.Store, said hours.Availability) {
	t.Helper()
	for kind, r := range said {
		r.Rev = lastRev.Add(1)
		said[kind] = r
	}
	if err := s.Restrict(t.Context(), bistro, said, nil); err != nil {
		t.Fatal(err)
	}
	cache.AnnounceAvailability(t.Context(), s, bistro)
}

// What operators say reaches every instance by a notice, and ends there by its clock. The version stays, and the bodies and
// events change.
func TestAvailability_O23(t *testing.T) {
	t.Parallel()
	topology.Each(t, func(t *testing.T, r *redisdb.DB) {
		s := cache.NewStore(r, cache.StoreConfig{})
		var clock wallClock
		here, there := New(s, ofBistro(&clock)), New(s, ofBistro(&clock))
		cachetest.Publish(t, s, bistro, 0, cachetest.MenuJSON(5, 7, "d2"))
		run(t, here)
		run(t, there)
		both := func(what string, is func(r *Replica) bool) {
			t.Helper()
			cachetest.Eventually(t, what, func() bool { return is(here) && is(there) })
		}
		both("the first poll", func(r *Replica) bool { return !r.Availability.ReadAt().IsZero() && available(t, r, "d1") })
		before := read(t, here, bistro)
		watch := there.Watch(bistro)
		defer watch.Close()
		began := watch.Newest()
		plain, err := here.Menu(before, encoded.Identity)
		if err != nil {
			t.Fatal(err)
		}

		until := clock.in(time.Hour)
		restrict(t, s, hours.Availability{
			hours.Snooze("d1"): {Until: until, At: clock.in(0)}, hours.Snooze("d2"): {Until: until, At: clock.in(0)},
			hours.PausePickup: {At: clock.in(0)},
		})
		both("the snooze", func(r *Replica) bool {
			return !available(t, r, "d1") && r.Availability.Of(bistro)[hours.PausePickup].Holds(clock.now())
		})
		during := read(t, here, bistro)
		if during.Version.Version != before.Version.Version || during.EventID() == before.EventID() || !during.ModifiedAt.After(before.ModifiedAt) ||
			during.EventID() != read(t, there, bistro).EventID() {
			t.Errorf("the snapshot with a snooze is %+v, before it was %+v", during.Version, before.Version)
		}
		if at, known := during.Catalogue.Snoozes.Returns("d1"); !known || !at.Equal(until) {
			t.Errorf("d1 returns at %v, %t; want %v", at, known, until)
		}
		if at, known := during.Catalogue.Snoozes.Returns("d2"); known {
			t.Errorf("d2 returns at %v, but the till has stopped it too", at)
		}
		changed := watch.Newest()
		for changed.Availability == began.Availability || !changed.StopsOnly() {
			changed = next(t, watch, changed)
		}
		if products, _ := changed.Before.Served.ChangedIDs(changed.After.Served); !cmp.Equal(products, []menu.Availability{{ID: "d1"}}) {
			t.Errorf("changed dishes: %v, want d1", products)
		}
		if snoozed, err := here.Menu(during, encoded.Identity); err != nil || snoozed.ETag == plain.ETag || !strings.Contains(string(snoozed.Body), `"available":false`) {
			t.Errorf("the menu with a snooze: %v, ETag %s", err, snoozed.ETag)
		}
		changes, err := there.Changes(t.Context(), read(t, there, bistro), during.Version.Version, encoded.Identity)
		if err != nil || !strings.Contains(string(changes.Body), `{"id":"d1","available":false}`) {
			t.Errorf("changes since the same version: %v, %s", err, changes.Body)
		}

		clock.step(time.Hour)
		both("the end", func(r *Replica) bool { return available(t, r, "d1") })
		if available(t, here, "d2") || !here.Availability.Of(bistro)[hours.PausePickup].Holds(clock.now()) {
			t.Error("the stopped dish is sold, or the pause without an end has ended")
		}
		after := read(t, here, bistro)
		if again, err := here.Menu(after, encoded.Identity); err != nil || string(again.Body) != string(plain.Body) {
			t.Errorf("the menu after the snooze: %v, another body", err)
		}
		if after.EventID() != before.EventID() || !after.ModifiedAt.After(during.ModifiedAt) {
			t.Errorf("after the snooze: %+v", after.Version)
		}
		changes, err = here.Changes(t.Context(), after, during.Version.Version, encoded.Identity)
		if err != nil || !strings.Contains(string(changes.Body), `{"id":"d1","available":true}`) {
			t.Errorf("changes after the snooze: %v, %s", err, changes.Body)
		}
		clock.step(-30 * time.Minute)
		both("a clock that was set back", func(r *Replica) bool { return !available(t, r, "d1") })
	})
}

// Redis that lost a restriction that holds gets it back; one that an operator has ended does not return.
func TestRedisLosesAvailability_O23(t *testing.T) {
	t.Parallel()
	server := redistest.Start(t)
	r := topology.Open(t, server.URL())
	s := cache.NewStore(r, cache.StoreConfig{})
	var clock wallClock
	replica := New(s, ofBistro(&clock))
	restrict(t, s, hours.Availability{
		hours.PausePickup: {At: clock.in(0), Note: "oven"}, hours.PauseDelivery: {At: clock.in(0), EndedAt: clock.in(0)}, hours.Busy: {At: clock.in(0), Minutes: 90},
	})
	if err := replica.Poll(t.Context()); err != nil {
		t.Fatal(err)
	}
	if err := r.Client().FlushAll(t.Context()).Err(); err != nil {
		t.Fatal(err)
	}
	if err := replica.Poll(t.Context()); err != nil {
		t.Fatal(err)
	}
	fresh := New(s, ofBistro(&clock))
	if err := fresh.Poll(t.Context()); err != nil {
		t.Fatal(err)
	}
	for name, one := range map[string]*Replica{"the instance": replica, "a new one": fresh} {
		holding := one.Availability.Of(bistro).Holding(clock.now())
		if got := slices.Sorted(maps.Keys(holding)); !cmp.Equal(got, []hours.Kind{hours.Busy, hours.PausePickup}) || holding[hours.PausePickup].Note != "oven" {
			t.Errorf("%s: %+v holds after Redis lost its data", name, holding)
		}
	}
}

// A value that larder cannot read restricts orders until an operator ends it. A key of another type restricts nothing.
func TestUnreadableAvailability_O23(t *testing.T) {
	t.Parallel()
	server := redistest.Start(t)
	r := topology.Open(t, server.URL())
	s := cache.NewStore(r, cache.StoreConfig{})
	var clock wallClock
	replica := New(s, ofBistro(&clock))
	keys := cache.NewKeys(r.Prefix())
	for _, text := range []string{"", "{", "null", `{"until":"tomorrow"}`, `{"at":"2026-12-01T10:00:00Z","until":7}`} {
		restrict(t, s, hours.Availability{hours.Busy: {At: clock.in(0), Minutes: 5}})
		if err := r.Client().HSet(t.Context(), keys.Availability(bistro), "pause:pickup", text).Err(); err != nil {
			t.Fatal(err)
		}
		if err := replica.Poll(t.Context()); err != nil {
			t.Fatal(err)
		}
		if got := replica.Availability.Of(bistro); !got[hours.PausePickup].Holds(clock.now()) || got[hours.Busy].Minutes != 5 {
			t.Errorf("%q was read as %+v", text, got)
		}
	}
	if err := r.Client().Set(t.Context(), keys.Availability("grill"), "foreign", 0).Err(); err != nil {
		t.Fatal(err)
	}
	if err := errors.Join(replica.Poll(t.Context()), replica.Availability.Read(t.Context(), "grill")); err != nil {
		t.Errorf("with foreign keys: %v", err)
	}
}

// While Redis is down, the last known state holds and ends by the clock. An instance that has never read it gives no menu to
// orders.
func TestAvailabilityWithoutRedis_O23(t *testing.T) {
	t.Parallel()
	server := redistest.Start(t)
	s := cache.NewStore(topology.Open(t, server.URL()), cache.StoreConfig{})
	var clock wallClock
	replica := New(s, ofBistro(&clock))
	cachetest.Publish(t, s, bistro, 0, cachetest.MenuJSON(5, 7))
	restrict(t, s, hours.Availability{hours.Snooze("d1"): {At: clock.in(0), Until: clock.in(time.Hour)}})
	run(t, replica)
	cachetest.Eventually(t, "the snooze", func() bool { return !available(t, replica, "d1") })
	ignorant := New(s, ofBistro(&clock))
	ignorant.Install(read(t, New(s, ofBistro(&clock)), bistro))
	cachetest.Eventually(t, "the first poll", func() bool { return !replica.Availability.ReadAt().IsZero() })

	server.Stop()
	if _, _, err := ignorant.Current(t.Context(), bistro, "main"); !errors.Is(err, redisdb.ErrUnavailable) {
		t.Errorf("an instance that never read the availability: %v, want %v", err, redisdb.ErrUnavailable)
	}
	if _, served, err := replica.Current(t.Context(), bistro, "main"); err != nil || len(served.Snoozes.All()) != 1 {
		t.Errorf("the menu for orders without Redis: %v", err)
	}
	_ = replica.Poll(t.Context()) // a poll that began before may end now
	readAt := replica.Availability.ReadAt()
	clock.step(time.Second)
	if err := replica.Poll(t.Context()); err == nil || !replica.Availability.ReadAt().Equal(readAt) {
		t.Errorf("a poll without Redis: %v, read at %v, before at %v", err, replica.Availability.ReadAt(), readAt)
	}
	clock.step(time.Hour)
	if _, served, err := replica.Current(t.Context(), bistro, "main"); err != nil || served.Snoozes.All() != nil {
		t.Errorf("the menu for orders at the end of the snooze: %v", err)
	}
	cachetest.Eventually(t, "the end without Redis", func() bool { return available(t, replica, "d1") })
}

// A pause stops orders on three instances soon, although they poll ten thousand restaurants that all have restrictions.
func TestPausesDoNotWaitForPolls_O23(t *testing.T) {
	t.Parallel()
	const restaurants = 10_000
	server := redistest.Start(t)
	r := topology.Open(t, server.URL())
	s := cache.NewStore(r, cache.StoreConfig{})
	ids := make([]menu.RestaurantID, restaurants)
	pipe := r.Client().Pipeline()
	keys := cache.NewKeys(r.Prefix())
	for i := range ids {
		ids[i] = menu.RestaurantID(fmt.Sprintf("r%d", i))
		pipe.HSet(t.Context(), keys.Availability(ids[i]), "busy", `{"at":"2026-12-01T10:00:00Z","minutes":5}`)
	}
	if _, err := pipe.Exec(t.Context()); err != nil {
		t.Fatal(err)
	}
	all := make([]*Replica, replicas)
	for i := range all {
		all[i] = New(cache.NewStore(topology.Open(t, server.URL()), cache.StoreConfig{}), Config{
			Restaurants: func() []menu.RestaurantID { return ids }, Poll: time.Second,
		})
		run(t, all[i])
	}
	subscribed(t, r, replicas)
	for _, one := range all {
		cachetest.Eventually(t, "the first poll", func() bool { return !one.Availability.ReadAt().IsZero() })
	}
	var delays []time.Duration
	for i := range menutest.Rounds(100, 1000) {
		id := ids[i*7]
		if err := s.Restrict(t.Context(), id, hours.Availability{hours.PausePickup: {At: time.Now(), Rev: 1}}, nil); err != nil {
			t.Fatal(err)
		}
		cache.AnnounceAvailability(t.Context(), s, id)
		began := time.Now()
		for _, one := range all {
			for !one.Availability.Of(id)[hours.PausePickup].Holds(time.Now()) {
				if time.Since(began) > 20*time.Second {
					t.Fatalf("the pause of %s did not arrive", id)
				}
				time.Sleep(100 * time.Microsecond) //testwaits:allow the time between two looks
			}
			delays = append(delays, time.Since(began))
		}
	}
	slices.Sort(delays)
	t.Logf("delay until %d instances paused one of %d restaurants: median %s, 99th percentile %s, most %s",
		replicas, restaurants, at(delays, .5), at(delays, .99), delays[len(delays)-1])
	// The goal is 100 ms at the 99th percentile. The limit is higher, because the machine may be busy.
	if got := at(delays, .5); got > 250*time.Millisecond {
		t.Errorf("half of the instances paused orders later than after %s", got)
	}
}

// Redis that goes back to an earlier state, after a failover or from a backup, gets what an instance knows: a pause that holds,
// and the end of one. What was said later on another instance stays, whatever the clocks show.
func TestRedisGoesBackInTime_O23(t *testing.T) {
	t.Parallel()
	server := redistest.Start(t)
	r := topology.Open(t, server.URL())
	s := cache.NewStore(r, cache.StoreConfig{})
	var clock wallClock
	replica := New(s, ofBistro(&clock))
	poll := func(one *Replica) hours.Availability {
		t.Helper()
		if err := one.Poll(t.Context()); err != nil {
			t.Fatal(err)
		}
		return one.Availability.Of(bistro).Holding(clock.now())
	}
	key := cache.NewKeys(r.Prefix()).Availability(bistro)
	restrict(t, s, hours.Availability{hours.PausePickup: {At: clock.in(0), EndedAt: clock.in(0)}, hours.Busy: {At: clock.in(0), Minutes: 90}})
	backup := r.Client().HGetAll(t.Context(), key).Val()
	restrict(t, s, hours.Availability{hours.PausePickup: {At: clock.in(0)}, hours.Busy: {At: clock.in(0), EndedAt: clock.in(0), Minutes: 90}})
	if holding := poll(replica); len(holding) != 1 || holding[hours.PausePickup].At.IsZero() {
		t.Fatalf("before the failover %+v holds", holding)
	}
	for kind, text := range backup {
		if err := r.Client().HSet(t.Context(), key, kind, text).Err(); err != nil {
			t.Fatal(err)
		}
	}
	poll(replica)
	for name, one := range map[string]*Replica{"the instance": replica, "a new one": New(s, ofBistro(&clock))} {
		if holding := poll(one); len(holding) != 1 || holding[hours.PausePickup].At.IsZero() {
			t.Errorf("%s after the failover: %+v holds, want the pause", name, holding)
		}
	}

	// An instance that writes back late does not undo what was said meanwhile.
	known := replica.Availability.Of(bistro)
	restrict(t, s, hours.Availability{hours.PausePickup: {At: clock.in(-time.Hour), EndedAt: clock.in(-time.Hour)}})
	if err := s.Restrict(t.Context(), bistro, known, nil); err != nil {
		t.Fatal(err)
	}
	if holding := poll(replica); len(holding) != 0 {
		t.Errorf("%+v holds after its end was written over", holding)
	}
	clock.step(25 * time.Hour)
	poll(replica)
	if left := r.Client().HLen(t.Context(), key).Val(); left != 0 || len(replica.Availability.Of(bistro)) != 0 {
		t.Errorf("a day after its end %d restrictions are in Redis", left)
	}
}

// A dish that only this instance's settings stop stays stopped, whatever operators have said about others. A status that comes
// with an older catalogue does not change which dishes are snoozed.
func TestSnoozesKeepOwnStopsAndServed_O23(t *testing.T) {
	t.Parallel()
	server := redistest.Start(t)
	s := cache.NewStore(topology.Open(t, server.URL()), cache.StoreConfig{})
	var clock wallClock
	cachetest.Publish(t, s, bistro, 0, cachetest.MenuJSON(5, 7, "d2"))
	replica := New(s, ofBistro(&clock))
	before := read(t, replica, bistro)
	restrict(t, s, hours.Availability{hours.Busy: {At: clock.in(0), EndedAt: clock.in(0)}, hours.Snooze("d1"): {At: clock.in(0)}})
	if err := replica.Availability.Read(t.Context(), bistro); err != nil {
		t.Fatal(err)
	}
	during := read(t, replica, bistro)
	if available(t, replica, "d1") || available(t, replica, "d2") || !cmp.Equal(during.Stops.Products, []string{"d2"}) {
		t.Errorf("stops %v, served %v", during.Stops, during.Served)
	}
	late := before.Version
	late.CheckedAt = late.CheckedAt.Add(time.Minute)
	replica.slots.replaceCurrent(late, before.Catalogue)
	if after := read(t, replica, bistro); !after.CheckedAt.Equal(late.CheckedAt) || after.EventID() != during.EventID() || !cmp.Equal(after.Served, during.Served) {
		t.Errorf("after a late status: served %v, want %v", after.Served, during.Served)
	}
}

// A restaurant whose key is of another type does not stop polls of others, and a removed one leaves nothing behind.
func TestForeignAvailabilityStopsNoPolls_O23(t *testing.T) {
	t.Parallel()
	server := redistest.Start(t)
	r := topology.Open(t, server.URL())
	s := cache.NewStore(r, cache.StoreConfig{})
	var clock wallClock
	allowed := atomic.Bool{}
	allowed.Store(true)
	ids := []menu.RestaurantID{bistro}
	for i := range 200 {
		ids = append(ids, menu.RestaurantID(fmt.Sprintf("r%d", i)))
	}
	cfg := ofBistro(&clock)
	cfg.Restaurants, cfg.Allowed = func() []menu.RestaurantID { return ids }, func(menu.RestaurantID) bool { return allowed.Load() }
	replica := New(s, cfg)
	restrict(t, s, hours.Availability{hours.Busy: {At: clock.in(0), Minutes: 90}})
	if err := replica.Poll(t.Context()); err != nil {
		t.Fatal(err)
	}
	keys := cache.NewKeys(r.Prefix())
	r.Client().Del(t.Context(), keys.Availability(bistro))
	r.Client().Set(t.Context(), keys.Availability(bistro), "foreign", 0)
	if err := s.Restrict(t.Context(), "r199", hours.Availability{hours.PausePickup: {At: clock.in(0), Rev: 1}}, nil); err != nil {
		t.Fatal(err)
	}
	if err := replica.Poll(t.Context()); err == nil {
		t.Error("the poll reports no error, but Redis cannot get back what it has lost")
	}
	if !replica.Availability.Of("r199")[hours.PausePickup].Holds(clock.now()) || replica.Availability.Of(bistro)[hours.Busy].Minutes != 90 {
		t.Error("a restriction is missing after a poll with a foreign key")
	}
	allowed.Store(false)
	replica.Drop(ids...)
	_ = replica.Availability.Read(t.Context(), ids...)
	if said := replica.Availability.Of("r199"); len(said) != 0 {
		t.Errorf("a removed restaurant has %+v", said)
	}
}
