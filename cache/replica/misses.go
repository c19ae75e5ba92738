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
	// missLife is how long readers do not repeat a failed load: the restaurant has
	// no catalogue, or Redis does not respond. A notice ends it.
	missLife = time.Second
	// maxMisses limits the memory for ids that do not exist.
	maxMisses = 4096
)

// misses records failed loads, so that readers do not repeat them immediately.
type misses struct {
	clock func() time.Time

	mu  sync.Mutex
	all map[menu.RestaurantID]miss
}

type miss struct {
	err   error
	until time.Time
}

func (m *misses) find(restaurant menu.RestaurantID) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	last, ok := m.all[restaurant]
	if !ok || !m.clock().Before(last.until) {
		return nil
	}
	return last.err
}

// note records why a load failed, unless the caller cancelled it.
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

func (m *misses) forget(restaurant menu.RestaurantID) {
	m.mu.Lock()
	defer m.mu.Unlock()
	delete(m.all, restaurant)
}
