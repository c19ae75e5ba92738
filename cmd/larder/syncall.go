package main

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"net/url"
	"time"

	"github.com/spf13/cobra"

	"larder/httpapi"
	"larder/internal/sleep"
	menusync "larder/sync"
)

const (
	// pollInterval is how often the daemon is asked how far it is.
	pollInterval = time.Second
	// maxSilence is how long the daemon may give no answer before the command gives up.
	maxSilence = 2 * time.Minute
)

// syncAll is `larder sync --all`: the daemon does the work by itself, and the
// command asks how far it is until all is done.
func syncAll(cmd *cobra.Command, env *environment, daemon *api, body []byte) error {
	ctx := cmd.Context()
	answer, err := daemon.call(ctx, http.MethodPost, "/v1/ops/sync", body)
	if err != nil {
		return err
	}
	var batch menusync.Batch
	if err := answer.result(&batch); err != nil {
		return err
	}
	if batch.Total == 0 {
		return errNoRestaurants
	}
	progress := progress{env: env, quiet: asJSON(cmd), total: batch.Total, begun: time.Now()}
	answer, err = followBatch(ctx, daemon, &batch, &progress)
	progress.clear()
	switch {
	case ctx.Err() != nil:
		return interrupted(fmt.Sprintf("interrupted: %d of %d done; the runs go on in the daemon", batch.Done, batch.Total))
	case err != nil:
		return fmt.Errorf("%d of %d done: %w", batch.Done, batch.Total, err)
	}
	var result json.RawMessage
	if err := answer.result(&result); err != nil {
		return err
	}
	err = env.show(cmd, result, func() { printBatch(cmd, env, batch) })
	return reported(err, batch.Failed > 0)
}

// followBatch polls a batch until it is done, and returns the last answer.
func followBatch(ctx context.Context, daemon *api, batch *menusync.Batch, progress *progress) (*reply, error) {
	for answered := time.Now(); ; {
		answer, err := daemon.get(ctx, "/v1/ops/sync/"+url.PathEscape(batch.ID))
		var now menusync.Batch
		if err == nil {
			err = answer.result(&now)
		}
		switch {
		case err == nil:
			answered, *batch = time.Now(), now
			progress.show(now.Done, now.Failed)
			if now.Finished() {
				return answer, nil
			}
		case refusedWith(err, http.StatusNotFound, http.StatusUnauthorized, http.StatusForbidden), time.Since(answered) > maxSilence:
			return nil, err
		}
		if err := sleep.For(ctx, pollInterval); err != nil {
			return nil, err
		}
	}
}

// printBatch prints what went wrong, and how many runs ended how.
func printBatch(cmd *cobra.Command, env *environment, batch menusync.Batch) {
	names := map[string]string{}
	if len(batch.Faults) > 0 {
		// Menus may be served at another address than /v1/ops. Without names the ids have to do.
		if daemon, err := target(cmd, env, httpapi.ScopeMenu); err == nil {
			all, _ := restaurants(cmd.Context(), daemon)
			for _, r := range all {
				names[r.ID] = r.Name
			}
		}
	}
	for _, run := range batch.Faults {
		env.out.println(runLine(run, names[string(run.Restaurant)]))
	}
	if more := batch.Failed - len(batch.Faults); more > 0 {
		env.out.printf("… and %d more\n", more)
	}
	env.out.println(summaryOf(batch.Total, batch.Outcomes))
}

// progress shows how far a sync of many restaurants is: on a terminal one line
// that is written anew, else a line for each tenth. With quiet it shows nothing.
type progress struct {
	env   *environment
	quiet bool
	total int
	begun time.Time
	tenth int // the last one shown
}

// clearLine goes to the beginning of the terminal's line and clears it.
const clearLine = "\r\x1b[K"

func (p *progress) inPlace() bool { return p.env.terminal && !p.env.dumb() && !p.quiet }

// show shows how many are done, and how many of these failed.
func (p *progress) show(done, failed int) {
	line := fmt.Sprintf("%d of %d done, %d failed%s", done, p.total, failed, remaining(done, p.total, time.Since(p.begun)))
	tenth := 10 * done / p.total
	switch {
	case p.inPlace():
		p.env.err.printf("%ssyncing: %s", styled(clearLine), line)
	case tenth > p.tenth && !p.quiet:
		p.tenth = tenth
		p.env.err.println(line)
	}
}

// clear removes the line that is written anew.
func (p *progress) clear() {
	if p.inPlace() {
		p.env.err.printf("%s", styled(clearLine))
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
