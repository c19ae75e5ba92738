// Command larder keeps a restaurant's menu close to the people who read it,
// and lets no wrong order through to the kitchen.
//
// This package is the daemon and its start: the only place where the packages meet
// concretely. It holds no rules of its own. Every goroutine of the daemon is started
// here, under one errgroup. The other commands are in internal/cli and internal/demo.
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

	"larder/internal/cli"
	"larder/internal/demo"
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
		time.AfterFunc(time.Second, func() { os.Exit(cli.StatusFailed) }) // the reader of the next line may have stalled
		fmt.Fprintln(os.Stderr, "larder: forced to stop by a second signal")
		os.Exit(cli.StatusFailed)
	}()
	os.Exit(run(ctx, os.Args[1:], cli.Environment{
		In: os.Stdin, Out: cli.Printer{Raw: os.Stdout}, Err: cli.Printer{Raw: os.Stderr}, Environ: os.Environ(),
		Terminal: term.IsTerminal(int(os.Stderr.Fd())), OutTerminal: term.IsTerminal(int(os.Stdout.Fd())),
	}))
}

// run executes one command line of larder; see cli.Run.
func run(ctx context.Context, args []string, env cli.Environment) int {
	return cli.Run(ctx, newRoot(&env, args...), args, &env) //nolint:contextcheck // ExecuteContext hands the context to every command
}

// newRoot makes the command larder: the client, the daemon and the demo.
func newRoot(env *cli.Environment, args ...string) *cobra.Command {
	with := demoStarts(env)
	root := cli.Root(env, args, serveCommand(env), demo.Command(env, with), demo.SandboxCommand(env, with), versionCommand(env))
	root.Version = thisBuild().String()
	root.SetVersionTemplate("{{.Version}}")
	return root
}
