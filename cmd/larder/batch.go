package main

import (
	"context"
	"fmt"
	"net/http"
	"strings"
	"sync"

	"golang.org/x/sync/errgroup"

	"larder/internal/menu"
	menusync "larder/sync"
)

// maxParallelRuns is how many runs the command follows at a time; the daemon has
// a limit of its own.
const maxParallelRuns = 8

// syncNamed starts or joins a run of each restaurant and prints each when it ends,
// those that went wrong last. A daemon that is gone, or refuses the client, is not
// asked for the rest.
func syncNamed(ctx context.Context, w *world, daemon *api, ids []string, force, raw bool) error {
	var (
		mu   sync.Mutex
		done int
		runs = make([]menusync.Run, len(ids))
	)
	group, following := errgroup.WithContext(ctx)
	group.SetLimit(maxParallelRuns)
	for i, id := range ids {
		group.Go(func() error {
			run, err := syncOne(following, daemon, id, force)
			if isUnreachable(err) || refusedWith(err, http.StatusUnauthorized, http.StatusForbidden) || following.Err() != nil {
				return err
			}
			if err != nil {
				run = menusync.Run{Restaurant: menu.RestaurantID(id), Outcome: menusync.OutcomeFailed, Error: err.Error(), State: menusync.StateFinished}
			}
			mu.Lock()
			defer mu.Unlock()
			runs[i] = run
			done++
			if !raw && !isBad(run) {
				w.out.println(runLine(run, ""))
			}
			return nil
		})
	}
	err := group.Wait()
	switch {
	case ctx.Err() != nil:
		return &interruptedError{fmt.Sprintf("interrupted: %d of %d done; the runs go on in the daemon", done, len(ids))}
	case err != nil && done > 0:
		return fmt.Errorf("%d of %d done: %w", done, len(ids), err)
	case err != nil:
		return err
	case raw:
		err = printJSON(w.out, runs)
	}
	outcomes, bad := map[menusync.Outcome]int{}, 0
	for _, run := range runs {
		outcomes[run.Outcome]++
		if isBad(run) {
			bad++
			if !raw {
				w.out.println(runLine(run, ""))
			}
		}
	}
	if !raw && len(runs) > 1 {
		w.out.println(summaryOf(len(runs), outcomes))
	}
	if err == nil && bad > 0 {
		err = errSaid()
	}
	return err
}

// syncOne starts or joins a run and waits for its end, however long it takes.
func syncOne(ctx context.Context, daemon *api, id string, force bool) (menusync.Run, error) {
	answer, err := daemon.call(ctx, http.MethodPost, opsPath(id)+"/sync?wait=60s", fmt.Appendf(nil, `{"force":%t}`, force))
	return runOf(ctx, daemon, answer, err)
}

// isBad reports whether a run leaves a restaurant without its new menu.
func isBad(run menusync.Run) bool {
	return run.Outcome == menusync.OutcomeFailed || run.Outcome == menusync.OutcomeQuarantined
}

// interruptedError is a command that a person has ended before its end.
type interruptedError struct{ msg string }

func (e *interruptedError) Error() string { return e.msg }

func (e *interruptedError) Unwrap() error { return context.Canceled }

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
