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
	"golang.org/x/sync/errgroup"

	"larder/httpapi"
	menusync "larder/sync"
)

const (
	// eventsWithin is how long the daemon may take to begin its events; without
	// them it is asked again and again instead.
	eventsWithin = 5 * time.Second
	// calmPoll is how often the daemon is asked although it tells by itself;
	// quickPoll how often while it does not.
	calmPoll  = 15 * time.Second
	quickPoll = time.Second
	// pollWithin is how long there may be no answer, before following is given up.
	pollWithin = 2 * time.Minute
)

// everything follows a sync of every restaurant, which the daemon does by
// itself: one request, and one stream of events on how far it is.
type everything struct {
	w        *world
	daemon   *api
	names    func(ctx context.Context) []restaurant // for the lines of what went wrong
	force    bool
	json     bool
	poll     time.Duration // quickPoll, but for tests
	progress *progress
	last     menusync.Progress
}

// syncEverything is `larder sync --all`.
func syncEverything(cmd *cobra.Command, w *world, daemon *api) error {
	force, _ := cmd.Flags().GetBool("force")
	e := &everything{w: w, daemon: daemon, force: force, json: asJSON(cmd), poll: quickPoll}
	e.names = func(context.Context) []restaurant {
		all, _ := everyRestaurant(cmd, w) //nolint:contextcheck // the command has its own; ids alone must do then
		return all
	}
	return e.run(cmd.Context())
}

// everyRestaurant lists the daemon's restaurants where menus are served, which
// may not be where ops are (http.ops_listen).
func everyRestaurant(cmd *cobra.Command, w *world) ([]restaurant, error) {
	daemon, err := target(cmd, w, httpapi.ScopeMenu)
	if err != nil {
		return nil, err
	}
	defer daemon.close()
	return restaurants(cmd.Context(), daemon)
}

func (e *everything) run(ctx context.Context) error {
	within, done := context.WithCancel(ctx)
	defer done()
	events, err := e.listen(within)
	if err != nil {
		return e.interrupted(ctx, err)
	}
	var group errgroup.Group
	news := make(chan menusync.Progress, 1)
	group.Go(func() error {
		defer close(news)
		if events != nil {
			defer events.close()
			e.hear(within, events, news)
		}
		return nil
	})
	err = e.start(ctx)
	if err == nil {
		err = e.follow(ctx, news)
		e.progress.stop()
	}
	done()
	_ = group.Wait() // its function has no error
	if err != nil {
		return e.interrupted(ctx, err)
	}
	return e.report(ctx)
}

// listen opens the daemon's events; nil where it gives none. Who is let in
// nowhere, or reaches nobody, need not ask for more.
func (e *everything) listen(ctx context.Context) (*eventStream, error) {
	events, err := e.daemon.events(ctx, "/v1/ops/events")
	if isUnreachable(err) || refusedWith(err, http.StatusUnauthorized, http.StatusForbidden) {
		return nil, err
	}
	if err != nil {
		return nil, nil //nolint:nilnil,nilerr // an older daemon, or one with too many readers: it is polled
	}
	// What is told before the first event is not told again later.
	timer := time.AfterFunc(eventsWithin, events.close)
	_, _, err = events.next()
	if !timer.Stop() || err != nil {
		events.close()
		return nil, nil //nolint:nilnil,nilerr // as above
	}
	return events, nil
}

// start asks for the sync.
func (e *everything) start(ctx context.Context) error {
	answer, err := e.daemon.call(ctx, http.MethodPost, "/v1/ops/sync", fmt.Appendf(nil, `{"force":%t}`, e.force))
	if err != nil {
		return err
	}
	if err := answer.result(&e.last); err != nil {
		return err
	}
	if e.last.Total == 0 {
		return errNoRestaurants
	}
	e.progress = newProgress(e.w, e.last.Total, e.json)
	return nil
}

// hear passes on the newest word of progress, until the stream ends.
func (e *everything) hear(ctx context.Context, events *eventStream, news chan menusync.Progress) {
	for {
		name, data, err := events.next()
		if err != nil {
			return
		}
		var told menusync.Progress
		if name != menusync.NoticeProgress || json.Unmarshal(data, &told) != nil {
			continue
		}
		select {
		case <-news: // an older word, of this or of another's sync
		default:
		}
		select {
		case news <- told:
		case <-ctx.Done():
			return
		}
	}
}

// follow shows how far the sync is until it is done. It asks now and then, and
// often where nobody tells.
func (e *everything) follow(ctx context.Context, news <-chan menusync.Progress) error {
	answered, every := time.Now(), calmPoll
	timer := time.NewTimer(every)
	defer timer.Stop()
	for e.last.Done < e.last.Total {
		select {
		case <-ctx.Done():
			return ctx.Err()
		case told, open := <-news:
			if !open {
				news, every = nil, e.poll
				timer.Reset(every)
				continue
			}
			e.note(told)
			continue
		case <-timer.C:
		}
		batch, err := e.batch(ctx)
		switch {
		case err == nil:
			answered = time.Now()
			e.note(menusync.Progress{Batch: batch.ID, Done: batch.Done, Failed: batch.Failed, Total: batch.Total})
		case refusedWith(err, http.StatusNotFound, http.StatusUnauthorized, http.StatusForbidden), time.Since(answered) > pollWithin:
			return err
		}
		timer.Reset(every)
	}
	return nil
}

// note takes a word of progress, which may be late or of another sync.
func (e *everything) note(told menusync.Progress) {
	if told.Batch == e.last.Batch && told.Done > e.last.Done {
		e.last = told
		e.progress.at(told)
	}
}

func (e *everything) batch(ctx context.Context) (batch menusync.Batch, err error) {
	answer, err := e.ask(ctx)
	if err == nil {
		err = answer.result(&batch)
	}
	return batch, err
}

func (e *everything) ask(ctx context.Context) (*reply, error) {
	return e.daemon.get(ctx, "/v1/ops/sync/"+url.PathEscape(e.last.Batch))
}

// report ends with what went wrong, where it is seen, and the sum of it all.
func (e *everything) report(ctx context.Context) error {
	answer, err := e.ask(ctx)
	if err != nil {
		return e.interrupted(ctx, err)
	}
	var batch menusync.Batch
	if err := answer.result(&batch); err != nil {
		return err
	}
	if e.json {
		var envelope struct{ Result json.RawMessage }
		if err := json.Unmarshal(bytes.TrimSpace(answer.body), &envelope); err != nil {
			return err
		}
		if err := printRaw(e.w.out, envelope.Result); err != nil {
			return err
		}
	} else {
		e.print(ctx, batch)
	}
	if batch.Failed > 0 {
		return errSaid()
	}
	return nil
}

func (e *everything) print(ctx context.Context, batch menusync.Batch) {
	names := map[string]string{}
	if len(batch.Faults) > 0 {
		for _, r := range e.names(ctx) {
			names[r.ID] = r.Name
		}
	}
	for _, run := range batch.Faults {
		e.w.out.println(runLine(run, names[string(run.Restaurant)]))
	}
	if more := batch.Failed - len(batch.Faults); more > 0 {
		e.w.out.printf("… and %d more\n", more)
	}
	e.w.out.println(summaryOf(batch.Total, batch.Outcomes))
}

// interrupted says how far the sync was that is no longer followed. It goes on
// in the daemon.
func (e *everything) interrupted(ctx context.Context, err error) error {
	switch {
	case e.last.Total == 0: // not even asked for, as far as is known
		return err
	case ctx.Err() != nil:
		return &interruptedError{fmt.Sprintf("interrupted: %d of %d done; the runs go on in the daemon", e.last.Done, e.last.Total)}
	default:
		return fmt.Errorf("%d of %d done: %w", e.last.Done, e.last.Total, err)
	}
}
