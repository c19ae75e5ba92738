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

	"github.com/spf13/cobra"
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
		time.AfterFunc(time.Second, func() { os.Exit(statusFailed) }) // the reader of the next line may have stalled
		fmt.Fprintln(os.Stderr, "larder: forced to stop by a second signal")
		os.Exit(statusFailed)
	}()
	os.Exit(run(ctx, os.Args[1:], environment{
		in: os.Stdin, out: printer{raw: os.Stdout}, err: printer{raw: os.Stderr}, environ: os.Environ(),
		terminal: term.IsTerminal(int(os.Stderr.Fd())), outTerminal: term.IsTerminal(int(os.Stdout.Fd())),
	}))
}

// run executes one command line of larder; see execute.
func run(ctx context.Context, args []string, env environment) int {
	return execute(ctx, newRoot(&env, args...), args, &env) //nolint:contextcheck // ExecuteContext hands the context to every command
}

// newRoot makes the command larder: the client, the daemon and the demo.
func newRoot(env *environment, args ...string) *cobra.Command {
	with := demoStarts(env)
	return rootCommand(env, args, serveCommand(env), demoCommand(env, with), sandboxCommand(env, with), versionCommand(env))
}
