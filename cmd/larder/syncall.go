package main

import (
	"bytes"
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
func syncAll(cmd *cobra.Command, w *world, daemon *api) error {
	ctx := cmd.Context()
	force, _ := cmd.Flags().GetBool("force")
	answer, err := daemon.call(ctx, http.MethodPost, "/v1/ops/sync", fmt.Appendf(nil, `{"force":%t}`, force))
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
	progress := newProgress(w, batch.Total, asJSON(cmd))
	answer, err = followBatch(ctx, daemon, &batch, progress)
	progress.stop()
	switch {
	case ctx.Err() != nil:
		return &interruptedError{fmt.Sprintf("interrupted: %d of %d done; the runs go on in the daemon", batch.Done, batch.Total)}
	case err != nil:
		return fmt.Errorf("%d of %d done: %w", batch.Done, batch.Total, err)
	case asJSON(cmd):
		var envelope struct{ Result json.RawMessage }
		if err := json.Unmarshal(bytes.TrimSpace(answer.body), &envelope); err != nil {
			return err
		}
		err = printRaw(w.out, envelope.Result)
	default:
		printBatch(cmd, w, batch)
	}
	if err == nil && batch.Failed > 0 {
		err = errSaid()
	}
	return err
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
func printBatch(cmd *cobra.Command, w *world, batch menusync.Batch) {
	names := map[string]string{}
	if len(batch.Faults) > 0 {
		// Menus may be served at another address than /v1/ops. Without names the ids have to do.
		if daemon, err := target(cmd, w, httpapi.ScopeMenu); err == nil {
			all, _ := restaurants(cmd.Context(), daemon)
			daemon.close()
			for _, r := range all {
				names[r.ID] = r.Name
			}
		}
	}
	for _, run := range batch.Faults {
		w.out.println(runLine(run, names[string(run.Restaurant)]))
	}
	if more := batch.Failed - len(batch.Faults); more > 0 {
		w.out.printf("… and %d more\n", more)
	}
	w.out.println(summaryOf(batch.Total, batch.Outcomes))
}
