package redistest

import "os"

// Signal sends a signal to the server's process, as syscall.SIGSTOP to freeze
// it and syscall.SIGCONT to let it go on. A stopped server gets none.
func (s *Server) Signal(signal os.Signal) {
	s.tb.Helper()
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.process == nil {
		return
	}
	if err := s.process.cmd.Process.Signal(signal); err != nil {
		s.tb.Errorf("redistest: %v: %v", signal, err)
	}
}
