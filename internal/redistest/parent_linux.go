package redistest

import "syscall"

// dieWithParent makes the kernel kill the server when the test binary dies
// without running its cleanups, as it does at its -timeout. (The signal is tied
// to the starting thread; Go ends a thread only when a goroutine dies locked to it.)
func dieWithParent() *syscall.SysProcAttr {
	return &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL}
}
