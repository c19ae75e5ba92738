package cache

import (
	"context"
	"slices"
	"time"

	"larder/internal/menu"
)

const (
	// sweepGrace is how long a content stays that nobody names.
	sweepGrace = 24 * time.Hour
	// sweepPage is how many contents one look takes.
	sweepPage = 256
)

// Sweep removes the contents that no history has named for a day and gives
// how many they were. Contents never expire by themselves: the last good menu
// is kept for ever. Of all larders on one Redis only the first in a day does
// the work. The error is redisdb.ErrUnavailable.
func (s *Store) Sweep(ctx context.Context) (int, error) {
	client := s.redis.Client()
	// Somewhat less than a day, so that a daily caller does not miss its turn.
	mine, err := client.SetNX(ctx, s.keys.Swept(), menu.FormatTime(s.clock()), sweepGrace-time.Hour).Result()
	if err != nil {
		return 0, unavailable("sweep", err)
	}
	if !mine {
		return 0, nil
	}
	removed, err := s.sweepAll(ctx)
	if err != nil {
		// The day's turn is given back; if that fails too, it comes tomorrow.
		_ = client.Del(ctx, s.keys.Swept()).Err()
		return removed, unavailable("sweep", err)
	}
	return removed, nil
}

func (s *Store) sweepAll(ctx context.Context) (removed int, err error) {
	for cursor := uint64(0); ; {
		hashes, next, err := s.redis.Client().SScan(ctx, s.keys.Contents(), cursor, "", sweepPage).Result()
		if err != nil {
			return removed, err
		}
		for _, hash := range hashes {
			gone, err := s.sweepContent(ctx, hash)
			if err != nil {
				return removed, err
			}
			if gone {
				removed++
			}
		}
		if cursor = next; cursor == 0 {
			return removed, nil
		}
	}
}

// sweepContent removes one content unless the history of a restaurant that ever
// used it names it. Nobody is ever struck off its users: one who was late to do
// so could make a content that came back look unused.
func (s *Store) sweepContent(ctx context.Context, hash string) (bool, error) {
	client := s.redis.Client()
	users, err := client.SMembers(ctx, s.keys.ContentUsers(hash)).Result()
	if err != nil {
		return false, err
	}
	for _, user := range users {
		list, err := client.LRange(ctx, s.keys.History(menu.RestaurantID(user)), 0, -1).Result()
		if err != nil {
			return false, err
		}
		if slices.ContainsFunc(readHistory(list), func(e historyEntry) bool { return e.content == hash }) {
			return false, nil
		}
	}
	index := s.keys.Content(hash)
	keys := []string{
		s.keys.ContentBody(hash), s.keys.ContentUsers(hash),
		s.keys.Products(index), s.keys.ExternalIDs(index), s.keys.Schemes(index),
	}
	before := s.clock().Add(-sweepGrace).UnixMilli()
	gone, err := sweepScript.Run(ctx, client, keys, before).Bool()
	if err != nil || !gone {
		return false, err
	}
	return true, s.unlist(ctx, hash)
}

// unlist takes a content off the list. A publisher may have brought it back
// since: then it is listed again, here or, if it comes later still, by itself.
func (s *Store) unlist(ctx context.Context, hash string) error {
	client := s.redis.Client()
	if err := client.SRem(ctx, s.keys.Contents(), hash).Err(); err != nil {
		return err
	}
	back, err := client.Exists(ctx, s.keys.ContentBody(hash)).Result()
	if err != nil || back == 0 {
		return err
	}
	return client.SAdd(ctx, s.keys.Contents(), hash).Err()
}

// Run sweeps unused contents until ctx ends: it asks at once, so that a larder
// that never lives for an hour sweeps too, then every hour, and the first
// larder that asks in a day does the work. It starts no goroutine.
func (s *Store) Run(ctx context.Context) error {
	ticker := time.NewTicker(time.Hour)
	defer ticker.Stop()
	for {
		_, _ = s.Sweep(ctx) // asked again in an hour; until then it costs no more than space
		select {
		case <-ctx.Done():
			return nil
		case <-ticker.C:
		}
	}
}
