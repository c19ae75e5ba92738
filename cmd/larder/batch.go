package main

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"strings"
	"sync"

	"golang.org/x/sync/errgroup"

	"larder/internal/menu"
	menusync "larder/sync"
)

// atOnce is how many resyncs the command asks for at a time; the daemon has a
// bound of its own.
const atOnce = 8

// batch follows one run for each of several restaurants.
type batch struct {
	w       *world
	daemon  *api
	wanted  []restaurant
	force   bool
	json    bool
	summary bool // a line at the end says how many ended how

	progress *progress
	mu       sync.Mutex
	runs     []menusync.Run // as wanted; those without outcome are not done
	done     int
}

func newBatch(w *world, daemon *api, wanted []restaurant, force, raw bool) *batch {
	return &batch{
		w: w, daemon: daemon, wanted: wanted, force: force, json: raw,
		progress: newProgress(w, len(wanted), raw), runs: make([]menusync.Run, len(wanted)),
	}
}

// run follows the runs and reports them. Where the daemon itself is gone, or
// lets nobody in, it does not ask for the rest.
func (b *batch) run(ctx context.Context) error {
	group, following := errgroup.WithContext(ctx)
	group.SetLimit(atOnce)
	for i := range b.wanted {
		group.Go(func() error {
			if err := following.Err(); err != nil {
				return err // not the first one, which counts
			}
			return b.follow(following, i)
		})
	}
	err := group.Wait()
	b.progress.stop()
	switch {
	case ctx.Err() != nil:
		return &interruptedError{fmt.Sprintf("interrupted: %d of %d done; the runs go on in the daemon", b.done, len(b.wanted))}
	case err != nil && b.done > 0:
		return fmt.Errorf("%d of %d done: %w", b.done, len(b.wanted), err)
	case err != nil:
		return err
	}
	return b.report()
}

// follow does one restaurant. Its error is the daemon's, for all of them; what
// is wrong with the restaurant stands in the run.
func (b *batch) follow(ctx context.Context, i int) error {
	id := b.wanted[i].ID
	run, err := syncOne(ctx, b.daemon, id, b.force)
	if isUnreachable(err) || refusedWith(err, http.StatusUnauthorized, http.StatusForbidden) || errors.Is(err, context.Canceled) {
		return err
	}
	if err != nil {
		run = menusync.Run{Restaurant: menu.RestaurantID(id), Outcome: menusync.OutcomeFailed, Error: err.Error(), State: menusync.StateFinished}
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	b.runs[i] = run
	b.done++
	b.progress.done(run)
	return nil
}

// isBad tells whether a run leaves a restaurant without its new menu.
func isBad(run menusync.Run) bool {
	return run.Outcome == menusync.OutcomeFailed || run.Outcome == menusync.OutcomeQuarantined
}

// interruptedError is a command that a person has ended before its end.
type interruptedError struct{ msg string }

func (e *interruptedError) Error() string { return e.msg }

func (e *interruptedError) Unwrap() error { return context.Canceled }

// report ends with what went wrong, where it is seen, and the sum of it all.
func (b *batch) report() error {
	if b.json {
		if err := printJSON(b.w.out, b.runs); err != nil {
			return err
		}
	}
	b.progress.end(b.runs)
	outcomes := map[menusync.Outcome]int{}
	for i, run := range b.runs {
		outcomes[run.Outcome]++
		if isBad(run) && !b.json {
			b.w.out.println(runLine(run, b.wanted[i].Name))
		}
	}
	if b.summary && !b.json {
		b.w.out.println(summaryOf(len(b.runs), outcomes))
	}
	if outcomes[menusync.OutcomeFailed]+outcomes[menusync.OutcomeQuarantined] > 0 {
		return errSaid()
	}
	return nil
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

// syncOne starts or joins a run and waits for its end, however long it takes.
func syncOne(ctx context.Context, daemon *api, id string, force bool) (menusync.Run, error) {
	body := fmt.Appendf(nil, `{"force":%t}`, force)
	answer, err := daemon.call(ctx, "POST", "/v1/ops/restaurants/"+url.PathEscape(id)+"/sync?wait=60s", body)
	return runOf(ctx, daemon, answer, err)
}
