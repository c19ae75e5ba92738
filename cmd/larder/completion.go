package main

import (
	"context"
	"encoding/json"
	"net/url"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"larder/cache"
	"larder/configs"
	"larder/httpapi"
	"larder/internal/upstream"
	"larder/ordering"
)

// completionLimit bounds what a shell waits for when the running larder is
// asked for its restaurants.
const completionLimit = time.Second

// completeWords says how the shell completes flags and arguments. What is said
// nowhere here is a word of one's own: no file is offered for it.
func completeWords(cmd *cobra.Command, w *world) {
	cmd.CompletionOptions.SetDefaultShellCompDirective(cobra.ShellCompDirectiveNoFileComp)
	words := map[string][]string{
		"log-level":  {"debug", "info", "warn", "error"},
		"log-format": {"auto", "text", "json"},
		"state":      stateNames(),
		"operation":  {string(upstream.OpCreate), string(upstream.OpPay), string(upstream.OpComplete), string(upstream.OpReject)},
		"outcome":    {string(ordering.SettledDone), string(ordering.SettledNotDone), string(ordering.SettledSendAgain)},
		"hold":       {string(cache.HoldNextChange), string(cache.HoldReleased)},
	}
	files := map[string][]string{
		"config": {"yaml", "yml"}, "menu": {"json"}, "client-secret-file": nil,
	}
	own := cmd.LocalFlags()
	for name, choice := range words {
		if own.Lookup(name) != nil {
			completeFlag(cmd, name, cobra.FixedCompletions(choice, cobra.ShellCompDirectiveNoFileComp))
		}
	}
	for name, endings := range files {
		if own.Lookup(name) != nil {
			completeFlag(cmd, name, endingIn(endings))
		}
	}
	if own.Lookup("restaurant") != nil && own.Lookup("url") != nil {
		completeFlag(cmd, "restaurant", func(cmd *cobra.Command, _ []string, typed string) ([]cobra.Completion, cobra.ShellCompDirective) {
			return knownRestaurants(cmd, w, typed), cobra.ShellCompDirectiveNoFileComp
		})
	}
	switch {
	case strings.Contains(cmd.Use, "RESTAURANT"):
		cmd.ValidArgsFunction = completeRestaurants(w)
	case strings.Contains(cmd.Use, "FILE") && strings.Contains(cmd.Use, "--config"):
		// its file is the flag's
	case strings.HasSuffix(cmd.Use, "[FILE]"):
		cmd.ValidArgsFunction = endingIn([]string{"yaml", "yml"})
	case strings.Contains(cmd.Use, "FILE"):
		cmd.ValidArgsFunction = endingIn([]string{"json"})
	}
	for _, inner := range cmd.Commands() {
		completeWords(inner, w)
	}
}

// completeFlag registers how a flag's value is completed.
func completeFlag(cmd *cobra.Command, name string, complete cobra.CompletionFunc) {
	if err := cmd.RegisterFlagCompletionFunc(name, complete); err != nil {
		panic(err) // the flag is not there, or has two: a slip in this package
	}
}

// endingIn offers the files with one of the endings, and folders; without
// endings every file.
func endingIn(endings []string) cobra.CompletionFunc {
	if len(endings) == 0 {
		return cobra.FixedCompletions(nil, cobra.ShellCompDirectiveDefault)
	}
	return func(_ *cobra.Command, args []string, _ string) ([]cobra.Completion, cobra.ShellCompDirective) {
		if len(args) > 0 {
			return nil, cobra.ShellCompDirectiveNoFileComp
		}
		return endings, cobra.ShellCompDirectiveFilterFileExt
	}
}

// completeRestaurants offers the running larder's restaurants, each once; files
// too where a command takes either and no restaurant begins like that.
func completeRestaurants(w *world) cobra.CompletionFunc {
	return func(cmd *cobra.Command, args []string, typed string) ([]cobra.Completion, cobra.ShellCompDirective) {
		several := strings.Contains(cmd.Use, "…")
		if len(args) > 0 && !several {
			return nil, cobra.ShellCompDirectiveNoFileComp
		}
		found := slices.DeleteFunc(knownRestaurants(cmd, w, typed), func(known cobra.Completion) bool {
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
func knownRestaurants(cmd *cobra.Command, w *world, typed string) []cobra.Completion {
	if fromEnvironment(cmd, w.env) != nil {
		return nil
	}
	ctx, cancel := context.WithTimeout(cmd.Context(), completionLimit)
	defer cancel()
	cmd.SetContext(ctx)
	daemon, err := target(cmd, w, httpapi.ScopeMenu)
	if err != nil {
		return nil
	}
	answer, err := daemon.get(ctx, "/v1/restaurants?limit=500&q="+url.QueryEscape(typed))
	if err != nil {
		return nil
	}
	var page struct {
		Result []restaurant `json:"result"`
	}
	if json.Unmarshal(answer.body, &page) != nil {
		return nil
	}
	var found []cobra.Completion
	for _, r := range page.Result {
		if strings.HasPrefix(r.ID, typed) && configs.IsRestaurantID(r.ID) {
			found = append(found, cobra.CompletionWithDesc(r.ID, safe(strings.TrimSpace(r.Name))))
		}
	}
	return found
}
