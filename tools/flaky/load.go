package main

import (
	"context"
	"os"
	"runtime"
	"strconv"
	"strings"
	"sync/atomic"
	"time"
)

// keepBusy keeps a number of threads ready to run until the context ends: those of
// other programs, and busy ones of its own in the place of the missing ones.
func keepBusy(ctx context.Context, threads int) {
	runtime.GOMAXPROCS(threads + 2) // two more for the rest of this program
	var wanted atomic.Int64
	for i := range int64(threads) {
		go func() {
			for ctx.Err() == nil {
				if i >= wanted.Load() {
					wait(ctx, 10*time.Millisecond)
					continue
				}
				for end := time.Now().Add(10 * time.Millisecond); time.Now().Before(end); {
				}
			}
		}()
	}
	for ctx.Err() == nil {
		wait(ctx, 50*time.Millisecond)
		switch ready := readyThreads(threads - 1); {
		case ready < threads:
			wanted.Store(min(wanted.Load()+1, int64(threads)))
		case ready > threads:
			wanted.Store(max(wanted.Load()-1, 0))
		}
	}
}

// readyThreads returns the number of threads on this machine that run or could run, or
// otherwise if the system does not report it.
func readyThreads(otherwise int) int {
	text, err := os.ReadFile("/proc/loadavg") // 0.20 0.18 0.12 READY/ALL 11206
	fields := strings.Fields(string(text))
	if err != nil || len(fields) < 4 {
		return otherwise
	}
	ready, _, _ := strings.Cut(fields[3], "/")
	n, err := strconv.Atoi(ready)
	if err != nil {
		return otherwise
	}
	return n - 1 // without the thread that reads the file
}

// wait waits for a time or the end of the context.
func wait(ctx context.Context, d time.Duration) {
	select {
	case <-ctx.Done():
	case <-time.After(d):
	}
}
