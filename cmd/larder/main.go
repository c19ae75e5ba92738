// Command larder serves restaurant menus from a cache and forwards only valid orders to the ordering service.
//
// This package connects the other packages and runs them in one errgroup. It contains no
// domain logic. The other commands are in cmd/larder/cli and cmd/larder/demo.
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

	"larder.local/cmd/larder/cli"
	"larder.local/cmd/larder/demo"
)

// main runs the command line. The first signal cancels the command's context. The second signal ends the process.
func main() {
	ctx, stop := context.WithCancel(context.Background())
	signals := make(chan os.Signal, 2)
	signal.Notify(signals, os.Interrupt, syscall.SIGTERM)
	go func() {
		<-signals
		stop()
		<-signals
		time.AfterFunc(time.Second, func() { os.Exit(cli.StatusFailed) }) // printing blocks if the reader has stalled
		fmt.Fprintln(os.Stderr, "larder: forced to stop by a second signal")
		os.Exit(cli.StatusFailed)
	}()
	os.Exit(run(ctx, os.Args[1:], cli.Environment{
		In:          os.Stdin,
		Out:         cli.Printer{Raw: os.Stdout},
		Err:         cli.Printer{Raw: os.Stderr},
		Environ:     os.Environ(),
		Terminal:    term.IsTerminal(int(os.Stderr.Fd())),
		OutTerminal: term.IsTerminal(int(os.Stdout.Fd())),
	}))
}

// run executes one command line of larder and returns the exit status.
func run(ctx context.Context, args []string, env cli.Environment) int {
	return cli.Run(ctx, newRoot(&env, args...), args, &env) //nolint:contextcheck // ExecuteContext passes the context to every command
}

// newRoot returns the command larder with all its subcommands.
func newRoot(env *cli.Environment, args ...string) *cobra.Command {
	with := demoStarts(env)
	root := cli.Root(env, args, serveCommand(env), demo.Command(env, with), demo.SandboxCommand(env, with), versionCommand(env))
	root.Version = thisBuild().String()
	root.SetVersionTemplate("{{.Version}}")
	return root
}
