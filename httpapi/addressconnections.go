package httpapi

import (
	"net"
	"sync"
	"sync/atomic"
)

// addressConnections counts the open connections of each address, and says where
// one has as many as it may (docs/decisions/0044-connections-of-an-address.md).
// It knows no more addresses than there are connections.
type addressConnections struct {
	limit   int     // 0: none, and nothing is counted
	exempt  proxies // behind which all are one address
	refused atomic.Uint64

	mu   sync.Mutex
	open map[string]int
}

func newAddressConnections(limit int, exempt proxies) *addressConnections {
	return &addressConnections{limit: limit, exempt: exempt, open: map[string]int{}}
}

// enter counts a connection in; false where its address has as many as it may.
// leave must get the key.
func (a *addressConnections) enter(remote net.Addr) (key string, ok bool) {
	if a.limit == 0 || a.exempt.hold(remote.String()) {
		return "", true
	}
	host, _, err := net.SplitHostPort(remote.String())
	if err != nil { // of a TCP connection it always is one
		return "", true
	}
	key = addressKey(host)
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.open[key] >= a.limit {
		a.refused.Add(1)
		return "", false
	}
	a.open[key]++
	return key, true
}

// leave counts a connection out; the key is empty of one that was not counted.
func (a *addressConnections) leave(key string) {
	if key == "" {
		return
	}
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.open[key]--; a.open[key] == 0 {
		delete(a.open, key)
	}
}
