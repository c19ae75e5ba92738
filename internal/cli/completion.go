package cli

import (
	"context"
	"net/url"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"larder/configs"
	"larder/httpapi/auth"
	"larder/internal/client"
)

// completionLimit bounds what a shell waits for when the running larder is
// asked for its restaurants.
const completionLimit = time.Second

// prepare does for a command and those below it what they have in common: they take
// no arguments where nothing else is said, and the shell completes their flags and
// arguments. No file is offered for the others.
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
func completeRestaurants(env *Environment) cobra.CompletionFunc {
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
func knownRestaurants(cmd *cobra.Command, env *Environment, typed string) []cobra.Completion {
	if fromEnvironment(cmd, env.Environ) != nil || cmd.Flags().Lookup("url") == nil {
		return nil
	}
	ctx, cancel := context.WithTimeout(cmd.Context(), completionLimit)
	defer cancel()
	cmd.SetContext(ctx)
	daemon, err := target(cmd, env, auth.ScopeMenu)
	if err != nil {
		return nil
	}
	all, _ := client.Get[[]Restaurant](ctx, daemon, "/v1/restaurants?limit=500&q="+url.QueryEscape(typed))
	var found []cobra.Completion
	for _, r := range all {
		if strings.HasPrefix(r.ID, typed) && configs.IsRestaurantID(r.ID) {
			found = append(found, cobra.CompletionWithDesc(r.ID, Safe(strings.TrimSpace(r.Name))))
		}
	}
	return found
}
