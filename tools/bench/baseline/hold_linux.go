package baseline

import (
	"fmt"
	"syscall"
	"unsafe"

	"golang.org/x/sys/unix"
)

// Between memoryMost and what a socket takes at once, sendfile from memory is
// quicker than a write (docs/performance.md).
const memoryMost = 16 << 10

// ready is an answer as the loop sends it.
type ready struct {
	memory []byte
	file   *held // what comes after it; nil: nothing
}

// held is a file in memory alone.
type held struct {
	fd     int
	length int64
}

// hold puts what is large into files, but for the first 4 KiB. What it gives is
// to be released, after a failure too.
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

// read and send are the calls of the kernel alone, for descriptors that never
// block: Go's own tell the scheduler of each, which this loop would feel.
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
