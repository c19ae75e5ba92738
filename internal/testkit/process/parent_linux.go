package process

import "syscall"

// dieWithParent makes the kernel kill a child if this process dies without stopping
// it. (The signal belongs to the starting thread; Go ends a thread only when a
// goroutine dies locked to it.)
func dieWithParent() *syscall.SysProcAttr {
	return &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL}
}
