//go:build unix

package measure

import (
	"fmt"
	"syscall"
	"time"
)

// ownCPU returns the CPU time of this process so far, in user mode and kernel.
func ownCPU() (time.Duration, error) {
	var usage syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &usage); err != nil {
		return 0, fmt.Errorf("measure: own CPU time: %w", err)
	}
	return time.Duration(usage.Utime.Nano() + usage.Stime.Nano()), nil
}
