package main

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"time"

	"github.com/spf13/cobra"
	"golang.org/x/oauth2"

	"larder/httpapi"
)

const (
	// leastEvery is how often a daemon may be looked at.
	leastEvery = 200 * time.Millisecond
	// lookLimit bounds one look with all its lists.
	lookLimit = 15 * time.Second
	// restFor is how much longer than a look took the pause after it is at
	// least, so that a watcher of thousands of restaurants stays a light load.
	restFor = 4
)

// watcher looks at a daemon again and again, and shows what it sees: the whole
// on a terminal, which is redrawn; else a line for each change.
type watcher struct {
	w     *world
	open  *api // readiness needs no token
	menus *api
	ops   *api // nil once it was refused
	every time.Duration
	json  bool
	draws *screen // nil: changes are told
	last  *sight
}

// watchStatus is `larder status --watch`.
func watchStatus(cmd *cobra.Command, w *world) error {
	every, _ := cmd.Flags().GetDuration("every")
	if every < leastEvery {
		return &usageError{fmt.Sprintf("--every: at least %v, not %v", leastEvery, every)}
	}
	menus, err := target(cmd, w, httpapi.ScopeMenu)
	if err != nil {
		return err
	}
	defer menus.close()
	ops, err := target(cmd, w, httpapi.ScopeOps)
	if err != nil {
		return err
	}
	defer ops.close()
	v := &watcher{w: w, open: &api{base: cmp.Or(menus.ready, menus.base), plain: menus.plain}, menus: menus, ops: ops, every: every, json: asJSON(cmd)}
	if ops.bearer == nil {
		v.ops = nil // nobody reads orders without a token
	}
	if w.size != nil && !v.json && !w.dumb() {
		v.draws = &screen{out: w.out.raw, size: w.size, colours: w.colours(cmd)}
	}
	return v.run(cmd.Context())
}

// run looks until ctx ends, which is how a watch is meant to end. A daemon that
// does not answer the first time is an error; one that goes away later is a
// change.
func (v *watcher) run(ctx context.Context) error {
	for {
		began := time.Now()
		seen, err := v.look(ctx)
		switch {
		case ctx.Err() != nil:
			return nil //nolint:nilerr // it was told to stop
		case err != nil && v.last == nil:
			return err
		case err != nil:
			seen = &sight{At: time.Now(), Status: statusAway, Reason: plain(err.Error()), Restaurants: v.last.Restaurants, Listed: v.last.Listed, Unknown: v.last.Unknown, Told: v.last.Told}
		}
		if err := v.show(seen); err != nil {
			return err
		}
		v.last = seen
		if sleep(ctx, max(v.every, restFor*time.Since(began))) != nil {
			return nil //nolint:nilerr // it was told to stop
		}
	}
}

// show draws what is seen, or tells what has changed.
func (v *watcher) show(seen *sight) error {
	if v.draws != nil {
		return v.draws.draw(v.menus.base, seen)
	}
	for _, c := range seen.since(v.last) {
		line := safe(c.String())
		if v.json {
			text, err := json.Marshal(c)
			if err != nil {
				return fmt.Errorf("print JSON: %w", err)
			}
			line = string(text)
		}
		if _, err := fmt.Fprintln(v.w.out.raw, line); err != nil {
			return err
		}
	}
	return nil
}

// look asks for everything once. Its error is that of readiness; lists that
// cannot be had are left out.
func (v *watcher) look(ctx context.Context) (*sight, error) {
	ctx, cancel := context.WithTimeout(ctx, lookLimit)
	defer cancel()
	body, _, err := readiness(ctx, v.open)
	if err != nil {
		return nil, err
	}
	seen := &sight{At: time.Now()}
	if err := seen.read(body); err != nil {
		return nil, fmt.Errorf("%w: the readiness of %s: %w", errForeignAnswer, v.open.base, err)
	}
	all, err := restaurants(ctx, v.menus)
	if err == nil {
		seen.Restaurants, seen.Listed = all, true
	}
	seen.Unknown, seen.Told = v.unknownOrders(ctx)
	return seen, nil
}

// unknownOrders lists the orders that somebody has to settle. Who is refused
// does not ask again: each try would count as one of a guesser.
func (v *watcher) unknownOrders(ctx context.Context) (orders []orderRecord, told bool) {
	if v.ops == nil {
		return nil, false
	}
	answer, err := v.ops.get(ctx, "/v1/ops/orders?state=unknown&limit=500")
	if refusedWith(err, http.StatusUnauthorized, http.StatusForbidden, http.StatusNotFound) || isDenied(err) {
		v.ops = nil
		return nil, false
	}
	if err != nil {
		return nil, false
	}
	var page struct {
		Result []orderRecord `json:"result"`
	}
	if answer.decode(&page) != nil {
		return nil, false
	}
	return page.Result, true
}

// isDenied tells whether a call was not made because there is no token for it.
func isDenied(err error) bool {
	_, denied := errors.AsType[*oauth2.RetrieveError](err)
	return denied
}
