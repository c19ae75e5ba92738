// Package ratelimit limits the requests of an address or client. It has the rates of the
// configuration, a token bucket for each key, and the limit of failed attempts with a secret.
//
// A limiter stores a bounded number of keys, so clients cannot exhaust the memory. Middleware and handlers take tokens;
// Take answers 429 without a token. The package does not authenticate clients and starts no goroutine.
package ratelimit

import (
	"container/list"
	"crypto/sha256"
	"fmt"
	"math"
	"net/netip"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/gin-gonic/gin"
	"golang.org/x/time/rate"

	"larder.local/httpapi/respond"
)

// limiterKeys limits the addresses or clients of one limiter. The least recently used one is
// evicted. Memory is about 10 MiB when full.
const limiterKeys = 65_536

// Limiter has a token bucket for each key, in bounded memory. Policy H1.
type Limiter struct {
	name  string
	rate  Rate
	max   int
	clock func() time.Time

	mu      sync.Mutex
	buckets map[string]*list.Element
	order   *list.List // front: most recently used
}

// bucket has the tokens of one key.
type bucket struct {
	key    string
	tokens *rate.Limiter
}

// New returns a limiter with one rate, which may be unlimited. Responses show it with its name.
func New(name string, r Rate, clock func() time.Time) *Limiter {
	return &Limiter{
		name:    name,
		rate:    r,
		max:     limiterKeys,
		clock:   clock,
		buckets: map[string]*list.Element{},
		order:   list.New(),
	}
}

// allow takes one token of the key. If the bucket is empty, it returns the time until the next one. left is the number of
// tokens after that.
func (l *Limiter) allow(key string) (wait time.Duration, left float64, ok bool) {
	if !l.rate.limited() {
		return 0, 0, true
	}
	now := l.clock()
	l.mu.Lock()
	defer l.mu.Unlock()
	tokens := l.bucket(key)
	reservation := tokens.ReserveN(now, 1)
	if wait = reservation.DelayFrom(now); wait > 0 {
		reservation.CancelAt(now)
	}
	return wait, max(tokens.TokensAt(now), 0), wait == 0
}

// Charge takes n more tokens of a key. The key may go into debt: later requests wait for it.
func (l *Limiter) Charge(key string, n int) {
	if !l.rate.limited() {
		return
	}
	now := l.clock()
	l.mu.Lock()
	defer l.mu.Unlock()
	for tokens := l.bucket(key); n > 0; n -= l.rate.Count {
		tokens.ReserveN(now, min(n, l.rate.Count))
	}
}

// bucket returns the key's bucket, creating it if needed. The caller holds the lock.
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

// AddressKey returns the key of an address. IPv6 addresses are counted by /64 network, because
// one subscriber has a whole network.
func AddressKey(ip string) string {
	addr, err := netip.ParseAddr(ip)
	if err != nil {
		return ip
	}
	if addr.Is4() {
		return ip // IPv4 has only one spelling
	}
	if addr = addr.Unmap(); addr.Is4() {
		return addr.String()
	}
	network, _ := addr.WithZone("").Prefix(64) // cannot fail: an IPv6 address has more than 64 bits
	return network.String()
}

// Take takes one token of the key, or answers the request with 429. If there is a limit, the response has it and what is left
// of it (draft-ietf-httpapi-ratelimit-headers-10): RateLimit-Policy: "place";q=5;w=1 and RateLimit: "place";r=4;t=1, where t is
// the number of seconds until nothing is used any more.
func Take(c *gin.Context, l *Limiter, key string) {
	wait, left, ok := l.allow(key)
	if l.rate.limited() {
		seconds := func(d time.Duration) string { return strconv.Itoa(int(math.Ceil(d.Seconds()))) }
		used := time.Duration((float64(l.rate.Count) - left) / float64(l.rate.Count) * float64(l.rate.Per))
		c.Header("RateLimit-Policy", `"`+l.name+`";q=`+strconv.Itoa(l.rate.Count)+`;w=`+seconds(l.rate.Per))
		c.Header("RateLimit", `"`+l.name+`";r=`+strconv.Itoa(int(left))+`;t=`+seconds(used))
	}
	if !ok {
		msg := "too many requests; the limit is " + l.rate.String()
		respond.Fail(c, &respond.Problem{Code: respond.CodeRateLimited, Msg: msg, RetryAfter: wait})
	}
}

// Failures limits failed attempts with a client's secret (policy H8), per address, and per client and address.
//
// The address is checked first. An address above its limit adds no more client ids, so it cannot evict other
// keys. Unknown clients are counted like known ones; otherwise the response would show which exist.
type Failures struct{ ByAddress, ByClient *Limiter }

// Failed counts a failed attempt. If there were too many, it returns how long to wait.
func (l Failures) Failed(client, ip string) (wait time.Duration, limited bool) {
	if wait, _, ok := l.ByAddress.allow(AddressKey(ip)); !ok {
		return wait, true
	}
	wait, _, ok := l.ByClient.allow(failureKey(client, ip))
	return wait, !ok
}

// failureKey returns the key of failed attempts. It has a hash of the client id, because an
// unknown id can be as long as the form.
func failureKey(client, ip string) string {
	sum := sha256.Sum256([]byte(client))
	return string(sum[:]) + AddressKey(ip)
}

// Rate is a rate limit, written as "20/s", "5/m" or "100/h" in the configuration; "0" means no
// limit. The count is also the burst: "20/s" allows 20 requests at once and one more every 50 ms.
type Rate struct {
	Count int
	Per   time.Duration
}

var rateUnits = map[string]time.Duration{"s": time.Second, "m": time.Minute, "h": time.Hour} //nolint:gochecknoglobals // constant

// limited reports whether there is a limit.
func (r Rate) limited() bool { return r.Count > 0 && r.Per > 0 }

// String returns the format that UnmarshalText accepts.
func (r Rate) String() string {
	if !r.limited() {
		return "0"
	}
	for unit, per := range rateUnits {
		if per == r.Per {
			return strconv.Itoa(r.Count) + "/" + unit
		}
	}
	return strconv.Itoa(r.Count) + "/" + r.Per.String()
}

// MarshalText returns the format of the configuration.
func (r Rate) MarshalText() ([]byte, error) { return []byte(r.String()), nil }

// UnmarshalText parses "count/unit" with the unit s, m or h, or "0".
func (r *Rate) UnmarshalText(written []byte) error {
	text := strings.TrimSpace(string(written))
	if text == "0" {
		*r = Rate{}
		return nil
	}
	count, unit, ok := strings.Cut(text, "/")
	n, err := strconv.Atoi(strings.TrimSpace(count))
	if !ok || err != nil || n < 1 || n > 1_000_000 {
		return fmt.Errorf("%q is not a rate: write a count and a unit, such as 20/s, 5/m or 100/h, or 0 for no limit", text)
	}
	per, known := rateUnits[strings.TrimSpace(unit)]
	if !known {
		return fmt.Errorf("the unit of the rate %q must be s, m or h", text)
	}
	*r = Rate{Count: n, Per: per}
	return nil
}
