package cli

import (
	"context"
	"net/url"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"larder.local/cmd/larder/client"
	"larder.local/configs"
	"larder.local/httpapi/auth"
)

// completionLimit is the timeout of requests to the running daemon for shell completion.
const completionLimit = time.Second

// prepare configures a command and its subcommands: by default, a command accepts no arguments. It
// adds shell completion of flags and arguments. File names are completed only where a file is valid.
func prepare(cmd *cobra.Command, env *Environment) {
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
		"config": completeFiles("yaml", "yml"), "menu": completeFiles("json"),
		"client-secret-file": cobra.FixedCompletions(nil, cobra.ShellCompDirectiveDefault),
		"restaurant": func(cmd *cobra.Command, _ []string, typed string) ([]cobra.Completion, cobra.ShellCompDirective) {
			return knownRestaurants(cmd, env, typed), cobra.ShellCompDirectiveNoFileComp
		},
	}
	if cmd.CommandPath() == "larder restaurant list" {
		flags["state"], flags["sort"] = words(restaurantStates()...), words(restaurantOrders()...)
	}
	cmd.LocalFlags().VisitAll(func(f *pflag.Flag) {
		if complete := flags[f.Name]; complete != nil {
			_ = cmd.RegisterFlagCompletionFunc(f.Name, complete) // no error: the flag exists and has no function yet
		}
	})
	if _, arguments, _ := strings.Cut(strings.ReplaceAll(cmd.Use, "--config FILE", ""), " "); arguments != "" {
		cmd.ValidArgsFunction = completeArguments(env, arguments)
	}
	for _, inner := range cmd.Commands() {
		prepare(inner, env)
	}
}

// completeFiles completes the name of a file with one of the extensions, or of a directory.
func completeFiles(extensions ...string) cobra.CompletionFunc {
	return cobra.FixedCompletions(extensions, cobra.ShellCompDirectiveFilterFileExt)
}

// completeArguments completes the first of the arguments, or all of a list: files, or ids of restaurants, which it
// requests from the running daemon. If no id matches and the command also accepts a file, it completes file names.
func completeArguments(env *Environment, arguments string) cobra.CompletionFunc {
	return func(cmd *cobra.Command, args []string, typed string) ([]cobra.Completion, cobra.ShellCompDirective) {
		mayBeFile := strings.Contains(arguments, "FILE")
		switch {
		case len(args) > 0 && !strings.Contains(arguments, "…"):
			return nil, cobra.ShellCompDirectiveNoFileComp
		case strings.Contains(arguments, "RESTAURANT"):
			found := slices.DeleteFunc(knownRestaurants(cmd, env, typed), func(known cobra.Completion) bool {
				id, _, _ := strings.Cut(known, "\t")
				return slices.Contains(args, id)
			})
			if len(found) == 0 && mayBeFile {
				return nil, cobra.ShellCompDirectiveDefault
			}
			return found, cobra.ShellCompDirectiveNoFileComp
		case arguments == "[FILE]":
			return completeFiles("yaml", "yml")(cmd, args, typed)
		case mayBeFile:
			return completeFiles("json")(cmd, args, typed)
		default:
			return nil, cobra.ShellCompDirectiveNoFileComp
		}
	}
}

// knownRestaurants returns the ids that start with typed, each with the restaurant's name. It
// returns nothing if the running daemon does not respond in time.
func knownRestaurants(cmd *cobra.Command, env *Environment, typed string) []cobra.Completion {
	if fromEnvironment(cmd, env.Environ) != nil || cmd.Flags().Lookup("url") == nil {
		return nil
	}
	ctx, cancel := context.WithTimeout(cmd.Context(), completionLimit)
	defer cancel()
	cmd.SetContext(ctx)
	daemon := target(cmd, env, auth.ScopeMenu)
	all, _ := client.Get[[]Restaurant](ctx, daemon, "/v1/restaurants?limit=500&q="+url.QueryEscape(typed))
	var found []cobra.Completion
	for _, r := range all {
		if strings.HasPrefix(r.ID, typed) && configs.IsRestaurantID(r.ID) {
			found = append(found, cobra.CompletionWithDesc(r.ID, Safe(strings.TrimSpace(r.Name))))
		}
	}
	return found
}
