package replica

import (
	"errors"
	"sync"
	"time"

	"larder/cache"
	"larder/internal/menu"
	"larder/internal/redisdb"
)

const (
	// missLife is how long a restaurant without a catalogue, or a Redis that
	// does not answer, is not asked about again by readers. A notice ends it.
	missLife = time.Second
	// maxMisses bounds what is remembered of names that nobody has.
	maxMisses = 4096
)

// misses remembers loads that failed, so that readers do not repeat them at once.
type misses struct {
	clock func() time.Time

	mu  sync.Mutex
	all map[menu.RestaurantID]miss
}

type miss struct {
	err   error
	until time.Time
}

// find returns the error of a load that failed a moment ago, else nil.
func (m *misses) find(restaurant menu.RestaurantID) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	last, ok := m.all[restaurant]
	if !ok || !m.clock().Before(last.until) {
		return nil
	}
	return last.err
}

// note remembers why a load failed, unless it was the caller that gave up.
func (m *misses) note(restaurant menu.RestaurantID, err error) {
	if !errors.Is(err, cache.ErrNoCatalogue) && !errors.Is(err, redisdb.ErrUnavailable) && !errors.Is(err, cache.ErrCorrupt) {
		return
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	if len(m.all) >= maxMisses {
		clear(m.all)
	}
	m.all[restaurant] = miss{err, m.clock().Add(missLife)}
}

// forget lets the restaurant be loaded again.
func (m *misses) forget(restaurant menu.RestaurantID) {
	m.mu.Lock()
	defer m.mu.Unlock()
	delete(m.all, restaurant)
}
