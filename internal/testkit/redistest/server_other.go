//go:build !linux

package redistest

import (
	"errors"
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
