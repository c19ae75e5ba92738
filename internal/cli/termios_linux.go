package cli

import "golang.org/x/sys/unix"

// The requests that read and write a terminal's settings. flushTermios also
// discards the input that was not read.
const (
	getTermios   = unix.TCGETS
	setTermios   = unix.TCSETS
	flushTermios = unix.TCSETSF
)
