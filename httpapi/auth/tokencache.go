package auth

import (
	"crypto/sha256"
	"sync"
)

// maxCachedTokens limits the cached tokens: about 2 MiB when full.
const maxCachedTokens = 8192

// tokenCache caches the callers of checked Authorization headers, by a hash of the header. Nothing modifies a cached caller.
type tokenCache struct {
	mu   sync.RWMutex
	byID map[[sha256.Size]byte]*Caller
}

// Cached returns the caller of a cached Authorization header, or nil. An entry is valid until the token
// expires, the signing key changes, or the clients change. Cached does not allocate.
func (a *Auth) Cached(header []byte) *Caller {
	id := sha256.Sum256(header)
	a.tokenCache.mu.RLock()
	who := a.tokenCache.byID[id]
	a.tokenCache.mu.RUnlock()
	if who == nil || !a.deps.Clock().Before(who.Expires) || a.keys.signing.Load() != who.key || a.clients.now.Load() != who.among {
		return nil
	}
	return who
}

// add caches the caller of a header. If the cache is full, it evicts a random entry.
func (k *tokenCache) add(header string, who *Caller) {
	id := sha256.Sum256([]byte(header))
	k.mu.Lock()
	defer k.mu.Unlock()
	if _, known := k.byID[id]; !known && len(k.byID) >= maxCachedTokens {
		for other := range k.byID {
			delete(k.byID, other)
			break
		}
	}
	k.byID[id] = who
}
