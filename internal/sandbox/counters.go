package sandbox

import (
	"maps"
	"net/http"
	"sync"
)

// counters count the calls of each operation, those that took effect, and the issued tokens.
type counters struct {
	mu          sync.Mutex
	calls, done map[string]int
	tokens      int64
}

func (n *counters) count(in map[string]int, name string) {
	n.mu.Lock()
	defer n.mu.Unlock()
	in[name]++
}

func (n *counters) countToken() {
	n.mu.Lock()
	defer n.mu.Unlock()
	n.tokens++
}

// countersJSON is the response of GET /sandbox/counters.
type countersJSON struct {
	Calls    map[string]int `json:"calls"`
	Executed map[string]int `json:"executed"`
	Tokens   int64          `json:"tokens"`
}

func (n *counters) counted() countersJSON {
	n.mu.Lock()
	defer n.mu.Unlock()
	return countersJSON{Calls: maps.Clone(n.calls), Executed: maps.Clone(n.done), Tokens: n.tokens}
}

func (n *counters) show(*call) answer { return result(http.StatusOK, n.counted()) }

func (n *counters) clear(c *call) answer {
	n.mu.Lock()
	clear(n.calls)
	clear(n.done)
	n.tokens = 0
	n.mu.Unlock()
	return n.show(c)
}

func (s *Sandbox) putSettings(c *call) answer {
	now, err := s.settings.merge(c.body)
	if err != nil {
		return c.refuse(http.StatusBadRequest, "bad_settings", err.Error())
	}
	s.queue.resize(now.Capacity.Concurrent)
	return result(http.StatusOK, now)
}

func (st *settingsStore) show(*call) answer { return result(http.StatusOK, st.get()) }
