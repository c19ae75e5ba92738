package redistest

import (
	"errors"
	"math"
	"os"
	"path/filepath"
	"syscall"

	"golang.org/x/sys/unix"
)

// FillDisk limits the size of each file of the running server to the present size of
// the largest file. Appending to that file then fails as on a full disk. The test
// binary must ignore SIGXFSZ before it starts the server; otherwise the signal ends
// the server.
func (s *Server) FillDisk() error {
	largest := uint64(0)
	_ = filepath.Walk(s.dir, func(_ string, about os.FileInfo, err error) error {
		if err == nil && !about.IsDir() {
			largest = max(largest, uint64(about.Size()))
		}
		return nil // ignore a file that the server has removed during the walk
	})
	return s.limitFiles(largest)
}

// FreeDisk removes the limit of FillDisk.
func (s *Server) FreeDisk() error { return s.limitFiles(math.MaxUint64) }

func (s *Server) limitFiles(size uint64) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.process == nil {
		return errors.New("the server does not run")
	}
	limit := unix.Rlimit{Cur: size, Max: math.MaxUint64}
	return unix.Prlimit(s.process.cmd.Process.Pid, unix.RLIMIT_FSIZE, &limit, nil)
}

// dieWithParent makes the kernel kill the server if the test binary dies without
// its cleanups, for example at its -timeout. (The kernel sends the signal when the
// thread that started the server ends. Go ends a thread only if a goroutine ends
// while it is locked to the thread.)
func dieWithParent() *syscall.SysProcAttr {
	return &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL}
}

// lock tries to lock the file, without waiting. It returns false if another open file
// description has the lock.
func lock(file *os.File) bool {
	return unix.Flock(int(file.Fd()), unix.LOCK_EX|unix.LOCK_NB) == nil
}
