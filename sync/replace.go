package sync

import (
	"larder/internal/menu"
)

// Replacement tells what a Replace did to the restaurants.
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
	select {
	case r.replaced <- struct{}{}:
	default: // cron has not followed the last one yet
	}
	var done Replacement
	for _, t := range after.menus[:len(after.restaurants)] {
		old, stood := before.byID[t.ID]
		switch {
		case !stood:
			done.Added = append(done.Added, t.ID)
			r.offer(work{target: t, trigger: TriggerStartup, missing: true})
		case old != t:
			done.Changed = append(done.Changed, t.ID)
			if old.Name != t.Name || old.Connection != t.Connection || old.Settings != t.Settings {
				r.again(t)
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

// again queues one more run of a target that has changed: after the one that
// waits or runs, which may have begun with what was before.
func (r *Runner) again(t *target) {
	t.again.Store(true)
	if r.offer(work{target: t, trigger: TriggerCron, changed: true}) {
		t.again.Store(false)
	}
}
