package cli

import (
	"context"
	_ "embed" // help.txt
	"errors"
	"fmt"
	"io"
	"os"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"larder.local/internal/setting"
)

// Environment is the environment of a command.
type Environment struct {
	In          io.Reader
	Out, Err    Printer
	Environ     []string // see os.Environ
	Terminal    bool     // Err is a terminal
	OutTerminal bool     // Out is a terminal
	understood  bool     // the command line is valid, so an error is not a usage error
	// Flush writes buffered output. DroppedLines returns the number of log lines
	// that were dropped. Both are nil without buffers.
	Flush        func()
	DroppedLines func() float64
}

// openArg reads a FILE argument; "-" is standard input.
func (env *Environment) openArg(name string) ([]byte, error) {
	if name == "-" {
		return io.ReadAll(env.In)
	}
	content, err := os.ReadFile(name)
	if err != nil {
		return nil, fmt.Errorf("read %s: %w", name, errors.Unwrap(err))
	}
	return content, nil
}

// The exit statuses.
const (
	StatusDone   = 0
	StatusFailed = 1
	StatusUsage  = 2
)

// Run executes a command line (without the program's name) and returns the exit
// status. It returns when the command ends, or soon after ctx ends.
func Run(ctx context.Context, root *cobra.Command, args []string, env *Environment) int {
	root.SetArgs(append([]string{}, args...)) // nil means os.Args
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
	case !env.understood && !isA[*usageError](err):
		err = &usageError{err.Error()} // an error of cobra
	}
	if AsJSON(cmd) {
		_ = PrintJSON(env.Out, errorJSON(cmd, err)) // the status and standard error report it too
	}
	env.printError(err, hintFor(cmd, err))
	if isA[*usageError](err) {
		return StatusUsage
	}
	return StatusFailed
}

// Root returns the command larder with the client commands and more commands.
// args is the command line, without the program's name.
func Root(env *Environment, args []string, more ...*cobra.Command) *cobra.Command {
	root := &cobra.Command{
		Use:           "larder",
		Short:         "Cache restaurant menus and validate orders",
		Long:          helpText("larder"),
		SilenceUsage:  true,
		SilenceErrors: true,
		RunE:          func(cmd *cobra.Command, _ []string) error { return cmd.Help() },
		PersistentPreRunE: func(cmd *cobra.Command, _ []string) error {
			err := fromEnvironment(cmd, env.Environ)
			env.understood = err == nil
			return err
		},
	}
	flags := root.PersistentFlags()
	flags.String("log-level", "info", "minimum level of log messages: debug, info, warn or error")
	flags.String("log-format", "auto", "text, json, or auto: text on a terminal, else json")
	SetEnv(flags, "log-level", "LARDER_LOG_LEVEL")
	SetEnv(flags, "log-format", "LARDER_LOG_FORMAT")
	root.AddCommand(
		initCommand(env), syncCommand(env), orderCommand(env), menuCommand(env), restaurantCommand(env),
		checkCommand(env), configCommand(env), statusCommand(env), tokenCommand(env),
	)
	root.AddCommand(more...)
	root.SetFlagErrorFunc(func(cmd *cobra.Command, err error) error { return flagError(cmd, args, err) })
	root.SetHelpCommand(helpCommand())
	prepare(root, env)
	return root
}

//go:embed help.txt
var helpTexts string

// NewCommand returns a command below parent. Its use, such as "lint FILE|RESTAURANT", sets the number of its
// arguments. Its section of help.txt has three texts: the short description, the long one, and examples.
func NewCommand(parent, use string, run func(cmd *cobra.Command, args []string) error) *cobra.Command {
	name, arguments, _ := strings.Cut(use, " ")
	short, long, _ := strings.Cut(helpText(parent+" "+name), "\n")
	long, example, _ := strings.Cut(long, "\nExamples:\n")
	return &cobra.Command{
		Use:     use,
		Short:   short,
		Long:    strings.TrimSpace(long),
		Example: example,
		Args:    argsOf(arguments),
		RunE:    run,
	}
}

// commandGroup returns a command that only groups others.
func commandGroup(name string, inner ...*cobra.Command) *cobra.Command {
	cmd := NewCommand("larder", name, needsSubcommand)
	cmd.AddCommand(inner...)
	return cmd
}

// argsOf accepts the arguments of a use: FILE is required, [FILE] is optional, and [FILE…] and FILE… are lists.
func argsOf(arguments string) cobra.PositionalArgs {
	least, most := 0, 0
	for word := range strings.FieldsSeq(strings.TrimSuffix(arguments, "--config FILE")) {
		if strings.HasSuffix(word, "…]") {
			return cobra.ArbitraryArgs
		}
		if strings.HasSuffix(word, "…") {
			return cobra.MinimumNArgs(1)
		}
		if most++; !strings.HasPrefix(word, "[") {
			least++
		}
	}
	return argRange(least, most)
}

// helpText returns the text of a command, such as "larder menu lint", in help.txt.
func helpText(command string) string {
	_, text, found := strings.Cut("\n"+helpTexts, "\n## "+command+"\n")
	if !found {
		panic("cli: help.txt has no text of " + command) // every command line creates all commands
	}
	text, _, _ = strings.Cut(text, "\n## ")
	return strings.TrimSpace(text)
}

// helpCommand is cobra's help command, but an unknown topic is a usage error.
func helpCommand() *cobra.Command {
	return &cobra.Command{
		Use:   "help [COMMAND]",
		Short: "Help about any command",
		RunE: func(cmd *cobra.Command, args []string) error {
			topic, rest, err := cmd.Root().Find(args)
			if err != nil || len(rest) > 0 {
				return &usageError{fmt.Sprintf("there is no help about %q", strings.Join(args, " ")) +
					suggestCommand(topic, strings.Join(rest, " "))}
			}
			topic.InitDefaultHelpFlag()
			return topic.Help()
		},
	}
}

// needsSubcommand runs a command that only groups others: it lists them.
func needsSubcommand(cmd *cobra.Command, _ []string) error {
	lines := []string{cmd.CommandPath() + ": missing subcommand; use one of:"}
	for _, inner := range cmd.Commands() {
		if inner.IsAvailableCommand() {
			lines = append(lines, "  "+cmd.CommandPath()+" "+inner.Use)
		}
	}
	return &linesError{lines, &usageError{lines[0]}}
}

// argRange limits the number of arguments. For an unknown subcommand, the error suggests the most similar one.
func argRange(least, most int) cobra.PositionalArgs {
	return func(cmd *cobra.Command, args []string) error {
		switch {
		case len(args) >= least && len(args) <= most:
			return nil
		case cmd.HasAvailableSubCommands():
			return unknownCommand(cmd, args[0])
		case most == 0:
			return &usageError{fmt.Sprintf("%s takes no arguments: leave out %q", cmd.CommandPath(), args)}
		case least == most:
			return &usageError{fmt.Sprintf("%s takes %s, not %d: %s",
				cmd.CommandPath(), Plural(most, "argument", "arguments"), len(args), cmd.UseLine())}
		default:
			return &usageError{fmt.Sprintf("%s takes %d to %d arguments, not %d: %s",
				cmd.CommandPath(), least, most, len(args), cmd.UseLine())}
		}
	}
}

func unknownCommand(cmd *cobra.Command, typed string) error {
	return &usageError{fmt.Sprintf("unknown command %q for %q", typed, cmd.CommandPath()) + suggestCommand(cmd, typed)}
}

// suggestCommand returns a question with the most similar command, or "".
func suggestCommand(cmd *cobra.Command, typed string) string {
	var names []string
	for _, inner := range cmd.Commands() {
		if inner.IsAvailableCommand() {
			names = append(names, inner.Name())
		}
	}
	if name := setting.Nearest(typed, names); name != "" {
		return fmt.Sprintf(": did you mean %q?", cmd.CommandPath()+" "+name)
	}
	return ""
}

// flagError explains an error of a flag. It suggests the name of a similar flag, or the type of the value.
func flagError(cmd *cobra.Command, args []string, err error) error {
	// After a misspelled command, the flags belong to that command.
	if words := cmd.Flags().Args(); len(words) > 0 && cmd.HasAvailableSubCommands() {
		return unknownCommand(cmd, words[0])
	}
	if invalid, ok := errors.AsType[*pflag.InvalidValueError](err); ok {
		return &usageError{fmt.Sprintf("--%s: %s", invalid.GetFlag().Name, valueError(invalid.GetFlag(), invalid.GetValue()))}
	}
	unknown, ok := errors.AsType[*pflag.NotExistError](err)
	if !ok {
		return err
	}
	for _, word := range args { // a misspelled command before the flag
		if word != "--" && !strings.HasPrefix(word, "-") && !cmd.HasParent() && suggestCommand(cmd, word) != "" {
			return unknownCommand(cmd, word)
		}
	}
	var names []string
	cmd.Flags().VisitAll(func(f *pflag.Flag) { names = append(names, f.Name) })
	if name := setting.Nearest(unknown.GetSpecifiedName(), names); name != "" && unknown.GetSpecifiedShortnames() == "" {
		return &usageError{fmt.Sprintf("%v: did you mean --%s?", err, name)}
	}
	return err
}

// valueError returns the message for a value that has the wrong type.
func valueError(flag *pflag.Flag, value string) string {
	switch flag.Value.Type() {
	case "bool":
		return fmt.Sprintf("%q is not true or false", value)
	case "int", "int64":
		return fmt.Sprintf("%q is not an integer, or too large", value)
	default:
		return fmt.Sprintf("%q is not a %s", value, flag.Value.Type())
	}
}
