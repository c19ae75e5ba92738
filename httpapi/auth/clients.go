package auth

import (
	"maps"
	"slices"
)

// clientSet has all clients by id. It is immutable.
type clientSet struct{ byID map[string]ClientConfig }

// clientWatch calls end when its client changes, or the key of its token is not accepted any more.
type clientWatch struct {
	client string
	key    *signingKey
	end    func()
}

// SetClients replaces the clients; the configuration has checked them. Tokens, sessions and event streams of
// a removed client end at once. Those of a changed client get its current rights, and a changed secret ends
// its sessions. SetClients returns how many clients were added, changed or removed.
func (a *Auth) SetClients(all []ClientConfig) (changed int) {
	next := &clientSet{byID: make(map[string]ClientConfig, len(all))}
	for _, client := range all {
		next.byID[client.ID] = client
	}
	a.watching.Lock()
	defer a.watching.Unlock()
	differs := a.clients.Load().differing(next)
	if len(differs) == 0 {
		return 0 // cached tokens stay valid
	}
	a.clients.Store(next)
	for w := range a.watches {
		if differs[w.client] {
			w.end()
		}
	}
	return len(differs)
}

// differing returns the ids of the clients that differ between the two sets.
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

// Watch calls end when the caller's client changes or is removed, or when the key of its token is
// revoked, at once if that has already happened. Calling stop ends the watch.
func (a *Auth) Watch(who Caller, end func()) (stop func()) {
	w := &clientWatch{client: who.Client, key: who.key, end: end}
	a.watching.Lock()
	defer a.watching.Unlock()
	now := a.clients.Load()
	if !a.keys.accepts(who.key) || who.among != nil && who.among != now && who.among.differing(now)[who.Client] {
		end()
		return func() {}
	}
	a.watches[w] = struct{}{}
	return func() {
		a.watching.Lock()
		defer a.watching.Unlock()
		delete(a.watches, w)
	}
}

// TakesOrders reports whether any client may place orders.
func (a *Auth) TakesOrders() bool {
	cfg := a.cfg
	cfg.Clients = slices.Collect(maps.Values(a.clients.Load().byID))
	return cfg.TakesOrders()
}
