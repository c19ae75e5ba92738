package cli

import (
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

	"larder/httpapi/auth"
	"larder/internal/client"
	"larder/internal/menu"
	"larder/internal/sleep"
	"larder/sync/runlog"
)

func syncCommand(env *Environment) *cobra.Command {
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
			all := BoolFlag(cmd, "all")
			switch {
			case all && len(args) > 0:
				return &usageError{"--all is every restaurant: leave out " + FirstOf(args, len(args)) + ", or --all"}
			case !all && len(args) == 0:
				return &usageError{"specify at least one restaurant, or --all"}
			}
			daemon, err := target(cmd, env, auth.ScopeOps)
			if err != nil {
				return err
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
func syncNamed(cmd *cobra.Command, env *Environment, daemon *client.Client, ids []string, body []byte) error {
	ctx := cmd.Context()
	var (
		mu   sync.Mutex
		done int
		runs = make([]runlog.Run, len(ids))
	)
	refusals := make([]error, len(ids))
	group, following := errgroup.WithContext(ctx)
	group.SetLimit(maxParallelRuns)
	for i, id := range ids {
		group.Go(func() error {
			run, err := followRun(following, daemon, http.MethodPost, client.OpsRestaurantPath(id)+"/sync?wait=60s", body)
			refusal, refused := errors.AsType[*client.Error](err)
			refused = refused && (refusal.NoToken || refusal.Status == http.StatusUnauthorized || refusal.Status == http.StatusForbidden)
			if refused || isA[*client.UnreachableError](err) || following.Err() != nil {
				return err
			}
			if err != nil {
				refusals[i] = err
				run = runlog.Run{Restaurant: menu.RestaurantID(id), Outcome: runlog.OutcomeFailed, Error: err.Error()}
			}
			mu.Lock()
			defer mu.Unlock()
			runs[i] = run
			done++
			if !AsJSON(cmd) && !hasFailed(run) {
				env.Out.Println(runLine(run, ""))
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
	err = env.Show(cmd, syncResults(cmd, runs, refusals), func() {
		outcomes := map[runlog.Outcome]int{}
		for _, run := range runs {
			outcomes[run.Outcome]++
			if hasFailed(run) {
				env.Out.Println(runLine(run, ""))
			}
		}
		if len(runs) > 1 {
			env.Out.Println(summaryOf(len(runs), outcomes))
		}
	})
	return reported(err, slices.ContainsFunc(runs, hasFailed))
}

// syncResults returns what --json prints of each restaurant: its run, or the error of a
// restaurant that has none.
func syncResults(cmd *cobra.Command, runs []runlog.Run, refusals []error) []any {
	results := make([]any, len(runs))
	for i, run := range runs {
		results[i] = run
		if refusals[i] != nil {
			id, _ := json.Marshal(run.Restaurant)
			results[i] = json.RawMessage(fmt.Appendf(nil, `{"restaurant":%s,%s`, id, errorJSON(cmd, refusals[i])[1:]))
		}
	}
	return results
}

// followRun asks for a run, or joins one, and waits for its end, however long it
// takes.
func followRun(ctx context.Context, daemon *client.Client, method, path string, body []byte) (run runlog.Run, _ error) {
	answer, err := daemon.Call(ctx, method, path, body)
	if err == nil {
		err = answer.Result(&run)
	}
	for err == nil && !run.Finished() {
		if err = sleep.For(ctx, pollInterval); err == nil {
			run, err = client.Get[runlog.Run](ctx, daemon, "/v1/ops/runs/"+url.PathEscape(run.ID))
		}
	}
	return run, err
}

// hasFailed reports whether a run leaves a restaurant without its new menu.
func hasFailed(run runlog.Run) bool {
	return run.Outcome == runlog.OutcomeFailed || run.Outcome == runlog.OutcomeQuarantined
}

// runLine is a run on one line, with the restaurant's name where it is given
// and says more than the id.
func runLine(run runlog.Run, name string) string {
	line := string(run.Restaurant)
	if name != "" && name != line {
		line += " " + name
	}
	line += "  " + string(run.Outcome)
	if run.Version > 0 {
		line += fmt.Sprintf("  version %d", run.Version)
	}
	if run.Products > 0 {
		line += "  " + Plural(run.Products, "product", "products")
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

// summaryOf is "200 restaurants: 198 unchanged, 1 failed, 1 quarantined".
func summaryOf(total int, outcomes map[runlog.Outcome]int) string {
	var parts []string
	for _, outcome := range []runlog.Outcome{
		runlog.OutcomeUpdated, runlog.OutcomeUnchanged, runlog.OutcomeHeld, runlog.OutcomeSkipped,
		runlog.OutcomeFailed, runlog.OutcomeQuarantined,
	} {
		if n := outcomes[outcome]; n > 0 {
			parts = append(parts, fmt.Sprintf("%d %s", n, outcome))
		}
	}
	return Plural(total, "restaurant", "restaurants") + ": " + strings.Join(parts, ", ")
}

const (
	// pollInterval is how often the daemon is asked how far it is.
	pollInterval = time.Second
	// maxSilence is how long the daemon may give no answer before the command gives up.
	maxSilence = 2 * time.Minute
)

// syncAll is `larder sync --all`: the daemon does the work by itself, and the
// command asks how far it is until all is done.
func syncAll(cmd *cobra.Command, env *Environment, daemon *client.Client, body []byte) error {
	ctx := cmd.Context()
	answer, err := daemon.Call(ctx, http.MethodPost, "/v1/ops/sync", body)
	if err != nil {
		return err
	}
	var batch runlog.Batch
	if err := answer.Result(&batch); err != nil {
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
		return interrupted(fmt.Sprintf("interrupted: %d of %d done; the runs go on in the daemon", batch.Done, batch.Total))
	case err != nil:
		return fmt.Errorf("%d of %d done: %w", batch.Done, batch.Total, err)
	}
	err = env.Show(cmd, result, func() { printBatch(cmd, env, batch) })
	return reported(err, batch.Failed > 0)
}

// followBatch polls a batch until it is done, and returns it as the daemon sent it last.
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

// printBatch prints what went wrong, and how many runs ended how.
func printBatch(cmd *cobra.Command, env *Environment, batch runlog.Batch) {
	names := map[string]string{}
	if len(batch.Faults) > 0 {
		// Menus may be served at another address than /v1/ops. Without names the ids have to do.
		if daemon, err := target(cmd, env, auth.ScopeMenu); err == nil {
			all, _ := Restaurants(cmd.Context(), daemon)
			for _, r := range all {
				names[r.ID] = r.Name
			}
		}
	}
	for _, run := range batch.Faults {
		env.Out.Println(runLine(run, names[string(run.Restaurant)]))
	}
	if more := batch.Failed - len(batch.Faults); more > 0 {
		env.Out.Printf("… and %d more\n", more)
	}
	env.Out.Println(summaryOf(batch.Total, batch.Outcomes))
}

// progress shows how far a sync of many restaurants is: on a terminal one line
// that is written anew, else a line for each tenth. With quiet it shows nothing.
type progress struct {
	env   *Environment
	quiet bool
	total int
	begun time.Time
	tenth int // the last one shown
}

// clearLine goes to the beginning of the terminal's line and clears it.
const clearLine = "\r\x1b[K"

func (p *progress) inPlace() bool { return p.env.Terminal && !p.env.dumb() && !p.quiet }

// show shows how many are done, and how many of these failed.
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

// clear removes the line that is written anew.
func (p *progress) clear() {
	if p.inPlace() {
		p.env.Err.Printf("%s", styled(clearLine))
	}
}

// remaining estimates from the mean pace so far how long the rest of a batch
// takes: ", 35/s, 5s left". It leaves a pace below one a second out, and is ""
// while nothing is done and when all is.
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
