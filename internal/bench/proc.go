package bench

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"time"
)

// tick is the unit of CPU times in /proc: USER_HZ, 100 on every Linux.
const tick = 10 * time.Millisecond

// CPU is the time that a process has computed so far, its kernel's share for it
// included, to 10 ms. It reads /proc, so it works on Linux only.
func CPU(pid int) (time.Duration, error) {
	raw, err := os.ReadFile(filepath.Join("/proc", strconv.Itoa(pid), "stat"))
	if err != nil {
		return 0, fmt.Errorf("bench: CPU time of process %d: %w", pid, err)
	}
	return cpuOf(string(raw))
}

// cpuOf reads /proc/PID/stat. The program's name, in brackets, may hold
// anything.
func cpuOf(stat string) (time.Duration, error) {
	end := strings.LastIndexByte(stat, ')')
	fields := strings.Fields(stat[end+1:])
	const user, system = 11, 12 // counted from the state, which comes after the name
	if end < 0 || len(fields) <= system {
		return 0, errors.New("bench: /proc/PID/stat has another form")
	}
	u, uErr := strconv.ParseInt(fields[user], 10, 64)
	s, sErr := strconv.ParseInt(fields[system], 10, 64)
	if err := errors.Join(uErr, sErr); err != nil {
		return 0, fmt.Errorf("bench: /proc/PID/stat: %w", err)
	}
	return time.Duration(u+s) * tick, nil
}

// RSS is the memory of a process that is in RAM now, in bytes.
func RSS(pid int) (int64, error) {
	raw, err := os.ReadFile(filepath.Join("/proc", strconv.Itoa(pid), "statm"))
	if err != nil {
		return 0, fmt.Errorf("bench: memory of process %d: %w", pid, err)
	}
	fields := strings.Fields(string(raw))
	if len(fields) < 2 {
		return 0, errors.New("bench: /proc/PID/statm has another form")
	}
	pages, err := strconv.ParseInt(fields[1], 10, 64)
	return pages * int64(os.Getpagesize()), err
}
