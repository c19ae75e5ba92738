package httpapi

import (
	"crypto/sha256"
	"time"
)

// failureLimit limits failed attempts with a client's secret (policy H8): those
// of one address together, and those that name one client.
//
// The address comes first. One that has used up its attempts adds no more
// names, so that it cannot make the limiter forget others. Names that no client
// has are counted like any other: otherwise the answer would tell which exist.
type failureLimit struct {
	byAddress, byClient *limiter
}

// newFailureLimit limits failures by two limiters, which may be shared.
func newFailureLimit(byAddress, byClient *limiter) failureLimit {
	return failureLimit{byAddress: byAddress, byClient: byClient}
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
