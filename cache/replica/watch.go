package replica

import (
	"sync"

	"larder/cache"
	"larder/internal/menu"
)

// Watch follows the versions of one restaurant as they are taken into this
// process's memory: always the newest, never a list of them, so that one who
// is slow costs nothing. It may be read from any goroutine. Close it.
type Watch struct {
	restaurant menu.RestaurantID
	of         *watches
	newest     *Change // guarded by of.mu
}

// Change is a version that has become current in memory, after another one.
// It holds no catalogue, so that whoever keeps it keeps no old menu alive.
type Change struct {
	// Before is the version that stood there; its number is 0 where there was
	// none, or where the watch began with After.
	Before cache.Version
	// After is the version that stands there; its number is 0 as long as there
	// is none.
	After cache.Version

	next chan struct{}
}

// StopsOnly tells whether what differs is the stop lists alone, Before.Stops and
// After.Stops: not so where nothing does, or where the name does.
func (c *Change) StopsOnly() bool {
	return c.Before.Version > 0 && c.Before.Content == c.After.Content && c.Before.Name == c.After.Name &&
		!c.Before.Stops.Equal(c.After.Stops)
}

// Next is closed as soon as there is a newer Change.
func (c *Change) Next() <-chan struct{} { return c.next }

// Newest gives the last change; it is never nil.
func (w *Watch) Newest() *Change {
	w.of.mu.Lock()
	defer w.of.mu.Unlock()
	return w.newest
}

// Close ends the watch. What it gave last stays as it is.
func (w *Watch) Close() {
	w.of.mu.Lock()
	defer w.of.mu.Unlock()
	open := w.of.all[w.restaurant]
	delete(open, w)
	if len(open) == 0 {
		delete(w.of.all, w.restaurant)
	}
}

// Watch begins to follow the restaurant, with the version that memory holds.
func (r *Replica) Watch(restaurant menu.RestaurantID) *Watch {
	w := &Watch{restaurant: restaurant, of: &r.slots.watches}
	w.of.mu.Lock()
	defer w.of.mu.Unlock()
	w.newest = &Change{next: make(chan struct{})}
	// replaceCurrent calls onReplaced, which takes the same lock, once the new
	// version stands: what is read here, or what comes later, is the newest.
	if now := r.slots.current(restaurant); now != nil {
		w.newest.After = now.snapshot.Version
	}
	open := w.of.all[restaurant]
	if open == nil {
		open = map[*Watch]struct{}{}
		w.of.all[restaurant] = open
	}
	open[w] = struct{}{}
	return w
}

// watches are all that are open, by restaurant.
type watches struct {
	mu  sync.Mutex
	all map[menu.RestaurantID]map[*Watch]struct{}
}

// onReplaced tells the watches of a version that has just become current; before is nil
// where there was none. Calls for one restaurant come one after the other.
func (ws *watches) onReplaced(before *currentEntry, after *cache.Snapshot) {
	ws.mu.Lock()
	defer ws.mu.Unlock()
	for w := range ws.all[after.Restaurant] {
		if !replaces(after.Version, w.newest.After) {
			continue // the watch began between the replacement and this call
		}
		change := &Change{After: after.Version, next: make(chan struct{})}
		if before != nil {
			change.Before = before.snapshot.Version
		}
		last := w.newest
		w.newest = change
		close(last.next)
	}
}
