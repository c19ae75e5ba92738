//go:build !linux

package process

import "syscall"

// dieWithParent is not supported here: a killed test or measurement leaves its
// processes running.
func dieWithParent() *syscall.SysProcAttr {
	return nil
}
