//go:build !linux

package redistest

import (
	"errors"
	"os"
	"syscall"
)

// FillDisk needs Linux.
func (*Server) FillDisk() error { return errors.New("a full disk is tested on Linux alone") }

// FreeDisk needs Linux.
func (*Server) FreeDisk() error { return errors.New("a full disk is tested on Linux alone") }

// dieWithParent is not supported here: a test binary that dies at its -timeout
// leaves its servers running.
func dieWithParent() *syscall.SysProcAttr {
	return nil
}

// lock is not supported here: two tests can choose the same port.
func lock(*os.File) bool { return true }
