package process

import "syscall"

// dieWithParent makes the kernel kill a child when this process dies without
// ending it. (The signal is tied to the starting thread; Go ends a thread only
// when a goroutine dies locked to it.)
func dieWithParent() *syscall.SysProcAttr {
	return &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL}
}
