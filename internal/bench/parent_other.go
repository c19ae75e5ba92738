//go:build !linux

package bench

import "syscall"

// dieWithParent has no counterpart here: a measurement that is killed leaves
// its processes running.
func dieWithParent() *syscall.SysProcAttr {
	return nil
}
