package auth

import (
	"maps"
	"slices"
	"sync"
	"sync/atomic"
)

// clients are those that are configured now. They follow a reload: what a token
// or a session gives is what its client has now, and ends with it.
type clients struct {
	now atomic.Pointer[clientSet]

	mu      sync.Mutex
	watches map[*clientWatch]struct{}
}

// clientSet is all clients, by their ids. It never changes.
type clientSet struct{ byID map[string]ClientConfig }

// clientWatch is something that lasts as long as a client stays as it is.
type clientWatch struct {
	client string
	end    func()
}

// SetClients makes these the clients, as auth.clients names them, from now on:
// tokens, sessions and event streams of a client that is gone end at once, and
// those of one that has changed count as it is now; a changed secret ends its
// sessions. It returns how many were added, changed or removed. The configuration
// has checked them.
func (c *clients) SetClients(all []ClientConfig) (changed int) {
	next := &clientSet{byID: make(map[string]ClientConfig, len(all))}
	for _, client := range all {
		next.byID[client.ID] = client
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	differs := c.now.Load().differing(next)
	if len(differs) == 0 {
		return 0 // what was read by the clients before is still good
	}
	c.now.Store(next)
	for w := range c.watches {
		if differs[w.client] {
			w.end()
		}
	}
	return len(differs)
}

// differing returns the ids of the clients that are not the same in both.
func (s *clientSet) differing(other *clientSet) map[string]bool {
	ids := map[string]bool{}
	for _, id := range slices.Concat(slices.Collect(maps.Keys(s.byID)), slices.Collect(maps.Keys(other.byID))) {
		a, here := s.byID[id]
		b, there := other.byID[id]
		if here != there || a.Secret != b.Secret || a.Connection != b.Connection || !slices.Equal(a.Scopes, b.Scopes) {
			ids[id] = true
		}
	}
	return ids
}

// get returns a client as it is configured now.
func (c *clients) get(id string) (ClientConfig, bool) {
	client, known := c.now.Load().byID[id]
	return client, known
}

// Watch calls end when the client that a caller was read by is there no longer
// as it was, at once where that is so already; until stop is called.
func (c *clients) Watch(who Caller, end func()) (stop func()) {
	w := &clientWatch{client: who.Client, end: end}
	c.mu.Lock()
	defer c.mu.Unlock()
	if now := c.now.Load(); who.among != nil && who.among != now && who.among.differing(now)[who.Client] {
		end()
		return func() {}
	}
	c.watches[w] = struct{}{}
	return func() {
		c.mu.Lock()
		defer c.mu.Unlock()
		delete(c.watches, w)
	}
}

// TakesOrders reports whether anyone may place orders.
func (a *Auth) TakesOrders() bool {
	cfg := a.cfg
	cfg.Clients = slices.Collect(maps.Values(a.clients.now.Load().byID))
	return cfg.TakesOrders()
}
