//go:build !linux

package process

import "syscall"

// dieWithParent has no counterpart here: a test or a measurement that is killed leaves
// its processes running.
func dieWithParent() *syscall.SysProcAttr {
	return nil
}
