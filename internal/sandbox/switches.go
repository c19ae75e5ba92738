package sandbox

import (
	"maps"
	"net/http"
	"sync"
)

// counters tell how often each operation was called and took effect.
type counters struct {
	mu    sync.Mutex
	calls map[string]int
	done  map[string]int
}

func (n *counters) called(name string) {
	n.mu.Lock()
	defer n.mu.Unlock()
	if n.calls == nil {
		n.calls = map[string]int{}
	}
	n.calls[name]++
}

func (n *counters) executed(name string) {
	n.mu.Lock()
	defer n.mu.Unlock()
	if n.done == nil {
		n.done = map[string]int{}
	}
	n.done[name]++
}

func (n *counters) clear() {
	n.mu.Lock()
	defer n.mu.Unlock()
	n.calls, n.done = nil, nil
}

func (n *counters) copies() (calls, done map[string]int) {
	n.mu.Lock()
	defer n.mu.Unlock()
	calls, done = map[string]int{}, map[string]int{}
	maps.Copy(calls, n.calls)
	maps.Copy(done, n.done)
	return calls, done
}

// countersJSON are all counters, as GET /sandbox/counters shows them.
type countersJSON struct {
	Calls    map[string]int `json:"calls"`
	Executed map[string]int `json:"executed"`
	Tokens   int            `json:"tokens"`
}

func (s *Sandbox) counted() countersJSON {
	calls, done := s.counters.copies()
	return countersJSON{Calls: calls, Executed: done, Tokens: s.tokens.count()}
}

func (s *Sandbox) showCounters(*call) answer {
	return result(http.StatusOK, s.counted())
}

func (s *Sandbox) clearCounters(c *call) answer {
	s.counters.clear()
	s.tokens.clear()
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
