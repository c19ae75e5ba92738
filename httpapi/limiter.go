package httpapi

import (
	"container/list"
	"crypto/sha256"
	"net/netip"
	"sync"
	"time"

	"golang.org/x/time/rate"
)

// limiterKeys is how many addresses or clients one limiter remembers; the one
// that was seen longest ago is forgotten first. About 10 MiB when full.
const limiterKeys = 65_536

// limiter is a token bucket for each key, within bounded memory. Policy H1.
type limiter struct {
	rate  Rate
	max   int
	clock func() time.Time

	mu      sync.Mutex
	buckets map[string]*list.Element
	order   *list.List // front: used last
}

// bucket is one key's tokens.
type bucket struct {
	key    string
	tokens *rate.Limiter
}

func newLimiter(r Rate, clock func() time.Time) *limiter {
	return &limiter{rate: r, max: limiterKeys, clock: clock, buckets: map[string]*list.Element{}, order: list.New()}
}

// allow takes one token of the key, or returns how long it takes until there is one.
func (l *limiter) allow(key string) (wait time.Duration, ok bool) {
	if !l.rate.Limited() {
		return 0, true
	}
	now := l.clock()
	l.mu.Lock()
	defer l.mu.Unlock()
	reservation := l.bucket(key).ReserveN(now, 1)
	if wait = reservation.DelayFrom(now); wait > 0 {
		reservation.CancelAt(now)
	}
	return wait, wait == 0
}

// charge takes n more tokens of a key that has just had one. The key owes what
// it does not have: later requests wait for it.
func (l *limiter) charge(key string, n int) {
	if !l.rate.Limited() {
		return
	}
	now := l.clock()
	l.mu.Lock()
	defer l.mu.Unlock()
	for tokens := l.bucket(key); n > 0; n -= l.rate.Count {
		tokens.ReserveN(now, min(n, l.rate.Count))
	}
}

// bucket finds or makes the key's bucket; the caller holds the lock.
func (l *limiter) bucket(key string) *rate.Limiter {
	if element, known := l.buckets[key]; known {
		l.order.MoveToFront(element)
		return element.Value.(*bucket).tokens //nolint:errcheck // the list holds buckets only
	}
	if len(l.buckets) >= l.max {
		oldest := l.order.Back()
		delete(l.buckets, l.order.Remove(oldest).(*bucket).key) //nolint:errcheck // the list holds buckets only
	}
	b := &bucket{key: key, tokens: rate.NewLimiter(rate.Every(l.rate.Per/time.Duration(l.rate.Count)), l.rate.Count)}
	l.buckets[key] = l.order.PushFront(b)
	return b.tokens
}

// failureLimit limits failed attempts with a client's secret (policy H8): those
// of one address together, and those that name one client.
//
// The address comes first. One that has used up its attempts adds no more
// names, so that it cannot make the limiter forget others. Names that no client
// has are counted like any other: otherwise the answer would tell which exist.
type failureLimit struct {
	byAddress, byClient *limiter
}

// failed counts a failed attempt. It returns how long to wait where there were
// too many.
func (l failureLimit) failed(client, ip string) (wait time.Duration, limited bool) {
	if wait, ok := l.byAddress.allow(addressKey(ip)); !ok {
		return wait, true
	}
	wait, ok := l.byClient.allow(failureKey(client, ip))
	return wait, !ok
}

// failureKey is what failed attempts are counted under. A name that no client
// has may be as long as the form; its hash is kept instead.
func failureKey(client, ip string) string {
	sum := sha256.Sum256([]byte(client))
	return string(sum[:]) + addressKey(ip)
}

// addressKey is what an address is counted under: an IPv6 address by its /64,
// since one subscriber holds that whole network.
func addressKey(ip string) string {
	addr, err := netip.ParseAddr(ip)
	if err != nil {
		return ip
	}
	if addr.Is4() {
		return ip // there is no other way to write it
	}
	if addr = addr.Unmap(); addr.Is4() {
		return addr.String()
	}
	network, _ := addr.WithZone("").Prefix(64) // an IPv6 address has so many bits
	return network.String()
}
