package cli

import "golang.org/x/sys/unix"

// The requests for the settings of a terminal. flushTermios also discards unread input.
const (
	getTermios   = unix.TIOCGETA
	setTermios   = unix.TIOCSETA
	flushTermios = unix.TIOCSETAF
)
