package ratelimit

import (
	"strconv"
	"strings"
	"testing"
	"time"

	"larder.local/httpapi/respond"
)

// An address cannot evict the failed attempts of others or its own. Invented client ids use up the
// limit of the address, and are not stored after that (policy H8).
func TestFailuresAreRememberedBesideInventedNames(t *testing.T) {
	t.Parallel()
	clock := &hand{at: time.Unix(1_700_000_000, 0)}
	l := Failures{
		New("test", Rate{Count: 30, Per: time.Minute}, clock.now), New("test", Rate{Count: 10, Per: time.Minute}, clock.now),
	}
	counted := func(client, ip string) (n int) {
		for range 100 {
			if _, limited := l.Failed(client, ip); !limited {
				n++
			}
		}
		return n
	}
	if n := counted("ops", "192.0.2.1"); n != 10 {
		t.Errorf("%d attempts for one client, want 10", n)
	}
	if n := counted("ops", "192.0.2.2"); n != 10 {
		t.Errorf("%d attempts from another address, want 10", n)
	}
	for i := range limiterKeys + 1000 {
		l.Failed("invented-"+strconv.Itoa(i), "192.0.2.1")
	}
	if n := len(l.ByClient.buckets); n > 31 {
		t.Errorf("%d names are kept, want at most 31: 30 of the address, and ops of the other one", n)
	}
	if n := counted("ops", "192.0.2.1"); n != 0 {
		t.Errorf("%d attempts after 66,536 invented names, want 0", n)
	}
	wait, limited := l.Failed("another", "192.0.2.1")
	if !limited || wait != 2*time.Second {
		t.Errorf("another client: %v, %v, want a wait of 2s", wait, limited)
	}
}

// The memory of a limiter is limited, however long the ids are.
func TestFailureKeysAreShort(t *testing.T) {
	t.Parallel()
	long := strings.Repeat("x", respond.MaxSmallBody)
	if n := len(failureKey(long, "2001:db8::1")); n > 64 {
		t.Errorf("a client's name of %d bytes is remembered with %d", len(long), n)
	}
	if failureKey(long, "10.0.0.1") == failureKey(long+"y", "10.0.0.1") || failureKey("a", "10.0.0.1") == failureKey("a", "10.0.0.2") {
		t.Error("two clients or two addresses share a key")
	}
}
