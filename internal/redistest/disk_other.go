//go:build !linux

package redistest

import "errors"

// FillDisk needs Linux.
func (*Server) FillDisk() error { return errors.New("a full disk is tested on Linux alone") }

// FreeDisk needs Linux.
func (*Server) FreeDisk() error { return errors.New("a full disk is tested on Linux alone") }
