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
	"slices"
	"strings"
	"sync"
	"syscall"
	"time"
)

// runAll runs each program o.count times, several at a time, and adds the results to a
// report. When the context ends, so do the running programs, and no other one starts.
func runAll(ctx context.Context, o options, programs []program, work string, r *report) {
	threads := perCore * cores
	l := &load{threads: threads}
	if o.pkg == "" {
		loadCtx, stopLoad := context.WithCancel(ctx)
		defer stopLoad()
		go l.run(loadCtx)
	}
	slots := make(chan struct{}, threads)
	var running sync.WaitGroup
	defer running.Wait()
	for i, p := range order(programs, o.count) {
		select {
		case slots <- struct{}{}:
		case <-ctx.Done():
			return
		}
		if ctx.Err() != nil {
			return
		}
		running.Go(func() {
			defer func() { <-slots }()
			begun := time.Now()
			output, err := runOnce(ctx, o, p)
			stopped := err != nil && ctx.Err() != nil
			r.add(p, output, err, stopped, time.Since(begun), filepath.Join(work, fmt.Sprintf("%d.log", i)))
		})
		if o.pkg == "" {
			l.awaitRoom(ctx, r)
		}
	}
}

// order returns the programs of all rounds in random order. Each round begins with its
// longest program, so that at the end not only this one is left.
func order(programs []program, rounds int) []program {
	var all []program
	for range rounds {
		round := slices.Clone(programs)
		rand.Shuffle(len(round), func(i, j int) { round[i], round[j] = round[j], round[i] })
		slices.SortStableFunc(round, func(a, b program) int { return size(b) - size(a) })
		all = append(all, round...)
	}
	return all
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
func runOnce(ctx context.Context, o options, p program) (output []byte, err error) {
	var printed, events bytes.Buffer
	cmd := exec.CommandContext(ctx, p.File, "-test.v=test2json", "-test.paniconexit0",
		"-test.shuffle=on", "-test.timeout="+o.limit.String(), "-test.run="+o.run)
	cmd.Dir, cmd.Stdout, cmd.Stderr = p.Dir, &printed, &printed
	cmd.Env = append(os.Environ(), "PWD="+p.Dir, "TMPDIR="+o.temp)
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	killGroup := func() error { return syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL) }
	cmd.Cancel = killGroup
	cmd.WaitDelay = 10 * time.Second // for a process outside the group that has the output open
	err = cmd.Run()
	if cmd.Process != nil {
		_ = killGroup() // what the tests have started and left
	}

	convert := exec.CommandContext(context.WithoutCancel(ctx), "go", "tool", "test2json", "-p", p.Name)
	convert.SysProcAttr = &syscall.SysProcAttr{Setpgid: true} // Ctrl-C in a terminal must not end it
	convert.Stdin, convert.Stdout, convert.Stderr = &printed, &events, &events
	if failed := convert.Run(); failed != nil {
		err = errors.Join(err, failed)
	}
	return events.Bytes(), err
}
