package main

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"net/url"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"larder/httpapi"
	menusync "larder/sync"
)

func syncCommand(w *world) *cobra.Command {
	cmd := &cobra.Command{
		Use:   "sync [RESTAURANT…]",
		Short: "Ask the running larder to pull menus now, and follow it",
		Long: `Ask the running larder to pull the menus of restaurants from their ordering
service now, and follow the runs to their end. A run that is already in flight
is joined. Fails when a run fails or its menu is quarantined.

With --all the daemon does the work by itself, and goes on when this command is
interrupted; what went wrong is listed at the end.`,
		RunE: action(func(cmd *cobra.Command, args []string) error {
			all, _ := cmd.Flags().GetBool("all")
			switch {
			case all && len(args) > 0:
				return &usageError{"--all is every restaurant: leave out " + firstOf(args, len(args)) + ", or --all"}
			case !all && len(args) == 0:
				return &usageError{"specify at least one restaurant, or --all"}
			}
			daemon, err := target(cmd, w, httpapi.ScopeOps)
			if err != nil {
				return err
			}
			defer daemon.close()
			if all {
				return syncAll(cmd, w, daemon)
			}
			force, _ := cmd.Flags().GetBool("force")
			var ids []string
			for _, id := range args {
				if !slices.Contains(ids, id) {
					ids = append(ids, id)
				}
			}
			return syncNamed(cmd.Context(), w, daemon, ids, force, asJSON(cmd))
		}),
	}
	cmd.Flags().Bool("all", false, "every restaurant of the daemon")
	cmd.Flags().Bool("force", false, "skip the check whether anything changed, and the guard against menus that shrank")
	addTarget(cmd)
	addJSON(cmd)
	return cmd
}

// restaurant is one restaurant as the daemon lists it.
type restaurant struct {
	ID          string `json:"id"`
	Name        string `json:"name"`
	Version     int64  `json:"version"`
	Stale       bool   `json:"stale"`
	Held        bool   `json:"held"`
	LastOutcome string `json:"lastOutcome"`
}

// problems are what is not as it should be with a restaurant.
func (r *restaurant) problems() []string {
	var all []string
	switch {
	case r.Version == 0:
		all = append(all, "no menu")
	case r.LastOutcome == string(menusync.OutcomeFailed) || r.LastOutcome == string(menusync.OutcomeQuarantined):
		all = append(all, r.LastOutcome)
	}
	if r.Stale && r.Version > 0 {
		all = append(all, "stale")
	}
	if r.Held {
		all = append(all, "held")
	}
	return all
}

// state is the restaurant's version and its problems, on one line.
func (r *restaurant) state() string {
	all := r.problems()
	if r.Version > 0 {
		all = append([]string{fmt.Sprintf("version %d", r.Version)}, all...)
	}
	return strings.Join(all, ", ")
}

// summaryOfStates is "120 restaurants, 118 ok, 1 failed, 2 stale".
func summaryOfStates(all []restaurant) string {
	counts, healthy := map[string]int{}, 0
	for i := range all {
		problems := all[i].problems()
		if len(problems) == 0 {
			healthy++
		}
		for _, problem := range problems {
			counts[problem]++
		}
	}
	parts := []string{plural(len(all), "restaurant", "restaurants"), fmt.Sprintf("%d ok", healthy)}
	for _, problem := range slices.Sorted(maps.Keys(counts)) {
		parts = append(parts, fmt.Sprintf("%d %s", counts[problem], problem))
	}
	return strings.Join(parts, ", ")
}

// restaurants lists all of the daemon's, page by page.
func restaurants(ctx context.Context, daemon *api) ([]restaurant, error) {
	return everyPage[restaurant](ctx, daemon, "/v1/restaurants?limit=500")
}

// everyPage reads a whole list of the daemon; path has its limit.
func everyPage[T any](ctx context.Context, daemon *api, path string) ([]T, error) {
	all := []T{}
	cursor := ""
	for {
		answer, err := daemon.get(ctx, path+"&cursor="+url.QueryEscape(cursor))
		if err != nil {
			return nil, err
		}
		var page struct {
			Result []T     `json:"result"`
			Next   *string `json:"next"`
		}
		if err := answer.decode(&page); err != nil {
			return nil, err
		}
		all = append(all, page.Result...)
		if page.Next == nil {
			return all, nil
		}
		cursor = *page.Next
	}
}

var errNoRestaurants = errors.New("the daemon has no restaurants")

// someRestaurants is restaurants where there must be one.
func someRestaurants(ctx context.Context, daemon *api) ([]restaurant, error) {
	all, err := restaurants(ctx, daemon)
	if err == nil && len(all) == 0 {
		err = errNoRestaurants
	}
	return all, err
}
