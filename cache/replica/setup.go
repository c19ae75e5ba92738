package replica

import (
	"cmp"
	"context"
	"fmt"
	"maps"
	"slices"
	"time"

	"larder.local/cache"
	"larder.local/internal/menu"
	"larder.local/internal/redisdb"
)

// supersedes reports whether a version replaces the one in memory. A version of the configured source replaces any of
// another source, and never the other way round.
func (s *slots) supersedes(v cache.Version, held *cache.Snapshot) bool {
	if own := s.store.IsOwn(v); own != s.store.IsOwn(held.Version) {
		return own
	}
	return replaces(v, held.Version)
}

// isSetUp reports whether a catalogue is compiled with this instance's settings (policy S9) and what is snoozed now.
func (s *slots) isSetUp(snapshot *cache.Snapshot) bool {
	of := s.setup(snapshot.Restaurant)
	return of.Settings == snapshot.Catalogue.Settings() && cmp.Or(of.Name, snapshot.Name) == snapshot.Name &&
		maps.EqualFunc(of.snoozed, snapshot.Catalogue.Snoozes.All(), time.Time.Equal)
}

// completes reports whether a snapshot is the one in memory with this instance's settings.
func (s *slots) completes(snapshot, held *cache.Snapshot) bool {
	return snapshot.Version.Version == held.Version.Version && !replaces(snapshot.Version, held.Version) &&
		s.isSetUp(snapshot) && !s.isSetUp(held)
}

// contentKey returns the key of a version's content with this instance's settings.
func (s *slots) contentKey(v cache.Version) contentKey {
	return contentKey{hash: v.Content, settings: s.setup(v.Restaurant).Settings}
}

// compile loads a version and compiles it with this instance's settings, whatever those of its publisher are (policy
// S9), without snoozes. Then it has another body, so it counts as modified now.
func compile(ctx context.Context, r *Replica, version cache.Version) (*cache.Snapshot, error) {
	content, err := r.contents.content(ctx, r.slots.contentKey(version))
	if err != nil {
		return nil, err
	}
	of, stops := r.slots.setup(version.Restaurant), version.Stops
	use := content.Settings()
	published := use // of a version without settings: they change with its next publication
	if version.Settings != nil {
		published = *version.Settings
	}
	if use.StopListAnyValue != published.StopListAnyValue {
		if stops, err = readStops(ctx, r.store, version, use); err != nil {
			return nil, err
		}
	}
	if name := cmp.Or(of.Name, version.Name); name != version.Name || use != published {
		version.Name = name
		version.ModifiedAt = version.ModifiedAfter(r.cfg.Clock())
	}
	return &cache.Snapshot{Version: version, Catalogue: content.WithStops(stops)}, nil
}

// readStops reads the stop lists of a version with other settings.
func readStops(ctx context.Context, store *cache.Store, version cache.Version, settings menu.Settings) (menu.Stops, error) {
	published, err := store.View(ctx, version)
	if err != nil {
		return menu.Stops{}, err
	}
	body, err := published.AppendAnswer(nil)
	if err == nil {
		var view *menu.View
		if view, _, err = menu.DecodePublished(body); err == nil {
			return view.Stops(version.Restaurant, settings), nil
		}
	}
	return menu.Stops{}, fmt.Errorf("replica: stop lists of %s@%d: %w: %w", version.Restaurant, version.Version, cache.ErrCorrupt, err)
}

// Current returns the restaurant's menu for an order over a connection, with its version number: it is of the connection's
// source, and compiled with this instance's settings. Errors: cache.ErrOtherSource, those of Catalogue.
func (r *Replica) Current(
	ctx context.Context, restaurant menu.RestaurantID, connection string,
) (version int64, catalogue *menu.Catalogue, err error) {
	if r.Availability.readAt.Load() == 0 { // soon after a start
		if err := r.Availability.Read(ctx, restaurant); err != nil {
			return 0, nil, err
		}
	}
	snapshot, err := r.Catalogue(ctx, restaurant)
	if err == nil && !r.slots.isSetUp(snapshot) {
		snapshot, err = recompile(ctx, r, snapshot.Version)
	}
	if err != nil {
		return 0, nil, err
	}
	if sources := r.cfg.Sources(connection); len(sources) > 0 && !slices.Contains(sources, snapshot.Source) {
		return 0, nil, fmt.Errorf("replica: %s@%d is of %q: %w",
			restaurant, snapshot.Version.Version, snapshot.Source, cache.ErrOtherSource)
	}
	return snapshot.Version.Version, snapshot.Catalogue, nil
}

// recompile compiles the version in memory with the current settings, once for all concurrent callers.
func recompile(ctx context.Context, r *Replica, version cache.Version) (*cache.Snapshot, error) {
	restaurant := version.Restaurant
	find := func() (*cache.Snapshot, bool) {
		now, ok := r.Cached(restaurant)
		return now, ok && r.slots.isSetUp(now)
	}
	return loadOnce(ctx, r, string(restaurant)+"/settings", find, func(ctx context.Context) (*cache.Snapshot, error) {
		err := r.apply(ctx, version)
		now, ok := find()
		if err == nil && !ok { // the settings have changed again
			err = redisdb.ErrUnavailable
		}
		return now, err
	})
}

// Refresh compares restaurants with Redis and with the configuration soon, because the configuration has changed.
func (r *Replica) Refresh(restaurants ...menu.RestaurantID) {
	for _, restaurant := range restaurants {
		r.noticeQueue.add(restaurant)
		r.Availability.queue.add(restaurant)
	}
}

// logForeign logs when more menus are of another source than at the last poll.
func logForeign(r *Replica, restaurants []menu.RestaurantID) {
	var found []menu.RestaurantID
	for _, id := range restaurants {
		if now := r.slots.current(id); now != nil && !r.store.IsOwn(now.snapshot.Version) {
			found = append(found, id)
		}
	}
	if count := int64(len(found)); count > r.foreign.Swap(count) {
		r.cfg.Log.WithField("event", "menu.of_another_service").WithField("count", count).WithField("restaurant", string(found[0])).
			Warn("the menus in Redis are of another ordering service: they are served as stale, and orders are rejected until the menus " +
				"of this service are fetched; if it is the same service, set former_urls or former_client_ids of the connection")
	}
}
