package main

import (
	"context"
	"errors"
	"fmt"
	"net/url"
	"time"

	"github.com/spf13/cobra"
	"golang.org/x/sync/errgroup"

	"larder/httpapi"
	"larder/internal/menu"
	menusync "larder/sync"
)

// atOnce is how many resyncs the command asks for at a time; the daemon has a
// bound of its own.
const atOnce = 8

func syncCommand(w *world) *cobra.Command {
	cmd := &cobra.Command{
		Use:   "sync [RESTAURANT…]",
		Short: "Ask the running larder to pull menus now, and follow it",
		Long: `Ask the running larder to pull the menus of restaurants from their ordering
service now, and follow the runs to their end. A run that is already in flight
is joined. Fails when a run fails or its menu is quarantined.`,
		RunE: action(func(cmd *cobra.Command, args []string) error {
			all, _ := cmd.Flags().GetBool("all")
			if all == (len(args) > 0) {
				return &usageError{"name the restaurants, or say --all"}
			}
			daemon, err := target(cmd, w, httpapi.ScopeOps)
			if err != nil {
				return err
			}
			defer daemon.close()
			ids := args
			if all {
				if ids, err = everyRestaurant(cmd, w); err != nil {
					return err
				}
			}
			force, _ := cmd.Flags().GetBool("force")
			return syncAll(cmd.Context(), daemon, w, ids, force, asJSON(cmd))
		}),
	}
	cmd.Flags().Bool("all", false, "every restaurant of the daemon")
	cmd.Flags().Bool("force", false, "skip the check whether anything changed, and the guard against menus that shrank")
	addTarget(cmd)
	addJSON(cmd)
	return cmd
}

// everyRestaurant lists the daemon's restaurants where menus are served, which
// may not be where ops are (http.ops_listen).
func everyRestaurant(cmd *cobra.Command, w *world) ([]string, error) {
	daemon, err := target(cmd, w, httpapi.ScopeMenu)
	if err != nil {
		return nil, err
	}
	defer daemon.close()
	return restaurantIDs(cmd.Context(), daemon)
}

// syncAll follows one run for each restaurant and reports them in the order given.
func syncAll(ctx context.Context, daemon *api, w *world, ids []string, force, raw bool) error {
	runs := make([]menusync.Run, len(ids))
	progress := newProgress(w, len(ids), raw)
	var group errgroup.Group
	group.SetLimit(atOnce)
	for i, id := range ids {
		group.Go(func() error {
			run, err := syncOne(ctx, daemon, id, force)
			if err != nil {
				run = menusync.Run{Restaurant: menu.RestaurantID(id), Outcome: menusync.OutcomeFailed, Error: err.Error(), State: menusync.StateFinished}
			}
			runs[i] = run
			progress.done(run)
			return nil
		})
	}
	_ = group.Wait() // what went wrong stands in the runs
	progress.end(runs)
	if raw {
		if err := printJSON(w.out, runs); err != nil {
			return err
		}
	}
	for _, run := range runs {
		if run.Outcome == menusync.OutcomeFailed || run.Outcome == menusync.OutcomeQuarantined {
			return errSaid()
		}
	}
	return nil
}

// syncOne starts or joins a run and waits for its end, however long it takes.
func syncOne(ctx context.Context, daemon *api, id string, force bool) (menusync.Run, error) {
	var run menusync.Run
	body := fmt.Appendf(nil, `{"force":%t}`, force)
	answer, err := daemon.call(ctx, "POST", "/v1/ops/restaurants/"+url.PathEscape(id)+"/sync?wait=60s", body)
	for {
		if err != nil {
			return run, err
		}
		if err := answer.result(&run); err != nil {
			return run, err
		}
		if run.Finished() {
			return run, nil
		}
		if err := sleep(ctx, time.Second); err != nil {
			return run, err
		}
		answer, err = daemon.get(ctx, "/v1/ops/runs/"+url.PathEscape(run.ID))
	}
}

// restaurant is one restaurant as the daemon lists it.
type restaurant struct {
	ID      string `json:"id"`
	Name    string `json:"name"`
	Version int64  `json:"version"`
}

// restaurants lists all of the daemon's, page by page.
func restaurants(ctx context.Context, daemon *api) ([]restaurant, error) {
	var all []restaurant
	cursor := ""
	for {
		answer, err := daemon.get(ctx, "/v1/restaurants?limit=500&cursor="+url.QueryEscape(cursor))
		if err != nil {
			return nil, err
		}
		var page struct {
			Result []restaurant `json:"result"`
			Next   *string      `json:"next"`
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

func restaurantIDs(ctx context.Context, daemon *api) ([]string, error) {
	all, err := restaurants(ctx, daemon)
	if err != nil {
		return nil, err
	}
	if len(all) == 0 {
		return nil, errors.New("the daemon has no restaurants")
	}
	ids := make([]string, 0, len(all))
	for _, r := range all {
		ids = append(ids, r.ID)
	}
	return ids, nil
}

// sleep waits, or fails as soon as ctx ends.
func sleep(ctx context.Context, d time.Duration) error {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-ctx.Done():
		return context.Cause(ctx)
	case <-timer.C:
		return nil
	}
}
