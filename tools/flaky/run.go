package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"sync"
	"syscall"
	"time"
)

// runAll runs each program o.count times, several at a time, and adds the results to a
// report. When the context ends, so do the running programs, and no other one starts.
func runAll(ctx context.Context, o options, programs []program, work string, r *report) {
	jobs := make([]program, 0, o.count*len(programs))
	for range o.count {
		jobs = append(jobs, programs...)
	}
	rand.Shuffle(len(jobs), func(i, j int) { jobs[i], jobs[j] = jobs[j], jobs[i] })
	// The longest programs first, so that at the end not only one of them is left.
	slices.SortStableFunc(jobs, func(a, b program) int { return size(b) - size(a) })

	threads := perCore * runtime.NumCPU()
	loadCtx, stopLoad := context.WithCancel(ctx)
	defer stopLoad()
	go keepBusy(loadCtx, threads)

	queue := make(chan int)
	var workers sync.WaitGroup
	for range min(threads, len(jobs)) {
		workers.Go(func() {
			for i := range queue {
				begun := time.Now()
				output := runOnce(ctx, o, jobs[i])
				r.add(jobs[i].Name, output, time.Since(begun), filepath.Join(work, fmt.Sprintf("%d.log", i)))
			}
		})
	}
	for i := range jobs {
		select {
		case queue <- i:
		case <-ctx.Done():
		}
	}
	close(queue)
	workers.Wait()
}

// size is larger for the packages that take minutes.
func size(p program) int {
	if strings.HasSuffix(p.Name, "/cmd/larder") {
		return 1
	}
	return 0
}

// runOnce runs the tests of one program in random order and returns their events, as
// printed by go tool test2json, and the error of the program.
func runOnce(ctx context.Context, o options, p program) []byte {
	var printed, events bytes.Buffer
	cmd := exec.CommandContext(ctx, p.File, "-test.v=test2json", "-test.paniconexit0",
		"-test.shuffle=on", "-test.timeout="+o.limit.String(), "-test.run="+o.run)
	cmd.Dir, cmd.Stdout, cmd.Stderr = p.Dir, &printed, &printed
	cmd.Env = append(os.Environ(), "PWD="+p.Dir)
	// The program prints the stacks of its goroutines and ends.
	cmd.Cancel = func() error { return cmd.Process.Signal(syscall.SIGQUIT) }
	cmd.WaitDelay = 10 * time.Second
	err := cmd.Run()

	convert := exec.CommandContext(context.WithoutCancel(ctx), "go", "tool", "test2json", "-p", p.Name)
	convert.Stdin, convert.Stdout, convert.Stderr = &printed, &events, &events
	if err := errors.Join(err, convert.Run()); err != nil {
		fmt.Fprintf(&events, "\n%v\n", err)
	}
	return events.Bytes()
}
