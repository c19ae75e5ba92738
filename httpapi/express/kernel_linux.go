//go:build !race

package express

import (
	"runtime"
	"syscall"
	"unsafe"

	"golang.org/x/sys/unix"
)

// atOnce bounds what one call is given, in bytes: nothing stops the goroutine
// while the kernel copies, some 20 µs for so many, and the collector waits.
const atOnce = 256 << 10

// receive and send are the calls of the kernel alone, for a descriptor that
// never blocks: the scheduler, told of each by Go's own, would take longer than
// a wait that does not come, and its watcher thread, which takes the processor
// away from a call of more than 20 µs, longer than the call.
func receive(fd int, p []byte) (int, syscall.Errno) {
	n, _, errno := unix.RawSyscall(unix.SYS_READ, uintptr(fd), uintptr(unsafe.Pointer(unsafe.SliceData(p))), uintptr(len(p))) //nolint:gosec // G103, G115: the bytes are p's
	return counted(n, errno)
}

// send sends of the head, and of the body behind it, what the system takes. One
// of them may be empty.
func send(fd int, head, body []byte, flags int) (int, syscall.Errno) {
	body = body[:min(len(body), atOnce)]
	if len(head) == 0 {
		head, body = body, nil
	}
	if len(body) == 0 {
		n, _, errno := unix.RawSyscall6(unix.SYS_SENDTO, uintptr(fd), uintptr(unsafe.Pointer(unsafe.SliceData(head))), uintptr(len(head)), uintptr(flags|unix.MSG_NOSIGNAL), 0, 0) //nolint:gosec // G103, G115: the bytes are head's
		return counted(n, errno)
	}
	vector := [2]unix.Iovec{{Base: unsafe.SliceData(head)}, {Base: unsafe.SliceData(body)}} //nolint:gosec // G103: as above
	vector[0].SetLen(len(head))
	vector[1].SetLen(len(body))
	message := unix.Msghdr{Iov: &vector[0]}
	message.SetIovlen(len(vector))
	n, _, errno := unix.RawSyscall(unix.SYS_SENDMSG, uintptr(fd), uintptr(unsafe.Pointer(&message)), uintptr(flags|unix.MSG_NOSIGNAL)) //nolint:gosec // G103, G115: the bytes are those of head and body
	runtime.KeepAlive(&vector)
	return counted(n, errno)
}

// sendfile sends so many bytes of a file, or fewer, from a place in it: what the
// socket takes at once, which is a few megabytes at most and not copied.
func sendfile(fd, file, from, size int) (int, syscall.Errno) {
	offset := uintptr(from)                                                                                                               // a word, as the kernel has it
	n, _, errno := unix.RawSyscall6(unix.SYS_SENDFILE, uintptr(fd), uintptr(file), uintptr(unsafe.Pointer(&offset)), uintptr(size), 0, 0) //nolint:gosec // G103, G115: descriptors and a length
	return counted(n, errno)
}

func counted(n uintptr, errno syscall.Errno) (int, syscall.Errno) {
	if errno != 0 {
		return 0, errno
	}
	return int(n), 0
}
