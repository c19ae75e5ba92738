//go:build !linux

package redistest

import "syscall"

// dieWithParent has no counterpart here: a test binary that dies at its
// -timeout leaves its servers running.
func dieWithParent() *syscall.SysProcAttr {
	return nil
}
