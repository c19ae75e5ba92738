package cli

import (
	"context"
	"errors"

	"github.com/spf13/cobra"
)

// The exit statuses.
const (
	StatusDone   = 0
	StatusFailed = 1
	StatusUsage  = 2
)

// Run executes one command line (without the program's name) with the root
// that was made for it, and returns the exit status. It returns when the command
// is done, or soon after ctx ends.
func Run(ctx context.Context, root *cobra.Command, args []string, env *Environment) int {
	root.SetArgs(append([]string{}, args...)) // cobra takes nil for those of the process
	root.SetIn(env.In)
	root.SetOut(env.Out.Raw)
	root.SetErr(env.Err.Raw)
	cmd, err := root.ExecuteContextC(ctx)
	if env.Flush != nil {
		defer env.Flush()
	}
	switch {
	case err == nil:
		return StatusDone
	case errors.Is(err, errReported):
		return StatusFailed
	case env.understood && !isA[*usageError](err):
		if AsJSON(cmd) {
			_ = printCommandError(cmd, env.Out, err) // the status and standard error say it too
		}
		env.printError(err, hintFor(cmd, err))
		return StatusFailed
	}
	env.printError(err, "")
	if cmd == root {
		env.Err.Println(`Run "larder --help" for the commands, "larder COMMAND --help" for one of them.`)
	} else {
		env.Err.Printf("Run \"%s --help\" for what it takes.\n", cmd.CommandPath())
	}
	return StatusUsage
}
