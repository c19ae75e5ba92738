package replica

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"larder.local/cache"
	"larder.local/cache/encoded"
	"larder.local/internal/menu"
)

type changesBody struct {
	Result struct {
		From int64 `json:"from"`
		To   int64 `json:"to"`
		menu.Changes
	} `json:"result"`
}

// Changes returns the body of GET …/changes: the diff between version since and the snapshot's version.
// The history contains only the last version of each content. Version since must be in the history, or it was
// replaced within the last ten minutes (policy S7).
//
// The first request for two versions loads the older one from Redis and compares both: O(size of both).
// Concurrent callers share this work. The body stays in the Replica's memory until it is evicted.
// If ctx ends, only this caller stops waiting. Errors: cache.ErrVersionGone, redisdb.ErrUnavailable,
// cache.ErrCorrupt, the error of ctx. A version is gone if it is not stored, is above the snapshot's
// version, or is not above the floor (policy S2a): such a number may have been used twice.
func (r *Replica) Changes(ctx context.Context, snap *cache.Snapshot, since int64, enc encoded.Encoding) (*encoded.Representation, error) {
	if since > snap.Version.Version {
		r.noticeQueue.add(snap.Restaurant) // another instance may be ahead
		return nil, fmt.Errorf("replica: changes of %s since %d: version %d is current: %w",
			snap.Restaurant, since, snap.Version.Version, cache.ErrVersionGone)
	}
	if since <= snap.Floor {
		return nil, fmt.Errorf("replica: changes of %s since %d: Redis lost versions up to %d: %w",
			snap.Restaurant, since, snap.Floor, cache.ErrVersionGone)
	}
	key := bodyKey(snap, encoded.ChangesOnly, enc)
	key.Since = since
	return r.loadBody(ctx, key, func(ctx context.Context) (*encoded.Representation, error) {
		ready, err := r.diffBody(ctx, snap, since, enc)
		if err == nil {
			r.bodies.Set(key, ready)
		}
		return ready, err
	})
}

func (r *Replica) diffBody(ctx context.Context, snap *cache.Snapshot, since int64, enc encoded.Encoding) (*encoded.Representation, error) {
	if enc != encoded.Identity { // compress the uncompressed body: the versions are compared once for all encodings
		plain, err := r.Changes(ctx, snap, since, encoded.Identity)
		if err != nil {
			return nil, err
		}
		return r.encoder.Represent(snap.Version.Version, plain.Body, enc)
	}
	from, err := menu.Unsnoozed(snap.Catalogue), error(nil)
	if since != snap.Version.Version {
		from, err = r.CatalogueOf(ctx, snap.Restaurant, since)
	}
	if errors.Is(err, cache.ErrNoCatalogue) {
		err = fmt.Errorf("%w: %w", cache.ErrVersionGone, err)
	}
	if err != nil {
		return nil, fmt.Errorf("replica: changes of %s since %d: %w", snap.Restaurant, since, err)
	}
	var answer changesBody
	answer.Result.From, answer.Result.To = since, snap.Version.Version
	answer.Result.Changes = menu.Diff(from, snap.Catalogue)
	recorded := map[string]time.Time{} // snoozes make no versions: what has returned within a day is listed too
	for kind := range r.Availability.Of(snap.Restaurant) {
		if id, ok := kind.SnoozedID(); ok {
			recorded[id] = time.Time{}
		}
	}
	if len(recorded) > 0 {
		away := menu.WithSnoozed(snap.Catalogue.Content, snap.Stops, recorded)
		answer.Result.Merge(menu.Diff(away, snap.Catalogue))
	}
	body, err := json.Marshal(answer)
	if err != nil {
		return nil, err
	}
	return r.encoder.Represent(snap.Version.Version, body, encoded.Identity)
}

// CatalogueOf returns the catalogue of a version in the history, without snoozes: from memory if it is the current one,
// otherwise from Redis. Errors are those of cache.Store.Version and cache.Store.Content.
func (r *Replica) CatalogueOf(ctx context.Context, restaurant menu.RestaurantID, version int64) (*menu.Catalogue, error) {
	if snapshot, ok := r.Cached(restaurant); ok && snapshot.Version.Version == version {
		return menu.Unsnoozed(snapshot.Catalogue), nil
	}
	kept, err := r.store.Version(ctx, restaurant, version)
	if err != nil {
		return nil, err
	}
	snapshot, err := compile(ctx, r, kept)
	if err != nil {
		return nil, err
	}
	return snapshot.Catalogue, nil
}
