package cache

import (
	"errors"
	"time"

	"larder/internal/menu"
)

const (
	// missLife is how long a restaurant without a catalogue, or a Redis that
	// does not answer, is not asked about again by readers. A notice ends it.
	missLife = time.Second
	// maxMisses bounds what is remembered of names that nobody has.
	maxMisses = 4096
)

type miss struct {
	err   error
	until time.Time
}

func (r *Replica) missed(restaurant menu.RestaurantID) error {
	r.missesMu.Lock()
	defer r.missesMu.Unlock()
	m, ok := r.misses[restaurant]
	if !ok || !r.cfg.Clock().Before(m.until) {
		return nil
	}
	return m.err
}

func (r *Replica) noteMiss(restaurant menu.RestaurantID, err error) {
	if !errors.Is(err, ErrNoCatalogue) && !errors.Is(err, ErrUnavailable) && !errors.Is(err, ErrCorrupt) {
		return
	}
	r.missesMu.Lock()
	defer r.missesMu.Unlock()
	if len(r.misses) >= maxMisses {
		clear(r.misses)
	}
	r.misses[restaurant] = miss{err, r.cfg.Clock().Add(missLife)}
}

func (r *Replica) forgetMiss(restaurant menu.RestaurantID) {
	r.missesMu.Lock()
	defer r.missesMu.Unlock()
	delete(r.misses, restaurant)
}
