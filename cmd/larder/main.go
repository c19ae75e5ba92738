// Command larder keeps a restaurant's menu close to the people who read it,
// and lets no wrong order through to the kitchen.
//
// This package is the command line and the wiring: the only place where the
// packages meet concretely. It holds no rules of its own. Every
// goroutine of the daemon is started here, under one errgroup.
package main

import (
	"context"
	"fmt"
	"os"
	"os/signal"
	"syscall"
	"time"

	"github.com/redis/go-redis/v9"
	"golang.org/x/term"
)

// main turns signals into the end of a context, and run's answer into the exit
// status. The first signal asks to stop, the second one forces.
func main() {
	ctx, stop := context.WithCancel(context.Background())
	signals := make(chan os.Signal, 2)
	signal.Notify(signals, os.Interrupt, syscall.SIGTERM)
	go func() {
		<-signals
		stop()
		<-signals
		time.AfterFunc(time.Second, func() { os.Exit(statusFailed) }) // whoever should read the next line may have stalled
		fmt.Fprintln(os.Stderr, "larder: forced to stop by a second signal")
		os.Exit(statusFailed)
	}()
	redis.SetLogger(quiet{})
	os.Exit(run(ctx, os.Args[1:], environment{
		in: os.Stdin, out: printer{os.Stdout}, err: printer{os.Stderr}, environ: os.Environ(),
		terminal: term.IsTerminal(int(os.Stderr.Fd())), outTerminal: term.IsTerminal(int(os.Stdout.Fd())),
	}))
}

// quiet takes what go-redis would print to standard error by itself: larder
// logs every failure of Redis in its own words.
type quiet struct{}

// Printf drops the message.
func (quiet) Printf(context.Context, string, ...any) {}
