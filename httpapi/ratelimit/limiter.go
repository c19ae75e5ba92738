package ratelimit

import (
	"container/list"
	"net/netip"
	"sync"
	"time"

	"github.com/gin-gonic/gin"
	"golang.org/x/time/rate"

	"larder/httpapi/respond"
)

// limiterKeys is how many addresses or clients one limiter remembers; the one
// that was seen longest ago is forgotten first. About 10 MiB when full.
const limiterKeys = 65_536

// Limiter is a token bucket for each key, within bounded memory. Policy H1.
type Limiter struct {
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

// New makes a limiter of one rate, which may be no limit.
func New(r Rate, clock func() time.Time) *Limiter {
	return &Limiter{rate: r, max: limiterKeys, clock: clock, buckets: map[string]*list.Element{}, order: list.New()}
}

// Allow takes one token of the key, or returns how long it takes until there is one.
func (l *Limiter) Allow(key string) (wait time.Duration, ok bool) {
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

// Charge takes n more tokens of a key that has just had one. The key owes what
// it does not have: later requests wait for it.
func (l *Limiter) Charge(key string, n int) {
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
func (l *Limiter) bucket(key string) *rate.Limiter {
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

// AddressKey is what an address is counted under: an IPv6 address by its /64,
// since one subscriber holds that whole network.
func AddressKey(ip string) string {
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

// Take takes one token of the key, or refuses the request with 429.
func Take(c *gin.Context, l *Limiter, key string) bool {
	wait, ok := l.Allow(key)
	if !ok {
		respond.Fail(c, &respond.Problem{Code: respond.CodeRateLimited, Msg: "too many requests; the limit is " + l.rate.String(), RetryAfter: wait})
	}
	return ok
}
