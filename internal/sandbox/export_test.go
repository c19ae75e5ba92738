package sandbox

// Running returns the number of requests that are being executed.
func Running(s *Sandbox) int {
	s.queue.mu.Lock()
	defer s.queue.mu.Unlock()
	return s.queue.running
}

// Queued returns the number of requests that wait for capacity.
func Queued(s *Sandbox) int {
	s.queue.mu.Lock()
	defer s.queue.mu.Unlock()
	return len(s.queue.waiting)
}
