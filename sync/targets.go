package sync

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"
	"sync/atomic"

	"larder/cache"
	"larder/internal/directory"
	"larder/internal/menu"
	"larder/internal/setting"
	"larder/sync/runlog"
)

// Target is one menu that is kept: a restaurant's or a connection's own. It
// never changes; a restaurant that Replace changes gets another target with the
// same state.
type Target struct {
	Restaurant
	upstream  string // the service's restaurantId; empty for a default menu
	source    Source
	schedule  *Schedule
	isReasons bool // not a menu but the connection's rejection reasons
	*targetState
}

// targetState is how things are with what is kept under an id, whatever its
// configuration.
type targetState struct {
	pending  atomic.Bool  // a tick or catch-up waits or runs here
	again    atomic.Bool  // it has changed since: one more run
	lastTick atomic.Int64 // of the last tick, in milliseconds
	last     atomic.Value // string: how the last run here ended, see logRun
}

// targetSet is every target; it never changes.
type targetSet struct {
	schedule    string // of restaurants that name none
	connections []Connection
	restaurants []Restaurant
	menus       []*Target // restaurants first, then default menus
	reasons     []*Target
	catalogued  []menu.RestaurantID           // the ids of menus
	byID        map[menu.RestaurantID]*Target // of menus
	counts      map[string]int                // of menus, by connection
}

// newTargets checks restaurants and connections and makes their set. What
// stands in before as it is asked for is taken over. Errors: *setting.Error.
func newTargets(connections []Connection, restaurants []Restaurant, schedule string, before *targetSet) (*targetSet, error) {
	if before == nil {
		before = &targetSet{}
	}
	set := &targetSet{
		schedule: schedule, connections: connections, restaurants: slices.Clone(restaurants),
		byID: make(map[menu.RestaurantID]*Target, len(restaurants)+len(connections)),
	}
	if err := set.addRestaurants(before); err != nil {
		return nil, err
	}
	if err := set.addConnections(before); err != nil {
		return nil, err
	}
	set.counts = make(map[string]int, len(connections))
	set.catalogued = make([]menu.RestaurantID, len(set.menus))
	for i, t := range set.menus {
		set.catalogued[i] = t.ID
		set.counts[t.Connection]++
	}
	return set, nil
}

func (s *targetSet) addRestaurants(before *targetSet) error {
	zones := zones{}
	connections := make(map[string]Connection, len(s.connections))
	for _, c := range s.connections {
		connections[c.Name] = c
	}
	for i, restaurant := range s.restaurants {
		key := fmt.Sprintf("restaurants[%d]", i)
		if _, twice := s.byID[restaurant.ID]; twice {
			return setting.Errorf(key+".id", "restaurant %q stands twice", restaurant.ID)
		}
		connection, ok := connections[restaurant.Connection]
		if !ok {
			return setting.Errorf(key+".connection", "no connection %q; there are: %s",
				restaurant.Connection, strings.Join(slices.Sorted(maps.Keys(connections)), ", "))
		}
		restaurant.Schedule = cmp.Or(restaurant.Schedule, s.schedule)
		t := before.byID[restaurant.ID]
		if t == nil || t.Restaurant != restaurant {
			zone, err := zones.load(restaurant.TimeZone)
			if err != nil {
				return setting.Errorf(key+".time_zone", "%v", err)
			}
			schedule, err := parseSchedule(restaurant.Schedule, zone, string(restaurant.ID))
			if err != nil {
				return setting.Errorf(key+".schedule", "%v", err)
			}
			t = &Target{
				Restaurant: restaurant, upstream: string(restaurant.ID), source: connection.Source,
				schedule: schedule, targetState: t.state(),
			}
		}
		s.menus = append(s.menus, t)
		s.byID[t.ID] = t
	}
	return nil
}

// addConnections adds each connection's own menu and its rejection reasons,
// both on the default schedule.
func (s *targetSet) addConnections(before *targetSet) error {
	reasons := make(map[string]*Target, len(before.reasons))
	for _, t := range before.reasons {
		reasons[t.Connection] = t
	}
	for _, c := range s.connections {
		own := Restaurant{
			Restaurant: directory.Restaurant{ID: cache.DefaultMenu(c.Name), Connection: c.Name},
			Schedule:   s.schedule, Settings: c.Settings,
		}
		if c.DefaultMenu {
			t, err := connectionTarget(own, c, before.byID[own.ID])
			if err != nil {
				return err
			}
			s.menus = append(s.menus, t)
			s.byID[t.ID] = t
		}
		own.ID += reasonsSuffix
		t, err := connectionTarget(own, c, reasons[c.Name])
		if err != nil {
			return err
		}
		t.isReasons = true
		s.reasons = append(s.reasons, t)
	}
	return nil
}

// connectionTarget is the target of something that belongs to a connection.
func connectionTarget(own Restaurant, c Connection, before *Target) (*Target, error) {
	schedule, err := ParseSchedule(own.Schedule, "", string(own.ID))
	if err != nil {
		return nil, setting.Errorf("sync.schedule", "%v", err)
	}
	return &Target{Restaurant: own, source: c.Source, schedule: schedule, targetState: before.state()}, nil
}

// state returns the state that a target's successor takes over; a new one of nil.
func (t *Target) state() *targetState {
	if t == nil {
		return &targetState{}
	}
	return t.targetState
}

// Republish queues a pull of restaurants of which Redis has lost the version
// that is served (policy S2a).
func (r *Runner) Republish(restaurants []menu.RestaurantID) {
	set := r.set.Load()
	for _, id := range restaurants {
		if t := set.byID[id]; t != nil {
			r.requeue(t)
		}
	}
}

// Stale reports whether a version has missed so many of its schedules that
// readers should know (policy S5), or Redis has lost it (policy S2a).
func (r *Runner) Stale(v cache.Version) bool {
	t, ok := r.set.Load().byID[v.Restaurant]
	if !ok {
		return true // nobody keeps it fresh
	}
	if v.Behind() {
		return true
	}
	return t.schedule.Missed(r.cfg.StaleAfter, v.CheckedAt, r.clock())
}

// Target returns the menu that is synced under an id. Its error names the ids
// that exist. Errors: *UnknownRestaurantError.
func (r *Runner) Target(id menu.RestaurantID) (*Target, error) {
	set := r.set.Load()
	if t, ok := set.byID[id]; ok {
		return t, nil
	}
	known := make([]menu.RestaurantID, len(set.restaurants))
	for i, restaurant := range set.restaurants {
		known[i] = restaurant.ID
	}
	return nil, &UnknownRestaurantError{ID: id, Known: known}
}

// Replacement is what a Replace did to the restaurants.
type Replacement struct {
	Added, Changed, Removed []menu.RestaurantID
}

// Replace makes the given restaurants, and the schedule of those that name
// none, what is kept from now on. It does no I/O and returns at once; calls are
// done one after the other.
//
// What is added, and what is changed in more than its schedule, is queued for a
// sync at once. What is removed gets no more scheduled syncs; a run that is in
// flight or was asked for by hand is finished with what it began with. What
// Redis holds of it stays. The rest goes on as it was. An error, a *setting.Error,
// has changed nothing.
func (r *Runner) Replace(restaurants []Restaurant, schedule string) (Replacement, error) {
	r.replacing.Lock()
	defer r.replacing.Unlock()
	before := r.set.Load()
	after, err := newTargets(before.connections, restaurants, schedule, before)
	if err != nil {
		return Replacement{}, err
	}
	r.set.Store(after)
	r.replaced.Set()
	var done Replacement
	for _, t := range after.menus[:len(after.restaurants)] {
		old, stood := before.byID[t.ID]
		switch {
		case !stood:
			done.Added = append(done.Added, t.ID)
			r.queue.pushScheduled(Work{Target: t, Trigger: runlog.TriggerStartup, missing: true})
		case old != t:
			done.Changed = append(done.Changed, t.ID)
			if old.Name != t.Name || old.Connection != t.Connection || old.Settings != t.Settings {
				r.requeue(t)
			}
		}
	}
	for _, t := range before.menus[:len(before.restaurants)] {
		if after.byID[t.ID] == nil {
			done.Removed = append(done.Removed, t.ID)
		}
	}
	return done, nil
}

// requeue queues one more run of a target that has changed: after the one that
// waits or runs, which may have begun with what was before.
func (r *Runner) requeue(t *Target) {
	t.again.Store(true)
	if r.queue.pushScheduled(Work{Target: t, Trigger: runlog.TriggerCron, changed: true}) {
		t.again.Store(false)
	}
}
