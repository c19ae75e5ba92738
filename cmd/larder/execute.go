package main

import (
	"context"
	"errors"

	"github.com/spf13/cobra"
)

// The exit statuses.
const (
	statusDone   = 0
	statusFailed = 1
	statusUsage  = 2
)

// execute executes one command line (without the program's name) with the root
// that was made for it, and returns the exit status. It returns when the command
// is done, or soon after ctx ends.
func execute(ctx context.Context, root *cobra.Command, args []string, env *environment) int {
	root.SetArgs(append([]string{}, args...)) // cobra takes nil for those of the process
	root.SetIn(env.in)
	root.SetOut(env.out.raw)
	root.SetErr(env.err.raw)
	cmd, err := root.ExecuteContextC(ctx)
	if env.flush != nil {
		defer env.flush()
	}
	switch {
	case err == nil:
		return statusDone
	case errors.Is(err, errReported):
		return statusFailed
	case env.understood && !isA[*usageError](err):
		if asJSON(cmd) {
			_ = printCommandError(cmd, env.out, err) // the status and standard error say it too
		}
		env.printError(err, hintFor(cmd, err))
		return statusFailed
	}
	env.printError(err, "")
	if cmd == root {
		env.err.println(`Run "larder --help" for the commands, "larder COMMAND --help" for one of them.`)
	} else {
		env.err.printf("Run \"%s --help\" for what it takes.\n", cmd.CommandPath())
	}
	return statusUsage
}
