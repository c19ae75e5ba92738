//go:build race

package express

import (
	"errors"
	"syscall"
)

// receive, send and sendfile are here the calls of package syscall, which tell the race
// detector that what was written before one end sent happened before the other
// end has received it.
func receive(fd int, p []byte) (int, syscall.Errno) {
	n, err := syscall.Read(fd, p)
	return told(n, err)
}

func send(fd int, head, body []byte, _ int) (int, syscall.Errno) {
	if len(head) == 0 {
		head = body
	}
	n, err := syscall.Write(fd, head)
	return told(n, err)
}

func sendfile(fd, file, from, size int) (int, syscall.Errno) {
	offset := int64(from)
	n, err := syscall.Sendfile(fd, file, &offset, size)
	return told(n, err)
}

func told(n int, err error) (int, syscall.Errno) {
	if errno, failed := errors.AsType[syscall.Errno](err); failed {
		return 0, errno
	}
	return n, 0
}
