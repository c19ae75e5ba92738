package replica

import (
	"errors"
	"sync"
	"time"

	"larder.local/cache"
	"larder.local/internal/menu"
	"larder.local/internal/redisdb"
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
	all map[string]miss // by the key of the load
}

type miss struct {
	err   error
	until time.Time
}

func (m *misses) find(key string) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	last, ok := m.all[key]
	if !ok || !m.clock().Before(last.until) {
		return nil
	}
	return last.err
}

// note records why a load failed, unless the caller cancelled it.
func (m *misses) note(key string, err error) {
	if !errors.Is(err, cache.ErrNoCatalogue) && !errors.Is(err, redisdb.ErrUnavailable) && !errors.Is(err, cache.ErrCorrupt) {
		return
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	if len(m.all) >= maxMisses {
		clear(m.all)
	}
	m.all[key] = miss{err, m.clock().Add(missLife)}
}

func (m *misses) forget(restaurant menu.RestaurantID) {
	m.mu.Lock()
	defer m.mu.Unlock()
	delete(m.all, string(restaurant))
}
