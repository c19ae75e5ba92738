package sandbox

import (
	"maps"
	"net/http"
	"sync"
)

// counters count the calls of each operation, and those that took effect.
type counters struct {
	mu          sync.Mutex
	calls, done map[string]int
}

func (n *counters) count(in map[string]int, name string) {
	n.mu.Lock()
	defer n.mu.Unlock()
	in[name]++
}

// countersJSON is the response of GET /sandbox/counters.
type countersJSON struct {
	Calls    map[string]int `json:"calls"`
	Executed map[string]int `json:"executed"`
	Tokens   int            `json:"tokens"` // issued
}

func (n *counters) counted() countersJSON {
	n.mu.Lock()
	defer n.mu.Unlock()
	return countersJSON{Calls: maps.Clone(n.calls), Executed: maps.Clone(n.done), Tokens: n.done["POST /connect/token"]}
}

func (n *counters) show(*call) answer { return result(http.StatusOK, n.counted()) }

func (n *counters) clear(c *call) answer {
	n.mu.Lock()
	clear(n.calls)
	clear(n.done)
	n.mu.Unlock()
	return n.show(c)
}

func (s *Sandbox) putSettings(c *call) answer {
	now, err := s.settings.merge(c.body)
	if err != nil {
		return c.refuse(http.StatusBadRequest, "bad_settings", err.Error())
	}
	s.queue.resize(now.Capacity.Concurrent, 0)
	return result(http.StatusOK, now)
}

func (st *settingsStore) show(*call) answer { return result(http.StatusOK, st.get()) }
