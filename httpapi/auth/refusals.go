package auth

import (
	"errors"
	"sync"
	"time"

	"github.com/gin-gonic/gin"
	"github.com/golang-jwt/jwt/v5"
	"github.com/sirupsen/logrus"

	"larder.local/httpapi/ratelimit"
)

// The routes of failed attempts in the metric: the token endpoint, the sign-in of operators, and requests with an
// invalid bearer token on any other route.
const (
	routeToken   = "/connect/token"
	routeSession = "/ops/session"
	routeBearer  = "bearer"
)

const (
	refusalWindow = time.Minute
	maxAddresses  = 1024 // counted in a window; the failures of others are counted together
)

// refusals logs failed attempts (policy H8): the first one at once, then one line for each minute with failures. Each
// line has the address with the most of them. So no minute has more than two lines, whatever the addresses.
type refusals struct {
	log logrus.FieldLogger

	mu      sync.Mutex
	waiting bool // the window is open
	total   int
	counts  map[string]int
}

// add counts a failed attempt of an address.
func (r *refusals) add(address string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if _, known := r.counts[address]; known || len(r.counts) < maxAddresses {
		r.counts[address]++
	}
	r.total++
	if !r.waiting {
		r.write()
	}
}

// write logs what was counted, and opens the next window.
func (r *refusals) write() {
	most, count := "", 0
	for address, n := range r.counts {
		if n > count {
			most, count = address, n
		}
	}
	r.log.WithFields(logrus.Fields{
		"event": "auth.failed", "address": most, "count": count, "addresses": len(r.counts), "total": r.total,
	}).Warn("failed attempts with a secret or token")
	clear(r.counts)
	r.total, r.waiting = 0, true
	time.AfterFunc(refusalWindow, func() {
		r.mu.Lock()
		defer r.mu.Unlock()
		if r.waiting = false; r.total > 0 {
			r.write()
		}
	})
}

// failed counts and logs a failed attempt.
func (a *Auth) failed(c *gin.Context, route string) {
	a.deps.Failed(route)
	a.refusals.add(ratelimit.AddressKey(a.ClientIP(c)))
}

// guessed reports whether the error of a token says that larder did not sign it. An expired token is no guess.
func guessed(err error) bool {
	return errors.Is(err, jwt.ErrTokenMalformed) || errors.Is(err, jwt.ErrTokenUnverifiable) || errors.Is(err, jwt.ErrTokenSignatureInvalid)
}
