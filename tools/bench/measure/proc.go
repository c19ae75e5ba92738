package measure

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"
)

// tick is the unit of CPU times in /proc: USER_HZ, 100 on every Linux.
const tick = 10 * time.Millisecond

// CPU returns the CPU time of a process, in user mode and kernel, to 10 ms. It reads
// /proc, so it works on Linux only.
func CPU(pid int) (time.Duration, error) {
	raw, err := os.ReadFile(filepath.Join("/proc", strconv.Itoa(pid), "stat"))
	if err != nil {
		return 0, fmt.Errorf("measure: CPU time of process %d: %w", pid, err)
	}
	return cpuOf(string(raw))
}

// cpuOf reads /proc/PID/stat. The program's name, in brackets, may contain any
// characters.
func cpuOf(stat string) (time.Duration, error) {
	end := strings.LastIndexByte(stat, ')')
	fields := strings.Fields(stat[end+1:])
	const user, system = 11, 12 // from the state, which follows the name
	if end < 0 || len(fields) <= system {
		return 0, errors.New("measure: /proc/PID/stat has another form")
	}
	u, uErr := strconv.ParseInt(fields[user], 10, 64)
	s, sErr := strconv.ParseInt(fields[system], 10, 64)
	if err := errors.Join(uErr, sErr); err != nil {
		return 0, fmt.Errorf("measure: /proc/PID/stat: %w", err)
	}
	return time.Duration(u+s) * tick, nil
}

// TreeCPU returns the CPU time of processes and their descendants, to 10 ms for each.
// It does not include processes that have ended and that another process waited for.
func TreeCPU(roots ...int) (time.Duration, error) {
	found, err := filepath.Glob("/proc/[0-9]*/stat")
	if err != nil || len(found) == 0 {
		return 0, errors.Join(errors.New("measure: /proc shows no process"), err)
	}
	parents, used := map[int]int{}, map[int]time.Duration{}
	for _, file := range found {
		raw, err := os.ReadFile(file)
		if err != nil {
			continue // the process has ended
		}
		pid, _ := strconv.Atoi(filepath.Base(filepath.Dir(file)))
		if parents[pid], err = parentOf(string(raw)); err != nil {
			return 0, err
		}
		if used[pid], err = cpuOf(string(raw)); err != nil {
			return 0, err
		}
	}
	var total time.Duration
	for _, root := range roots {
		if _, ok := used[root]; !ok {
			return 0, fmt.Errorf("measure: CPU time of process %d: it has ended", root)
		}
	}
	for pid, cpu := range used {
		// A process is younger than its parent, unless ids have wrapped around. The limit
		// prevents an endless loop.
		for at, steps := pid, 0; at > 0 && steps < len(used); at, steps = parents[at], steps+1 {
			if slices.Contains(roots, at) {
				total += cpu
				break
			}
		}
	}
	return total, nil
}

// parentOf reads the parent's id from /proc/PID/stat.
func parentOf(stat string) (int, error) {
	fields := strings.Fields(stat[strings.LastIndexByte(stat, ')')+1:])
	if len(fields) < 2 {
		return 0, errors.New("measure: /proc/PID/stat has another form")
	}
	return strconv.Atoi(fields[1])
}

// RSS returns the resident memory of a process, in bytes.
func RSS(pid int) (int64, error) {
	raw, err := os.ReadFile(filepath.Join("/proc", strconv.Itoa(pid), "statm"))
	if err != nil {
		return 0, fmt.Errorf("measure: memory of process %d: %w", pid, err)
	}
	fields := strings.Fields(string(raw))
	if len(fields) < 2 {
		return 0, errors.New("measure: /proc/PID/statm has another form")
	}
	pages, err := strconv.ParseInt(fields[1], 10, 64)
	return pages * int64(os.Getpagesize()), err
}
