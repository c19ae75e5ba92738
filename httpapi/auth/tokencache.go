package auth

import (
	"crypto/sha256"
	"sync"
	"time"
)

// maxCachedTokens is how many tokens are remembered, about 2 MiB when full.
const maxCachedTokens = 8192

// tokenCache remembers whose token an Authorization header carried, once it
// was read and found good. It keeps the header's hash alone.
type tokenCache struct {
	mu   sync.RWMutex
	byID map[[sha256.Size]byte]Caller
}

// Cached returns whose an Authorization header is, where it is one that was read
// before and is still good: until it expires, another key signs, or other
// clients are configured. It allocates nothing.
func (a *Auth) Cached(header []byte) (Caller, bool) {
	id := sha256.Sum256(header)
	a.tokenCache.mu.RLock()
	who, known := a.tokenCache.byID[id]
	a.tokenCache.mu.RUnlock()
	if !known || !a.deps.Clock().Before(who.Expires) || a.keys.signing.Load() != who.key || a.clients.now.Load() != who.among {
		return Caller{}, false
	}
	return who, true
}

// add keeps whose a header is. When there is no room one goes that has
// expired or, where a look finds none, any.
func (k *tokenCache) add(header string, who Caller, now time.Time) {
	id := sha256.Sum256([]byte(header))
	k.mu.RLock()
	kept, known := k.byID[id]
	k.mu.RUnlock()
	if known && kept.key == who.key && kept.among == who.among {
		return
	}
	k.mu.Lock()
	defer k.mu.Unlock()
	if _, known = k.byID[id]; !known && len(k.byID) >= maxCachedTokens {
		k.evict(now)
	}
	k.byID[id] = who
}

// evict takes one out. The caller holds the lock.
func (k *tokenCache) evict(now time.Time) {
	const looks = 8
	looked := 0
	for id, who := range k.byID { // in no order
		if looked++; looked == looks || !now.Before(who.Expires) {
			delete(k.byID, id)
			return
		}
	}
}
