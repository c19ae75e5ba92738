package sync

import (
	"cmp"
	"maps"
	"slices"
	"strings"
	"sync/atomic"
	"time"

	"larder.local/cache"
	"larder.local/internal/directory"
	"larder.local/internal/menu"
	"larder.local/internal/setting"
	"larder.local/sync/runlog"
)

// Target is one menu that is synced, a restaurant's or a default menu; or a connection's rejection reasons. It never changes. If
// Replace changes a restaurant, it makes a new target with the same state.
type Target struct {
	Restaurant
	upstream string // the service's restaurantId; empty for a default menu
	source   Source
	store    *cache.Store // of the target's source (policy O16)
	keys     cache.Keys   // of the same
	schedule *Schedule
	*targetState
}

// targetState is the state of a target, across changes of its configuration.
type targetState struct {
	pending atomic.Bool  // scheduled work is queued or running here
	again   atomic.Bool  // its configuration has changed since: one more run
	last    atomic.Value // string: the outcome of the last run here, see pipelineRun.log
	// fetchAll is set after a change of the source: the next fetch is unconditional (policy O16).
	fetchAll atomic.Bool
	// refreshed is the time of the last RefreshReasons, of one at a time.
	refreshed time.Time

	// The breaker of the connection guards these.
	failures int       // of reads, in a row
	failedAt time.Time // the last one
	readAt   time.Time // the last read that succeeded
}

// targetSet holds every target. Only readAt changes: it is set once.
type targetSet struct {
	schedule    string    // default of restaurants
	read        time.Time // when the configuration was read
	readAt      time.Time // by Redis's clock; see Runner.readAt
	store       *cache.Store
	connections []Connection
	menus       []*Target                     // restaurants first, then default menus
	restaurants []*Target                     // the restaurants of menus
	reasons     map[string]*Target            // by connection
	catalogued  []menu.RestaurantID           // the ids of menus
	byID        map[menu.RestaurantID]*Target // of menus
	counts      map[string]int                // of menus, by connection
}

// newTargets checks restaurants and connections and makes their set. It reuses the
// targets of before that have not changed. Errors: *setting.Error.
func newTargets(connections []Connection, restaurants []Restaurant, schedule string, before *targetSet) (*targetSet, error) {
	set := &targetSet{
		schedule:    schedule,
		read:        time.Now(),
		store:       before.store,
		connections: connections,
		reasons:     make(map[string]*Target, len(connections)),
		byID:        make(map[menu.RestaurantID]*Target, len(restaurants)+len(connections)),
		counts:      make(map[string]int, len(connections)),
	}
	named := make(map[string]Connection, len(connections))
	for _, c := range connections {
		named[c.Name] = c
	}
	for i, restaurant := range restaurants {
		if err := set.addRestaurant(setting.Index("restaurants", i), restaurant, named, before); err != nil {
			return nil, err
		}
	}
	set.restaurants = set.menus
	for _, c := range connections {
		if err := set.addConnection(c, before); err != nil {
			return nil, err
		}
	}
	return set, nil
}

// addMenu adds the target of a menu.
func (s *targetSet) addMenu(t *Target) {
	s.menus = append(s.menus, t)
	s.catalogued = append(s.catalogued, t.ID)
	s.byID[t.ID] = t
	s.counts[t.Connection]++
}

// addRestaurant adds a restaurant. key is its setting.
func (s *targetSet) addRestaurant(key string, own Restaurant, named map[string]Connection, before *targetSet) error {
	if s.byID[own.ID] != nil {
		return setting.Errorf(key+".id", "restaurant %q is listed twice", own.ID)
	}
	connection, ok := named[own.Connection]
	if !ok {
		return setting.Errorf(key+".connection", "no connection %q; configured: %s",
			own.Connection, strings.Join(slices.Sorted(maps.Keys(named)), ", "))
	}
	own.Schedule = cmp.Or(own.Schedule, s.schedule)
	t := before.byID[own.ID]
	if t != nil && t.Restaurant == own {
		s.addMenu(t)
		return nil
	}
	if _, err := TimeZone(own.TimeZone); err != nil {
		return setting.Errorf(key+".time_zone", "%v", err)
	}
	t, err := s.newTarget(own, connection, key+".schedule", t)
	if err != nil {
		return err
	}
	t.upstream = string(own.ID)
	s.addMenu(t)
	return nil
}

// addConnection adds a connection's default menu and its rejection reasons, both on the default schedule.
func (s *targetSet) addConnection(c Connection, before *targetSet) error {
	own := Restaurant{
		Restaurant: directory.Restaurant{ID: cache.DefaultMenu(c.Name), Connection: c.Name},
		Schedule:   s.schedule,
		Settings:   c.Settings,
		Guard:      c.Guard,
	}
	if c.DefaultMenu {
		t, err := s.newTarget(own, c, "sync.schedule", before.byID[own.ID])
		if err != nil {
			return err
		}
		s.addMenu(t)
	}
	own.ID += reasonsSuffix
	reasons, err := s.newTarget(own, c, "sync.schedule", before.reasons[c.Name])
	s.reasons[c.Name] = reasons
	return err
}

// newTarget returns a target with the state of an earlier one. name is the setting of its schedule.
func (s *targetSet) newTarget(own Restaurant, c Connection, name string, before *Target) (*Target, error) {
	schedule, err := ParseSchedule(own.Schedule, own.TimeZone, string(own.ID))
	if err != nil {
		return nil, setting.Errorf(name, "%v", err)
	}
	state := &targetState{}
	if before != nil {
		state = before.targetState
	}
	store := s.store.Of(c.SourceName)
	return &Target{
		Restaurant: own, source: c.Source, store: store, keys: store.Keys(), schedule: schedule, targetState: state,
	}, nil
}

// Republish queues a sync of restaurants whose served version Redis has lost (policy S2a).
func (s *Scheduler) Republish(restaurants []menu.RestaurantID) {
	set := s.set.Load()
	for _, id := range restaurants {
		if t := set.byID[id]; t != nil {
			s.requeue(t)
		}
	}
}

// Stale reports whether a version has missed too many of its schedules (policy S5), Redis has lost it (policy S2a), or it
// is of another source (policy O16).
func (r *Runner) Stale(v cache.Version) bool {
	t := r.set.Load().byID[v.Restaurant] // nil: nothing syncs it
	return t == nil || v.Behind() || !r.deps.Store.IsOwn(v) ||
		t.schedule.missed(r.deps.Config.StaleAfter, v.CheckedAt, r.deps.Clock())
}

// Target returns the menu that is synced under an id. Errors: *UnknownRestaurantError.
func (r *Runner) Target(id menu.RestaurantID) (*Target, error) {
	set := r.set.Load()
	if t, ok := set.byID[id]; ok {
		return t, nil
	}
	return nil, &UnknownRestaurantError{ID: id, Total: len(set.restaurants)}
}

// Replacement is the effect of a Replace on the restaurants.
type Replacement struct {
	Added, Changed, Removed []menu.RestaurantID
}

// Replace replaces the restaurants and the default schedule. It does no I/O and returns immediately. Concurrent
// calls run one after the other.
//
// Added restaurants, and those with changes other than the schedule, are queued for a sync immediately. Restaurants with
// another connection are first, among them those in recent: their next fetch is unconditional (policy O16). Removed
// ones get no more scheduled syncs. A run that is in progress or was requested manually is finished with its
// old configuration. Data in Redis stays. An error, a *setting.Error, means that nothing has changed.
func (s *Scheduler) Replace(restaurants []Restaurant, schedule string, recent map[menu.RestaurantID]bool) (Replacement, error) {
	s.replacing.Lock()
	defer s.replacing.Unlock()
	before := s.set.Load()
	after, err := newTargets(before.connections, restaurants, schedule, before)
	if err != nil {
		return Replacement{}, err
	}
	s.set.Store(after)
	s.replaced.Set()
	var done Replacement
	var moved []*Target
	for _, t := range after.restaurants {
		old, stood := before.byID[t.ID]
		switch {
		case !stood:
			done.Added = append(done.Added, t.ID)
			s.push(t, withoutMenu, runlog.TriggerStartup, time.Time{}, false)
		case old != t:
			done.Changed = append(done.Changed, t.ID)
			if old.Connection != t.Connection {
				t.fetchAll.Store(true)
				moved = append(moved, t)
			} else if old.Name != t.Name || old.Settings != t.Settings {
				s.requeue(t)
			}
		}
	}
	for _, t := range byRecency(moved, recent) {
		s.requeue(t)
	}
	for _, t := range before.restaurants {
		if after.byID[t.ID] == nil {
			done.Removed = append(done.Removed, t.ID)
		}
	}
	return done, nil
}

// byRecency returns targets with those first that had an order recently.
func byRecency(targets []*Target, recent map[menu.RestaurantID]bool) []*Target {
	rank := map[bool]int{true: -1}
	slices.SortStableFunc(targets, func(a, b *Target) int { return rank[recent[a.ID]] - rank[recent[b.ID]] })
	return targets
}

// requeue queues one more run of a target that has changed, after the queued or
// running one, which may have started with the old configuration.
func (s *Scheduler) requeue(t *Target) {
	t.again.Store(true)
	if s.push(t, priorityOf(t.fetchAll.Load()), runlog.TriggerCron, time.Time{}, true) {
		t.again.Store(false)
	}
}
