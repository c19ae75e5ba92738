package main

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/spf13/cobra"
	"golang.org/x/sync/errgroup"

	"larder/httpapi"
	"larder/internal/menu"
	"larder/internal/sleep"
	menusync "larder/sync"
)

func syncCommand(env *environment) *cobra.Command {
	cmd := &cobra.Command{
		Use:   "sync [RESTAURANT…]",
		Short: "Ask the running larder to pull menus now, and follow it",
		Long: `Ask the running larder to pull the menus of restaurants from their ordering
service now, and follow the runs to their end. A run that is already in flight
is joined. Fails when a run fails or its menu is quarantined.

With --all the daemon does the work by itself, and goes on when this command is
interrupted; what went wrong is listed at the end.`,
		Args: cobra.ArbitraryArgs,
		RunE: func(cmd *cobra.Command, args []string) error {
			all := boolFlag(cmd, "all")
			switch {
			case all && len(args) > 0:
				return &usageError{"--all is every restaurant: leave out " + firstOf(args, len(args)) + ", or --all"}
			case !all && len(args) == 0:
				return &usageError{"specify at least one restaurant, or --all"}
			}
			daemon, err := target(cmd, env, httpapi.ScopeOps)
			if err != nil {
				return err
			}
			body := fmt.Appendf(nil, `{"force":%t}`, boolFlag(cmd, "force"))
			if all {
				return syncAll(cmd, env, daemon, body)
			}
			var ids []string
			for _, id := range args {
				if !slices.Contains(ids, id) {
					ids = append(ids, id)
				}
			}
			return syncNamed(cmd.Context(), env, daemon, ids, body, asJSON(cmd))
		},
	}
	cmd.Flags().Bool("all", false, "every restaurant of the daemon")
	cmd.Flags().Bool("force", false, "skip the check whether anything changed, and the guard against menus that shrank")
	addTarget(cmd)
	return cmd
}

// maxParallelRuns is how many runs the command follows at a time; the daemon has
// a limit of its own.
const maxParallelRuns = 8

// syncNamed starts or joins a run of each restaurant and prints each when it ends,
// those that went wrong last. A daemon that is gone, or refuses the client, is not
// asked for the rest.
func syncNamed(ctx context.Context, env *environment, daemon *api, ids []string, body []byte, raw bool) error {
	var (
		mu   sync.Mutex
		done int
		runs = make([]menusync.Run, len(ids))
	)
	group, following := errgroup.WithContext(ctx)
	group.SetLimit(maxParallelRuns)
	for i, id := range ids {
		group.Go(func() error {
			run, err := followRun(following, daemon, http.MethodPost, opsPath(id)+"/sync?wait=60s", body)
			if isA[*unreachableError](err) || refusedWith(err, http.StatusUnauthorized, http.StatusForbidden) || following.Err() != nil {
				return err
			}
			if err != nil {
				run = menusync.Run{
					Restaurant: menu.RestaurantID(id), Outcome: menusync.OutcomeFailed, Error: err.Error(), State: menusync.StateFinished,
				}
			}
			mu.Lock()
			defer mu.Unlock()
			runs[i] = run
			done++
			if !raw && !hasFailed(run) {
				env.out.println(runLine(run, ""))
			}
			return nil
		})
	}
	err := group.Wait()
	switch {
	case ctx.Err() != nil:
		return interrupted(fmt.Sprintf("interrupted: %d of %d done; the runs go on in the daemon", done, len(ids)))
	case err != nil && done > 0:
		return fmt.Errorf("%d of %d done: %w", done, len(ids), err)
	case err != nil:
		return err
	}
	outcomes := map[menusync.Outcome]int{}
	for _, run := range runs {
		outcomes[run.Outcome]++
		if hasFailed(run) && !raw {
			env.out.println(runLine(run, ""))
		}
	}
	switch {
	case raw:
		err = printJSON(env.out, runs)
	case len(runs) > 1:
		env.out.println(summaryOf(len(runs), outcomes))
	}
	return reported(err, slices.ContainsFunc(runs, hasFailed))
}

// followRun asks for a run, or joins one, and waits for its end, however long it
// takes.
func followRun(ctx context.Context, daemon *api, method, path string, body []byte) (run menusync.Run, _ error) {
	answer, err := daemon.call(ctx, method, path, body)
	for {
		if err == nil {
			err = answer.result(&run)
		}
		if err != nil || run.Finished() {
			return run, err
		}
		if err := sleep.For(ctx, time.Second); err != nil {
			return run, err
		}
		answer, err = daemon.get(ctx, "/v1/ops/runs/"+url.PathEscape(run.ID))
	}
}

// hasFailed reports whether a run leaves a restaurant without its new menu.
func hasFailed(run menusync.Run) bool {
	return run.Outcome == menusync.OutcomeFailed || run.Outcome == menusync.OutcomeQuarantined
}

// runLine is a run on one line, with the restaurant's name where it is given
// and says more than the id.
func runLine(run menusync.Run, name string) string {
	line := string(run.Restaurant)
	if name != "" && name != line {
		line += " " + name
	}
	line += "  " + string(run.Outcome)
	if run.Version > 0 {
		line += fmt.Sprintf("  version %d", run.Version)
	}
	if run.Products > 0 {
		line += "  " + plural(run.Products, "product", "products")
	}
	if c := run.Changes; c != (menusync.Changes{}) {
		line += fmt.Sprintf("  +%d −%d ~%d", c.Added, c.Removed, c.Changed)
	}
	if run.Findings > 0 {
		line += "  " + plural(run.Findings, "lint finding", "lint findings")
	}
	if total := run.Steps.Fetch + run.Steps.Decode + run.Steps.Lint + run.Steps.Compile + run.Steps.Publish; total > 0 {
		line += fmt.Sprintf("  %.1f ms", total)
	}
	if run.Error != "" {
		line += "  " + run.Error
	}
	return line
}

// summaryOf is "200 restaurants: 198 unchanged, 1 failed, 1 quarantined".
func summaryOf(total int, outcomes map[menusync.Outcome]int) string {
	var parts []string
	for _, outcome := range []menusync.Outcome{
		menusync.OutcomeUpdated, menusync.OutcomeUnchanged, menusync.OutcomeHeld, menusync.OutcomeSkipped,
		menusync.OutcomeFailed, menusync.OutcomeQuarantined,
	} {
		if n := outcomes[outcome]; n > 0 {
			parts = append(parts, fmt.Sprintf("%d %s", n, outcome))
		}
	}
	return plural(total, "restaurant", "restaurants") + ": " + strings.Join(parts, ", ")
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

var errNoRestaurants = errors.New("the daemon has no restaurants")

// restaurants lists all of the daemon's, page by page.
func restaurants(ctx context.Context, daemon *api) ([]restaurant, error) {
	return everyPage[restaurant](ctx, daemon, "/v1/restaurants?limit=500")
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
