package cache

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"time"

	"github.com/sirupsen/logrus"
	"golang.org/x/sync/errgroup"

	"larder/internal/menu"
)

const (
	// firstPause and lastPause bound the wait before notices are subscribed to
	// again.
	firstPause = 100 * time.Millisecond
	lastPause  = 5 * time.Second
)

// Run keeps memory at the current versions until ctx ends: at once when a
// notice comes, and by Poll every so often, should one be lost. It first loads
// all that Redis holds. A Redis that is gone is tried again with growing
// pauses; meanwhile memory serves. Run ends when its two loops have ended.
func (r *Replica) Run(ctx context.Context) error {
	group, ctx := errgroup.WithContext(ctx)
	group.Go(func() error { r.listenAlways(ctx); return nil })
	group.Go(func() error { r.refreshAlways(ctx); return nil })
	return group.Wait()
}

// Poll is one pass: it compares the version of every restaurant with Redis and
// loads what is newer there. A content that cannot be loaded leaves its
// restaurants at the version they have. Errors: ErrUnavailable, ErrCorrupt.
func (r *Replica) Poll(ctx context.Context) error { return r.refresh(ctx, r.watched()) }

// watched are the restaurants to keep and those that are held already.
func (r *Replica) watched() []menu.RestaurantID {
	ids := append([]menu.RestaurantID(nil), r.cfg.Restaurants()...)
	seen := make(map[menu.RestaurantID]bool, len(ids))
	for _, id := range ids {
		seen[id] = true
	}
	r.seats.Range(func(key, _ any) bool {
		if id, ok := key.(menu.RestaurantID); ok && !seen[id] {
			ids = append(ids, id)
		}
		return true
	})
	return ids
}

// refresh brings the restaurants to their versions in Redis.
func (r *Replica) refresh(ctx context.Context, restaurants []menu.RestaurantID) error {
	var behind []menu.RestaurantID
	err := r.store.ask(ctx, restaurants, statusFields(), func(id menu.RestaurantID, values []any) {
		there := readStatus(values)
		here := r.seated(id)
		switch {
		case there.version == 0:
			return // Redis has lost it, or never had it: memory goes on
		case here == nil, supersedes(Version{Version: there.version, Content: there.content, SyncedAt: there.syncedAt}, here.snapshot.Version):
			behind = append(behind, id)
		case there.version == here.snapshot.Version.Version && differs(here.snapshot.Version, there):
			r.swap(&Snapshot{Version: here.snapshot.Version.with(there), Catalogue: here.snapshot.Catalogue})
		}
	})
	if err != nil {
		return err
	}
	versions, err := r.store.currents(ctx, behind)
	if err != nil {
		return err
	}
	var faults []error
	for _, found := range versions {
		if found.err != nil {
			if !errors.Is(found.err, ErrNoCatalogue) {
				faults = append(faults, found.err)
			}
			continue
		}
		if err := r.take(ctx, found.version, found.ready, false); err != nil {
			faults = append(faults, fmt.Errorf("%s: version %d: %w", found.version.Restaurant, found.version.Version, err))
		}
	}
	return errors.Join(faults...)
}

// differs tells whether a moving field of the version held differs.
func differs(held Version, there status) bool {
	moved := held.with(there)
	return !moved.CheckedAt.Equal(held.CheckedAt) || moved.LastOutcome != held.LastOutcome || moved.Hold != held.Hold ||
		moved.Published != held.Published
}

// refreshAlways polls, and loads what notices told of, one after the other.
func (r *Replica) refreshAlways(ctx context.Context) {
	ticker := time.NewTicker(r.cfg.Poll)
	defer ticker.Stop()
	r.report(ctx, r.Poll(ctx), nil)
	var last error
	for {
		var err error
		select {
		case <-ctx.Done():
			return
		case <-ticker.C:
			err = r.Poll(ctx)
		case <-r.wake:
			err = r.refresh(ctx, r.takeDirty())
		}
		r.report(ctx, err, last)
		last = err
	}
}

// report logs when refreshing begins to fail and when it works again.
func (r *Replica) report(ctx context.Context, err, last error) {
	log := r.cfg.Log.WithField("event", "replica.refresh")
	switch {
	case ctx.Err() != nil:
	case err != nil && last == nil:
		log.WithError(err).Warn("catalogues cannot be refreshed; memory goes on serving")
	case err == nil && last != nil:
		log.Info("catalogues are refreshed again")
	}
}

// listenAlways subscribes to notices, again whenever the connection is lost.
func (r *Replica) listenAlways(ctx context.Context) {
	pause := firstPause
	for ctx.Err() == nil {
		heard, err := r.listen(ctx)
		if heard {
			pause = firstPause
		}
		r.cfg.Log.WithFields(logrus.Fields{"event": "replica.notices_lost", "pause": pause.String()}).
			WithError(err).Debug("notices are lost; subscribing again")
		// Full jitter: the replicas of a Redis that restarts do not all come at once.
		timer := time.NewTimer(rand.N(pause) + time.Millisecond) //nolint:gosec // no secret
		select {
		case <-ctx.Done():
			timer.Stop()
			return
		case <-timer.C:
		}
		pause = min(2*pause, lastPause)
	}
}

// listen takes notices over one connection until it breaks or ctx ends. It
// tells whether it was ever subscribed.
func (r *Replica) listen(ctx context.Context) (heard bool, err error) {
	err = r.store.redis.Listen(ctx, r.store.keys.Notices(), func() {
		// What was published before is not told: look once.
		heard = true
		r.markDirty(r.watched()...)
	}, r.noticed)
	return heard, err
}

// noticed takes one notice: what memory does not hold yet is loaded soon.
func (r *Replica) noticed(payload string) {
	n, ok := readNotice(payload)
	if !ok {
		return
	}
	r.forgetMiss(n.restaurant)
	if now := r.seated(n.restaurant); now != nil && now.snapshot.Version.Version >= n.version {
		return
	}
	r.markDirty(n.restaurant)
}

func (r *Replica) markDirty(restaurants ...menu.RestaurantID) {
	r.dirtyMu.Lock()
	for _, id := range restaurants {
		r.dirty[id] = struct{}{}
	}
	r.dirtyMu.Unlock()
	select {
	case r.wake <- struct{}{}:
	default: // awake already
	}
}

func (r *Replica) takeDirty() []menu.RestaurantID {
	r.dirtyMu.Lock()
	defer r.dirtyMu.Unlock()
	ids := make([]menu.RestaurantID, 0, len(r.dirty))
	for id := range r.dirty {
		ids = append(ids, id)
	}
	clear(r.dirty)
	return ids
}
