package sandbox

import (
	"net/http"
	"sync"
	"time"
)

// maxQueued limits the requests that wait for capacity; others are refused.
const maxQueued = 20_000

// Capacity limits the requests that change orders, to test an overloaded ordering service. Requests
// beyond Concurrent wait in order of arrival. They are executed even if the client disconnects.
type Capacity struct {
	// Concurrent is the number executed at the same time; 0 is no limit.
	Concurrent int `json:"concurrent"`
	// Delay is the duration of each, without its time in the queue.
	Delay Duration `json:"delay"`
}

// workQueue holds the requests that wait for capacity, in order of arrival.
type workQueue struct {
	mu      sync.Mutex
	running int
	waiting []chan struct{} // closed when its request may run
}

// enter waits until fewer than limit requests run. It reports false if the queue is full, or when done is closed.
func (q *workQueue) enter(limit int, done <-chan struct{}) bool {
	q.mu.Lock()
	if limit == 0 || q.running < limit && len(q.waiting) == 0 {
		q.running++
		q.mu.Unlock()
		return true
	}
	if len(q.waiting) >= maxQueued {
		q.mu.Unlock()
		return false
	}
	turn := make(chan struct{})
	q.waiting = append(q.waiting, turn)
	q.mu.Unlock()
	select {
	case <-turn:
		return true
	case <-done:
		return false // the sandbox stops
	}
}

// resize starts the waiting requests that the limit allows, after some have ended.
func (q *workQueue) resize(limit, ended int) {
	q.mu.Lock()
	defer q.mu.Unlock()
	q.running -= ended
	for len(q.waiting) > 0 && (limit == 0 || q.running < limit) {
		close(q.waiting[0])
		q.waiting = q.waiting[1:]
		q.running++
	}
}

// withCapacity executes a request that changes an order when the capacity
// allows it, even if the client has disconnected.
func (s *Sandbox) withCapacity(c *call, serve func(*call) answer) answer {
	limit := func() int { return s.settings.get().Capacity.Concurrent }
	if !s.queue.enter(limit(), s.done) {
		return c.refuse(http.StatusServiceUnavailable, "overloaded", "the sandbox takes no more requests")
	}
	defer func() { s.queue.resize(limit(), 1) }()
	delay := time.Duration(s.settings.get().Capacity.Delay)
	if delay > 0 && !s.wait(nil, delay, nil) {
		return c.refuse(http.StatusServiceUnavailable, "stopping", "the sandbox is stopping")
	}
	c.at = s.clock()
	return serve(c)
}

// wait waits for a time, or until wake is closed. It reports false when done is
// closed or the sandbox stops first. A nil channel is never closed.
func (s *Sandbox) wait(done <-chan struct{}, d time.Duration, wake <-chan struct{}) bool {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C:
	case <-wake:
	case <-done:
		return false
	case <-s.done:
		return false
	}
	return true
}
