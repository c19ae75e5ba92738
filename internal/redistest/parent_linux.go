package redistest

import "syscall"

// dieWithParent makes the kernel kill the server when the test binary dies
// without running its cleanups, as it does at its -timeout.
func dieWithParent() *syscall.SysProcAttr {
	return &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL}
}
