package cache

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"time"

	"github.com/redis/go-redis/v9"

	"larder.local/internal/menu"
	"larder.local/internal/redisdb"
)

// UpdateStopLists saves stop values, menu.Published.Stops, with the current version without a new version: its content and
// its stopped ids do not change. Only the stop lists of other restaurants change, or the notation of stop values. The
// published view then shows them. fence and run are as in Publication.
//
// It returns the changed version, and does nothing if the values are equal. It sends no notice; replicas see the change at
// their next poll. Errors: ErrFenced, ErrStale, redisdb.ErrUnavailable.
func (s *Store) UpdateStopLists(
	ctx context.Context, version Version, fence int64, run string, stops []byte, at time.Time,
) (Version, error) {
	published := PublishedSum(version.Content, stops)
	if published == version.Published {
		return version, nil
	}
	version.Published, version.PublishedAt = published, afterLast(truncateMillis(at), version.PublishedAt)
	if err := s.saveStopLists(ctx, version, fence, run, stops); err != nil {
		return Version{}, fmt.Errorf("cache: update the stop lists of %s@%d: %w", version.Restaurant, version.Version, err)
	}
	return version, nil
}

func (s *Store) saveStopLists(ctx context.Context, v Version, fence int64, run string, stops []byte) error {
	final := s.keys.StopValues(v.Restaurant, v.Version)
	staged := final + "~" + rand.Text()
	packed := s.packer.pack(stops)
	if err := s.redis.Client().Set(ctx, staged, packed, stagedLife).Err(); err != nil {
		return fmt.Errorf("%w: %w", redisdb.ErrUnavailable, err)
	}
	answer, err := updateStopsScript.Run(ctx, s.redis.NoRetry(),
		[]string{s.keys.Current(v.Restaurant), s.keys.Fence(v.Restaurant), staged, final, s.keys.Published(v.Restaurant)},
		publisher(fence, run), v.Version, len(packed),
		"published", v.Published, "publishedAt", menu.FormatTime(v.PublishedAt)).StringSlice()
	if err != nil {
		return fmt.Errorf("%w: %w", redisdb.ErrUnavailable, err)
	}
	return publishError(answer, fence)
}

// PublishedSum identifies a published view, by its content and stop values. It is the value of Version.Published.
func PublishedSum(content string, stops []byte) string {
	return sum([]byte(content + sum(stops)))
}

// View loads the menu view of a stored version as the ordering service last published it: O(size of the view).
// Errors: ErrNoCatalogue if the version is not stored, ErrCorrupt, redisdb.ErrUnavailable.
func (s *Store) View(ctx context.Context, v Version) (menu.Published, error) {
	doing := fmt.Sprintf("the view of %s@%d as published", v.Restaurant, v.Version)
	content, _, err := s.loadContent(ctx, v.Content)
	if err != nil {
		return menu.Published{}, fmt.Errorf("cache: %s: %w", doing, err)
	}
	packedStops, err := s.redis.Client().Get(ctx, s.keys.StopValues(v.Restaurant, v.Version)).Bytes()
	if err != nil {
		return menu.Published{}, orMiss(doing, ErrNoCatalogue, err)
	}
	stops, err := s.packer.unpack(packedStops)
	if err != nil {
		return menu.Published{}, fmt.Errorf("cache: %s: %w", doing, err)
	}
	return menu.Published{Content: content, Stops: stops}, nil
}

// PackedViews reads the stored form of menu views in one round trip. stops has the stop values of each version, in
// the same order. contents has the contents by hash, except those for which held returns true. If Redis does not
// have a value, or larder did not write it, stops has an empty element, and contents has no entry. Unpack unpacks
// the values. They are not checked against PublishedSum. The error is redisdb.ErrUnavailable.
func (s *Store) PackedViews(
	ctx context.Context, versions []Version, held func(content string) bool,
) (stops [][]byte, contents map[string][]byte, err error) {
	pipe := s.redis.Client().Pipeline()
	stopValues := make([]*redis.StringCmd, len(versions))
	views := map[string]*redis.StringCmd{}
	for i, v := range versions {
		stopValues[i] = pipe.Get(ctx, s.keys.StopValues(v.Restaurant, v.Version))
		if !held(v.Content) && views[v.Content] == nil {
			views[v.Content] = pipe.HGet(ctx, s.keys.ContentBody(v.Content), "view")
		}
	}
	if _, err := pipe.Exec(ctx); err != nil && !errors.Is(err, redis.Nil) && !IsForeign(err) {
		return nil, nil, unavailable("load menu views", err)
	}
	contents = make(map[string][]byte, len(views))
	for hash, answer := range views {
		if view := answer.Val(); view != "" {
			contents[hash] = []byte(view)
		}
	}
	stops = make([][]byte, len(versions))
	for i, answer := range stopValues {
		stops[i] = []byte(answer.Val())
	}
	return stops, contents, nil
}

// Unpack unpacks a value that PackedViews returned. The error is ErrCorrupt.
func (s *Store) Unpack(packed []byte) ([]byte, error) { return s.packer.unpack(packed) }
