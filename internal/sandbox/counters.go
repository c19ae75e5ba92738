package sandbox

import (
	"maps"
	"net/http"
	"sync"
)

// counters tell how often each operation was called and took effect.
type counters struct {
	mu          sync.Mutex
	calls, done map[string]int
}

// count counts an operation in one of the maps.
func (n *counters) count(in map[string]int, name string) {
	n.mu.Lock()
	defer n.mu.Unlock()
	in[name]++
}

// countersJSON are all counters, as GET /sandbox/counters shows them.
type countersJSON struct {
	Calls    map[string]int `json:"calls"`
	Executed map[string]int `json:"executed"`
	Tokens   int64          `json:"tokens"`
}

func (s *Sandbox) counted() countersJSON {
	s.counters.mu.Lock()
	defer s.counters.mu.Unlock()
	return countersJSON{
		Calls: maps.Clone(s.counters.calls), Executed: maps.Clone(s.counters.done), Tokens: s.issuedTokens.Load(),
	}
}

func (s *Sandbox) showCounters(*call) answer {
	return result(http.StatusOK, s.counted())
}

func (s *Sandbox) clearCounters(c *call) answer {
	s.counters.mu.Lock()
	clear(s.counters.calls)
	clear(s.counters.done)
	s.counters.mu.Unlock()
	s.issuedTokens.Store(0)
	return s.showCounters(c)
}

func (s *Sandbox) putSettings(c *call) answer {
	now, err := s.settings.merge(c.body)
	if err != nil {
		return c.refuse(http.StatusBadRequest, "bad_settings", err.Error())
	}
	s.queue.resize(now.Capacity.Concurrent)
	return result(http.StatusOK, now)
}

func (s *Sandbox) showSettings(*call) answer {
	return result(http.StatusOK, s.settings.get())
}
