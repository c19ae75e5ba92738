package cli

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/spf13/cobra"
	"golang.org/x/sync/errgroup"

	"larder.local/cmd/larder/client"
	"larder.local/httpapi/auth"
	"larder.local/internal/menu"
	"larder.local/internal/sleep"
	"larder.local/sync/runlog"
)

func syncCommand(env *Environment) *cobra.Command {
	cmd := daemonCommand("larder", "sync [RESTAURANT…]", func(cmd *cobra.Command, args []string) error {
		all := BoolFlag(cmd, "all")
		switch {
		case all && len(args) > 0:
			return &usageError{"--all selects every restaurant: leave out " + FirstOf(args, len(args)) + ", or --all"}
		case !all && len(args) == 0:
			return &usageError{"specify at least one restaurant, or --all"}
		}
		daemon := target(cmd, env, auth.ScopeOps)
		if daemon.Err != nil {
			return daemon.Err
		}
		body := fmt.Appendf(nil, `{"force":%t}`, BoolFlag(cmd, "force"))
		if all {
			return syncAll(cmd, env, daemon, body)
		}
		var ids []string
		for _, id := range args {
			if !slices.Contains(ids, id) {
				ids = append(ids, id)
			}
		}
		return syncNamed(cmd, env, daemon, ids, body)
	})
	cmd.Flags().Bool("all", false, "all restaurants of the daemon")
	cmd.Flags().Bool("force", false, "skip the comparison with the last fetch and, without --all, the guard that quarantines menus")
	return cmd
}

// maxParallelRuns limits the runs that the command follows at the same time.
const maxParallelRuns = 8

// syncNamed starts or joins a run of each restaurant and prints its result, failed
// runs last. It stops if the daemon is unreachable or rejects the client.
func syncNamed(cmd *cobra.Command, env *Environment, daemon *client.Client, ids []string, body []byte) error {
	ctx := cmd.Context()
	var mu sync.Mutex
	done, runs, results := 0, make([]runlog.Run, len(ids)), make([]any, len(ids)) // results: for --json
	labels := labelsOf(cmd, env)
	group, following := errgroup.WithContext(ctx)
	group.SetLimit(maxParallelRuns)
	for i, id := range ids {
		group.Go(func() error {
			run, err := followRun(following, daemon, http.MethodPost, id, "/sync?wait=60s", body)
			refusal, refused := errors.AsType[*client.Error](err)
			refused = refused && (refusal.NoToken || refusal.Status == http.StatusUnauthorized || refusal.Status == http.StatusForbidden)
			if refused || isA[*client.UnreachableError](err) || following.Err() != nil {
				return err
			}
			var result any = run
			if err != nil { // there is no run
				run = runlog.Run{Restaurant: menu.RestaurantID(id), Outcome: runlog.OutcomeFailed, Error: err.Error()}
				name, _ := json.Marshal(id)
				result = json.RawMessage(fmt.Appendf(nil, `{"restaurant":%s,%s`, name, errorJSON(cmd, err)[1:]))
			}
			mu.Lock()
			defer mu.Unlock()
			runs[i], results[i] = run, result
			done++
			if !AsJSON(cmd) && !hasFailed(run) {
				env.Out.Println(runLine(run, labels))
			}
			return nil
		})
	}
	err := group.Wait()
	switch {
	case ctx.Err() != nil:
		return interrupted(fmt.Sprintf("interrupted: %d of %d done; the runs continue in the daemon", done, len(ids)))
	case err != nil && done > 0:
		return fmt.Errorf("%d of %d done: %w", done, len(ids), err)
	case err != nil:
		return err
	}
	err = env.Show(cmd, results, func() {
		outcomes := map[runlog.Outcome]int{}
		for _, run := range runs {
			outcomes[run.Outcome]++
			if hasFailed(run) {
				env.Out.Println(runLine(run, labels))
			}
		}
		if len(runs) > 1 {
			env.Out.Println(summaryOf(len(runs), outcomes))
		}
	})
	return reported(err, slices.ContainsFunc(runs, hasFailed))
}

// followRun starts or joins a run at a path below that of a restaurant, and waits for its end without a timeout.
func followRun(
	ctx context.Context, daemon *client.Client, method, restaurant, path string, body []byte,
) (runlog.Run, error) {
	run, err := atRestaurant(ctx, daemon, restaurant, func(id string) (runlog.Run, error) {
		return client.Send[runlog.Run](ctx, daemon, method, client.OpsRestaurantPath(id)+path, body)
	})
	for err == nil && !run.Finished() {
		if err = sleep.For(ctx, pollInterval); err == nil {
			run, err = client.Get[runlog.Run](ctx, daemon, "/v1/ops/runs/"+url.PathEscape(run.ID))
		}
	}
	return run, err
}

// hasFailed reports whether a run failed, did not ask the ordering service, or its menu was quarantined.
func hasFailed(run runlog.Run) bool {
	return slices.Contains([]runlog.Outcome{runlog.OutcomeFailed, runlog.OutcomeWaiting, runlog.OutcomeQuarantined}, run.Outcome)
}

// labelsOf returns the labels of the restaurants by id. If menus are served at another address than
// /v1/ops, or the list takes too long, it returns nil.
func labelsOf(cmd *cobra.Command, env *Environment) map[string]string {
	if AsJSON(cmd) {
		return nil
	}
	all, _ := restaurantsSoon(cmd.Context(), target(cmd, env, auth.ScopeMenu))
	labels := make(map[string]string, len(all))
	for i := range all {
		labels[all[i].ID] = all[i].label()
	}
	return labels
}

// runLine describes a run on one line, with the label of its restaurant.
func runLine(run runlog.Run, labels map[string]string) string {
	id := string(run.Restaurant)
	line := cmp.Or(labels[id], id) + "  " + string(run.Outcome)
	if run.Version > 0 {
		line += fmt.Sprintf("  version %d", run.Version)
	}
	if run.Products > 0 {
		line += "  " + Plural(run.Products, "dish", "dishes")
	}
	if c := run.Changes; c != (runlog.Changes{}) {
		line += fmt.Sprintf("  +%d −%d ~%d", c.Added, c.Removed, c.Changed)
	}
	if run.Findings > 0 {
		line += "  " + Plural(run.Findings, "lint finding", "lint findings")
	}
	if total := run.Steps.Fetch + run.Steps.Decode + run.Steps.Lint + run.Steps.Compile + run.Steps.Publish; total > 0 {
		line += fmt.Sprintf("  %.1f ms", total)
	}
	return line + labelled("  ", run.Error)
}

// summaryOf returns "200 restaurants: 198 unchanged, 1 failed, 1 quarantined".
func summaryOf(total int, outcomes map[runlog.Outcome]int) string {
	var parts []string
	for _, outcome := range []runlog.Outcome{
		runlog.OutcomeUpdated, runlog.OutcomeUnchanged, runlog.OutcomeHeld, runlog.OutcomeSkipped,
		runlog.OutcomeWaiting, runlog.OutcomeFailed, runlog.OutcomeQuarantined,
	} {
		if n := outcomes[outcome]; n > 0 {
			parts = append(parts, fmt.Sprintf("%d %s", n, outcome))
		}
	}
	return Plural(total, "restaurant", "restaurants") + ": " + strings.Join(parts, ", ")
}

const (
	// pollInterval is the interval between requests for progress.
	pollInterval = time.Second
	// maxSilence is the time without a response after which the command fails.
	maxSilence = 2 * time.Minute
)

// syncAll runs `larder sync --all`: it starts a batch and polls its progress.
func syncAll(cmd *cobra.Command, env *Environment, daemon *client.Client, body []byte) error {
	ctx := cmd.Context()
	batch, err := client.Send[runlog.Batch](ctx, daemon, http.MethodPost, "/v1/ops/sync", body)
	if err != nil {
		return err
	}
	if batch.Total == 0 {
		return errNoRestaurants
	}
	progress := progress{env: env, quiet: AsJSON(cmd), total: batch.Total, begun: time.Now()}
	result, err := followBatch(ctx, daemon, &batch, &progress)
	progress.clear()
	switch {
	case ctx.Err() != nil:
		return interrupted(fmt.Sprintf("interrupted: %d of %d done; the runs continue in the daemon", batch.Done, batch.Total))
	case err != nil:
		return fmt.Errorf("%d of %d done: %w", batch.Done, batch.Total, err)
	}
	err = env.Show(cmd, result, func() { printBatch(cmd, env, batch) })
	return reported(err, batch.Failed > 0 || batch.Outcomes[runlog.OutcomeWaiting] > 0)
}

// followBatch polls a batch until it is done, and returns the last response.
func followBatch(ctx context.Context, daemon *client.Client, batch *runlog.Batch, progress *progress) (json.RawMessage, error) {
	for answered := time.Now(); ; {
		result, err := client.Get[json.RawMessage](ctx, daemon, "/v1/ops/sync/"+url.PathEscape(batch.ID))
		var now runlog.Batch
		if err == nil {
			err = (&client.Reply{Body: result}).Decode(&now)
		}
		switch {
		case err == nil:
			answered, *batch = time.Now(), now
			progress.show(now.Done, now.Failed)
			if now.Finished() {
				return result, nil
			}
		case client.RefusedWith(err, http.StatusNotFound, http.StatusUnauthorized, http.StatusForbidden), time.Since(answered) > maxSilence:
			return nil, err
		}
		if err := sleep.For(ctx, pollInterval); err != nil {
			return nil, err
		}
	}
}

// printBatch prints the failed runs and the number of runs by outcome.
func printBatch(cmd *cobra.Command, env *Environment, batch runlog.Batch) {
	var labels map[string]string
	if len(batch.Faults) > 0 {
		labels = labelsOf(cmd, env)
	}
	for _, run := range batch.Faults {
		env.Out.Println(runLine(run, labels))
	}
	if more := batch.Failed - len(batch.Faults); more > 0 {
		env.Out.Printf("… and %d more\n", more)
	}
	env.Out.Println(summaryOf(batch.Total, batch.Outcomes))
}

// progress prints the progress of a batch: on a terminal one line that it updates,
// otherwise a line for each tenth. With quiet it prints nothing.
type progress struct {
	env   *Environment
	quiet bool
	total int
	begun time.Time
	tenth int // the last printed one
}

// clearLine moves to the start of the terminal's line and clears it.
const clearLine = "\r\x1b[K"

func (p *progress) inPlace() bool { return p.env.Terminal && !p.env.dumb() && !p.quiet }

// show prints how many runs are done, and how many of these failed.
func (p *progress) show(done, failed int) {
	line := fmt.Sprintf("%d of %d done, %d failed%s", done, p.total, failed, remaining(done, p.total, time.Since(p.begun)))
	tenth := 10 * done / p.total
	switch {
	case p.inPlace():
		p.env.Err.Printf("%ssyncing: %s", styled(clearLine), line)
	case tenth > p.tenth && !p.quiet:
		p.tenth = tenth
		p.env.Err.Println(line)
	}
}

// clear removes the line of progress.
func (p *progress) clear() {
	if p.inPlace() {
		p.env.Err.Printf("%s", styled(clearLine))
	}
}

// remaining estimates the remaining time of a batch from the mean rate so far: ", 35/s, 5s left".
// It omits a rate below one per second. It returns "" at the start and at the end.
func remaining(done, total int, passed time.Duration) string {
	if done <= 0 || done >= total || passed <= 0 {
		return ""
	}
	pace := float64(done) / passed.Seconds()
	rest := time.Duration(float64(total-done) / pace * float64(time.Second))
	if pace < 1 {
		return fmt.Sprintf(", %v left", rest.Round(time.Second))
	}
	return fmt.Sprintf(", %.0f/s, %v left", pace, rest.Round(time.Second))
}
