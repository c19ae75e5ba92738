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

// load keeps a number of threads of the machine ready to run: those of other programs,
// and busy ones of its own in the place of the missing ones.
type load struct {
	threads int
	busy    atomic.Int64 // own threads
	others  atomic.Int64 // a thousand times the mean number of the others in the last second
}

// run keeps the load until the context ends.
func (l *load) run(ctx context.Context) {
	runtime.GOMAXPROCS(l.threads + 2) // two more for the rest of this program, which starts and reads test programs
	for i := range int64(l.threads) {
		go func() {
			for ctx.Err() == nil {
				if i >= l.busy.Load() {
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
		busy := l.busy.Load()
		ready, ok := readyThreads()
		if !ok {
			l.busy.Store(int64(l.threads))
			return
		}
		l.others.Add((1000*max(ready-busy, 0) - l.others.Load()) / 20)
		switch {
		case ready < int64(l.threads):
			l.busy.Store(min(busy+1, int64(l.threads)))
		case ready > int64(l.threads):
			l.busy.Store(max(busy-1, 0))
		}
	}
}

// awaitRoom returns when other programs have kept fewer threads ready for a second: some
// test programs start many others. It waits at most a minute, because not all of the others need
// to be test programs.
func (l *load) awaitRoom(ctx context.Context, r *report) {
	wait(ctx, 500*time.Millisecond) // for the program that was started last
	begun := time.Now()
	for ctx.Err() == nil && l.others.Load() > 1000*int64(l.threads) {
		if time.Since(begun) > time.Minute {
			r.say("      more than %d threads were ready to run for a minute; the next test program starts\n", l.threads)
			return
		}
		wait(ctx, 100*time.Millisecond)
	}
}

// readyThreads returns the number of threads on this machine that run or could run.
func readyThreads() (int64, bool) {
	text, err := os.ReadFile("/proc/loadavg") // 0.20 0.18 0.12 READY/ALL 11206
	fields := strings.Fields(string(text))
	if err != nil || len(fields) < 4 {
		return 0, false
	}
	ready, _, _ := strings.Cut(fields[3], "/")
	n, err := strconv.ParseInt(ready, 10, 64)
	return n - 1, err == nil // without the thread that reads the file
}

// wait waits for a time or the end of the context.
func wait(ctx context.Context, d time.Duration) {
	select {
	case <-ctx.Done():
	case <-time.After(d):
	}
}
