package main

import (
	"context"
	"errors"
	"fmt"
	"net/url"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"larder/configs"
	"larder/httpapi"
)

// envAnnotation marks a flag with the environment variable that sets it.
const envAnnotation = "larder_env"

func newRoot(env *environment, args ...string) *cobra.Command {
	root := &cobra.Command{
		Use:   "larder",
		Short: "Keeps restaurant menus close, and lets no wrong order through",
		Long: `Larder pulls the menus of restaurants from an ordering service, keeps them in
Redis and in memory, serves them to storefronts, and checks every order against
them before it goes to the kitchen.

Begin with:  larder demo`,
		SilenceUsage:  true,
		SilenceErrors: true,
		RunE:          func(cmd *cobra.Command, _ []string) error { return cmd.Help() },
		PersistentPreRunE: func(cmd *cobra.Command, _ []string) error {
			err := fromEnvironment(cmd, env.environ)
			env.understood = err == nil
			return err
		},
	}
	flags := root.PersistentFlags()
	flags.String("log-level", "info", "least level that is logged: debug, info, warn or error")
	flags.String("log-format", "auto", "text, json, or auto: text on a terminal, else json")
	setEnv(flags, "log-level", "LARDER_LOG_LEVEL")
	setEnv(flags, "log-format", "LARDER_LOG_FORMAT")
	root.AddCommand(
		initCommand(env), serveCommand(env), demoCommand(env), sandboxCommand(env),
		syncCommand(env), orderCommand(env), menuCommand(env),
		checkCommand(env), configCommand(env), statusCommand(env), versionCommand(env),
	)
	root.SetFlagErrorFunc(func(cmd *cobra.Command, err error) error { return flagError(cmd, args, err) })
	root.SetHelpCommand(helpCommand())
	prepare(root, env)
	return root
}

// helpCommand is cobra's, but for an unknown topic, which is wrong usage.
func helpCommand() *cobra.Command {
	return &cobra.Command{
		Use:   "help [COMMAND]",
		Short: "Help about any command",
		RunE: func(cmd *cobra.Command, args []string) error {
			topic, rest, err := cmd.Root().Find(args)
			if err != nil || len(rest) > 0 {
				return &usageError{fmt.Sprintf("there is no help about %q", strings.Join(args, " ")) + suggestCommand(topic, strings.Join(rest, " "))}
			}
			topic.InitDefaultHelpFlag()
			return topic.Help()
		},
	}
}

// needsSubcommand is what a command that only groups others does by itself.
func needsSubcommand(cmd *cobra.Command, _ []string) error {
	lines := []string{"missing subcommand, one of:"}
	for _, inner := range cmd.Commands() {
		if inner.IsAvailableCommand() {
			lines = append(lines, "  "+cmd.CommandPath()+" "+inner.Use)
		}
	}
	return &linesError{lines, &usageError{lines[0]}}
}

// argRange is how many arguments a command takes. What a command that groups
// others does not know is named with the nearest that it knows.
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
			return &usageError{fmt.Sprintf("%s takes %s, not %d: %s", cmd.CommandPath(), plural(most, "argument", "arguments"), len(args), cmd.UseLine())}
		default:
			return &usageError{fmt.Sprintf("%s takes %d to %d arguments, not %d: %s", cmd.CommandPath(), least, most, len(args), cmd.UseLine())}
		}
	}
}

func unknownCommand(cmd *cobra.Command, typed string) error {
	return &usageError{fmt.Sprintf("unknown command %q for %q", typed, cmd.CommandPath()) + suggestCommand(cmd, typed)}
}

// suggestCommand asks whether another command was meant.
func suggestCommand(cmd *cobra.Command, typed string) string {
	var names []string
	for _, inner := range cmd.Commands() {
		if inner.IsAvailableCommand() {
			names = append(names, inner.Name())
		}
	}
	if name := configs.Nearest(typed, names); name != "" {
		return fmt.Sprintf(": did you mean %q?", cmd.CommandPath()+" "+name)
	}
	return ""
}

// flagError explains what is wrong with a flag: its name, with the one
// that was probably meant, or its value, with what is expected.
func flagError(cmd *cobra.Command, args []string, err error) error {
	// A flag after a misspelt command was meant for that command.
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
	for _, word := range args { // so was one before it
		if word != "--" && !strings.HasPrefix(word, "-") && !cmd.HasParent() && suggestCommand(cmd, word) != "" {
			return unknownCommand(cmd, word)
		}
	}
	var names []string
	cmd.Flags().VisitAll(func(f *pflag.Flag) { names = append(names, f.Name) })
	if name := configs.Nearest(unknown.GetSpecifiedName(), names); name != "" && unknown.GetSpecifiedShortnames() == "" {
		return &usageError{fmt.Sprintf("%v: did you mean --%s?", err, name)}
	}
	return err
}

// valueError is the message for a value that is not of the flag's type.
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

func stringFlag(cmd *cobra.Command, name string) string {
	value, _ := cmd.Flags().GetString(name)
	return value
}

func boolFlag(cmd *cobra.Command, name string) bool {
	value, _ := cmd.Flags().GetBool(name)
	return value
}

// setEnv lets an environment variable set a flag, and names it in the help.
// Only flags of connection and output have one: a variable that a shell still
// has from earlier must not change what a command does.
func setEnv(flags *pflag.FlagSet, name, variable string) {
	if err := flags.SetAnnotation(name, envAnnotation, []string{variable}); err != nil {
		panic(err) // no such flag: a mistake in this package
	}
	flag := flags.Lookup(name)
	flag.Usage += " (" + variable + ")"
}

// fromEnvironment sets the flags that the command line does not, from their
// variables. A wrong value is a wrong usage.
func fromEnvironment(cmd *cobra.Command, environ []string) error {
	var wrong error
	cmd.Flags().VisitAll(func(f *pflag.Flag) {
		names := f.Annotations[envAnnotation]
		if f.Changed || len(names) == 0 || wrong != nil {
			return
		}
		value, ok := variable(environ, names[0])
		if !ok {
			return
		}
		if err := cmd.Flags().Set(f.Name, value); err != nil {
			wrong = &usageError{"environment " + names[0] + ": " + valueError(f, value)}
		}
	})
	return wrong
}

// variable looks a variable up; the last of several wins.
func variable(environ []string, name string) (value string, ok bool) {
	for _, entry := range environ {
		if v, found := strings.CutPrefix(entry, name+"="); found {
			value, ok = v, true
		}
	}
	return value, ok
}

// completionLimit bounds what a shell waits for when the running larder is
// asked for its restaurants.
const completionLimit = time.Second

// prepare does for a command and those below it what they have in common: they take
// no arguments where nothing else is said, and the shell completes their flags and
// arguments. No file is offered for the others.
func prepare(cmd *cobra.Command, env *environment) {
	if cmd.Args == nil {
		cmd.Args = argRange(0, 0)
	}
	cmd.CompletionOptions.SetDefaultShellCompDirective(cobra.ShellCompDirectiveNoFileComp)
	words := func(list ...string) cobra.CompletionFunc {
		return cobra.FixedCompletions(list, cobra.ShellCompDirectiveNoFileComp)
	}
	flags := map[string]cobra.CompletionFunc{
		"log-level": words("debug", "info", "warn", "error"), "log-format": words("auto", "text", "json"),
		"state": words(stateNames()...), "operation": words(operationNames()...), "outcome": words(resolutionNames()...),
		"hold":   words(holdNames()...),
		"config": endingIn("yaml", "yml"), "menu": endingIn("json"),
		"client-secret-file": cobra.FixedCompletions(nil, cobra.ShellCompDirectiveDefault),
		"restaurant": func(cmd *cobra.Command, _ []string, typed string) ([]cobra.Completion, cobra.ShellCompDirective) {
			return knownRestaurants(cmd, env, typed), cobra.ShellCompDirectiveNoFileComp
		},
	}
	cmd.LocalFlags().VisitAll(func(f *pflag.Flag) {
		if complete := flags[f.Name]; complete != nil {
			_ = cmd.RegisterFlagCompletionFunc(f.Name, complete) // it is there, and has none yet
		}
	})
	switch _, arguments, _ := strings.Cut(strings.ReplaceAll(cmd.Use, "--config FILE", ""), " "); {
	case strings.Contains(arguments, "RESTAURANT"):
		cmd.ValidArgsFunction = completeRestaurants(env)
	case arguments == "[FILE]":
		cmd.ValidArgsFunction = endingIn("yaml", "yml")
	case strings.Contains(arguments, "FILE"):
		cmd.ValidArgsFunction = endingIn("json")
	}
	for _, inner := range cmd.Commands() {
		prepare(inner, env)
	}
}

// endingIn offers the files with one of the endings, and folders.
func endingIn(endings ...string) cobra.CompletionFunc {
	return func(_ *cobra.Command, args []string, _ string) ([]cobra.Completion, cobra.ShellCompDirective) {
		if len(args) > 0 {
			return nil, cobra.ShellCompDirectiveNoFileComp
		}
		return endings, cobra.ShellCompDirectiveFilterFileExt
	}
}

// completeRestaurants offers the running larder's restaurants, each once; files
// too where a command takes either and no restaurant begins like that.
func completeRestaurants(env *environment) cobra.CompletionFunc {
	return func(cmd *cobra.Command, args []string, typed string) ([]cobra.Completion, cobra.ShellCompDirective) {
		if len(args) > 0 && !strings.Contains(cmd.Use, "…") {
			return nil, cobra.ShellCompDirectiveNoFileComp
		}
		found := slices.DeleteFunc(knownRestaurants(cmd, env, typed), func(known cobra.Completion) bool {
			id, _, _ := strings.Cut(known, "\t")
			return slices.Contains(args, id)
		})
		if len(found) == 0 && strings.Contains(cmd.Use, "FILE") {
			return nil, cobra.ShellCompDirectiveDefault
		}
		return found, cobra.ShellCompDirectiveNoFileComp
	}
}

// knownRestaurants asks the running larder for the restaurants whose ids begin
// like that, with their names. One that does not answer at once has none.
func knownRestaurants(cmd *cobra.Command, env *environment, typed string) []cobra.Completion {
	if fromEnvironment(cmd, env.environ) != nil || cmd.Flags().Lookup("url") == nil {
		return nil
	}
	ctx, cancel := context.WithTimeout(cmd.Context(), completionLimit)
	defer cancel()
	cmd.SetContext(ctx)
	daemon, err := target(cmd, env, httpapi.ScopeMenu)
	if err != nil {
		return nil
	}
	all, _ := resultOf[[]restaurant](ctx, daemon, "/v1/restaurants?limit=500&q="+url.QueryEscape(typed))
	var found []cobra.Completion
	for _, r := range all {
		if strings.HasPrefix(r.ID, typed) && configs.IsRestaurantID(r.ID) {
			found = append(found, cobra.CompletionWithDesc(r.ID, safe(strings.TrimSpace(r.Name))))
		}
	}
	return found
}
