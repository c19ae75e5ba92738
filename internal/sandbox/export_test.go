package sandbox

// Running returns how many requests are being executed.
func Running(s *Sandbox) int {
	s.queue.mu.Lock()
	defer s.queue.mu.Unlock()
	return s.queue.running
}

// Queued returns how many requests wait for capacity.
func Queued(s *Sandbox) int {
	s.queue.mu.Lock()
	defer s.queue.mu.Unlock()
	return len(s.queue.waiting)
}
