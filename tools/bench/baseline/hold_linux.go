package baseline

import (
	"fmt"
	"syscall"
	"unsafe"

	"golang.org/x/sys/unix"
)

// memoryMost is the size above which sendfile from memory is faster than a write
// (docs/performance.md).
const memoryMost = 16 << 10

// ready is a response in the form that the loop sends.
type ready struct {
	memory []byte
	file   *held // the rest of the response, or nil
}

// held is a file in memory.
type held struct {
	fd     int
	length int64
}

// hold puts large responses into files, except their first 4 KiB. The caller releases
// the result, also after an error.
func hold(answers Answers) (map[string]ready, error) {
	const first = 4 << 10
	table := make(map[string]ready, len(answers))
	for path, wire := range answers {
		if len(wire) < memoryMost {
			table[path] = ready{memory: wire}
			continue
		}
		fd, err := unix.MemfdCreate("answer", unix.MFD_CLOEXEC)
		if err != nil {
			return table, fmt.Errorf("baseline: a file in memory: %w", err)
		}
		table[path] = ready{memory: wire[:first], file: &held{fd: fd, length: int64(len(wire) - first)}}
		for rest := wire[first:]; len(rest) > 0; {
			n, err := unix.Write(fd, rest)
			if err != nil {
				return table, fmt.Errorf("baseline: a file in memory: %w", err)
			}
			rest = rest[n:]
		}
	}
	return table, nil
}

func (l *loop) release() {
	for _, answer := range l.answers {
		if answer.file != nil {
			_ = unix.Close(answer.file.fd)
		}
	}
}

// read and send call the kernel directly, for descriptors that never block. Go's own
// functions notify the scheduler of each call, which costs time here.
func read(fd int, p []byte) (int, error) {
	if len(p) == 0 {
		return 0, nil
	}
	n, _, errno := unix.RawSyscall(unix.SYS_READ, uintptr(fd), uintptr(unsafe.Pointer(&p[0])), uintptr(len(p))) //nolint:gosec // G103, G115: the bytes are p's
	return counted(n, errno)
}

func send(fd int, p []byte, flags int) (int, error) {
	n, _, errno := unix.RawSyscall6(unix.SYS_SENDTO, uintptr(fd), uintptr(unsafe.Pointer(&p[0])), uintptr(len(p)), uintptr(flags), 0, 0) //nolint:gosec // G103, G115: the bytes are p's
	return counted(n, errno)
}

func counted(n uintptr, errno syscall.Errno) (int, error) {
	if errno != 0 {
		return 0, errno
	}
	return int(n), nil
}
