//go:build !race

package express

import (
	"syscall"
	"unsafe"

	"golang.org/x/sys/unix"
)

// receive and send are the calls of the kernel alone, for a descriptor that
// never blocks and few bytes: the scheduler, told of each by Go's own, would
// take longer than a wait that does not come.
func receive(fd int, p []byte) (int, syscall.Errno) {
	n, _, errno := unix.RawSyscall(unix.SYS_READ, uintptr(fd), uintptr(unsafe.Pointer(unsafe.SliceData(p))), uintptr(len(p))) //nolint:gosec // G103, G115: the bytes are p's
	return counted(n, errno)
}

func send(fd int, p []byte) (int, syscall.Errno) {
	n, _, errno := unix.RawSyscall6(unix.SYS_SENDTO, uintptr(fd), uintptr(unsafe.Pointer(unsafe.SliceData(p))), uintptr(len(p)), unix.MSG_NOSIGNAL, 0, 0) //nolint:gosec // G103, G115: the bytes are p's
	return counted(n, errno)
}

func counted(n uintptr, errno syscall.Errno) (int, syscall.Errno) {
	if errno != 0 {
		return 0, errno
	}
	return int(n), 0
}
