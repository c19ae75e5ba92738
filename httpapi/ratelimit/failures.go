package ratelimit

import (
	"crypto/sha256"
	"time"
)

// Failures limits failed attempts with a client's secret (policy H8): those
// of one address together, and those that name one client.
//
// The address comes first. One that has used up its attempts adds no more
// names, so that it cannot make the limiter forget others. Names that no client
// has are counted like any other: otherwise the answer would tell which exist.
type Failures struct {
	byAddress, byClient *Limiter
}

// NewFailures limits failed attempts by two limiters, each of which may be shared.
func NewFailures(byAddress, byClient *Limiter) Failures {
	return Failures{byAddress: byAddress, byClient: byClient}
}

// Failed counts a failed attempt. It returns how long to wait where there were
// too many.
func (l Failures) Failed(client, ip string) (wait time.Duration, limited bool) {
	if wait, ok := l.byAddress.Allow(AddressKey(ip)); !ok {
		return wait, true
	}
	wait, ok := l.byClient.Allow(failureKey(client, ip))
	return wait, !ok
}

// failureKey is what failed attempts are counted under. A name that no client
// has may be as long as the form; its hash is kept instead.
func failureKey(client, ip string) string {
	sum := sha256.Sum256([]byte(client))
	return string(sum[:]) + AddressKey(ip)
}
