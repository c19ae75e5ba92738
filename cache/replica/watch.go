package replica

import (
	"slices"
	"sync"

	"larder.local/cache"
	"larder.local/internal/menu"
)

// Watch follows the versions of one restaurant in this process's memory. It holds only the newest one,
// so that a slow reader needs no memory. It may be read from any goroutine. The caller must close it.
type Watch struct {
	restaurant menu.RestaurantID
	of         *watches
	newest     *Change // guarded by of.mu
}

// Change is a version that became current in memory after another one. It holds no
// catalogue, so that it keeps no old menu in memory.
type Change struct {
	// Before is the previous version; its number is 0 if there was none, or if the watch started with After.
	Before cache.Version
	// After is the current version; its number is 0 if there is no version.
	After cache.Version
	// Availability counts the changes of the restaurant's availability since the watch began.
	Availability int

	next chan struct{}
}

// StopsOnly reports whether only the stop lists or snoozes differ, Before.Served and After.Served.
func (c *Change) StopsOnly() bool {
	return c.Before.Version > 0 && c.Before.Content == c.After.Content && c.Before.Name == c.After.Name &&
		!c.Before.Served.Equal(c.After.Served)
}

// Next returns a channel that is closed when there is a newer Change.
func (c *Change) Next() <-chan struct{} { return c.next }

// Newest returns the last change; it is never nil.
func (w *Watch) Newest() *Change {
	w.of.mu.Lock()
	defer w.of.mu.Unlock()
	return w.newest
}

// Close ends the watch. Its last Change does not change.
func (w *Watch) Close() {
	w.of.mu.Lock()
	defer w.of.mu.Unlock()
	w.of.all[w.restaurant] = slices.DeleteFunc(w.of.all[w.restaurant], func(open *Watch) bool { return open == w })
	if len(w.of.all[w.restaurant]) == 0 {
		delete(w.of.all, w.restaurant)
	}
}

// Watch starts to follow the restaurant, from the version in memory.
func (r *Replica) Watch(restaurant menu.RestaurantID) *Watch {
	w := &Watch{restaurant: restaurant, of: &r.slots.watches}
	w.of.mu.Lock()
	defer w.of.mu.Unlock()
	w.newest = &Change{next: make(chan struct{})}
	// replaceCurrent sets the new version before it calls onReplaced, which takes
	// the same lock. So no version between the two is missed.
	if now := r.slots.current(restaurant); now != nil {
		w.newest.After = now.snapshot.Version
	}
	w.of.all[restaurant] = append(w.of.all[restaurant], w)
	return w
}

// watches holds all open watches, by restaurant.
type watches struct {
	mu  sync.Mutex
	all map[menu.RestaurantID][]*Watch
}

// onReplaced notifies the watches of a version that has become current. before is
// nil if there was none. Calls for one restaurant are sequential.
func (ws *watches) onReplaced(before *currentEntry, after *cache.Snapshot) {
	ws.mu.Lock()
	defer ws.mu.Unlock()
	for _, w := range ws.all[after.Restaurant] {
		if after.Version.Version == w.newest.After.Version && !replaces(after.Version, w.newest.After) &&
			after.Served.Equal(w.newest.After.Served) {
			continue // the watch began between the replacement and this call
		}
		change := Change{After: after.Version, Availability: w.newest.Availability}
		if before != nil {
			change.Before = before.snapshot.Version
		}
		w.set(change)
	}
}

// onAvailability notifies the watches of a restaurant of its new availability.
func (ws *watches) onAvailability(restaurant menu.RestaurantID) {
	ws.mu.Lock()
	defer ws.mu.Unlock()
	for _, w := range ws.all[restaurant] {
		change := *w.newest
		change.Availability++
		w.set(change)
	}
}

// set makes change the newest one. watches.mu must be locked.
func (w *Watch) set(change Change) {
	change.next = make(chan struct{})
	last := w.newest
	w.newest = &change
	close(last.next)
}
