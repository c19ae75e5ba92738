//go:build linux || darwin

package httpapi

import (
	"math"
	"syscall"
)

// openFiles is how many files this process may have open; 0 where that is not
// known, or as good as no limit.
func openFiles() int {
	var limit syscall.Rlimit
	if err := syscall.Getrlimit(syscall.RLIMIT_NOFILE, &limit); err != nil || limit.Cur > math.MaxInt32 {
		return 0
	}
	return int(limit.Cur)
}
