package cache

import (
	"context"
	"slices"
	"time"

	"larder.local/internal/menu"
	"larder.local/internal/sleep"
)

const (
	// sweepGrace is how long an unused content is kept.
	sweepGrace = 24 * time.Hour
	// sweepPage is the number of contents per scan.
	sweepPage = 256
)

// Sweep removes the contents that no history has named for a day, and returns their number. Contents
// never expire by themselves: the last good menu is kept indefinitely. Only the first instance in a day
// does the work. The error is redisdb.ErrUnavailable.
func (s *Store) Sweep(ctx context.Context) (int, error) {
	client := s.redis.Client()
	// Less than a day, so that a daily caller does not miss its turn.
	mine, err := client.SetNX(ctx, s.keys.Swept(), menu.FormatTime(s.clock()), sweepGrace-time.Hour).Result()
	if err != nil || !mine {
		return 0, unavailable("sweep", err)
	}
	removed, err := s.sweepAll(ctx)
	if err != nil {
		// Another instance may try today. If this fails too, the sweep runs tomorrow.
		_ = client.Del(ctx, s.keys.Swept()).Err()
	}
	return removed, unavailable("sweep", err)
}

func (s *Store) sweepAll(ctx context.Context) (removed int, err error) {
	hashes := s.redis.Client().SScan(ctx, s.keys.Contents(), 0, "", sweepPage).Iterator()
	for hashes.Next(ctx) {
		gone, err := s.sweepContent(ctx, hashes.Val())
		if err != nil {
			return removed, err
		}
		if gone {
			removed++
		}
	}
	return removed, hashes.Err()
}

// sweepContent removes one content unless the history of one of its users names it. Users are never
// removed from the set: a late removal could make a content that is used again look unused.
func (s *Store) sweepContent(ctx context.Context, hash string) (bool, error) {
	client := s.redis.Client()
	users, err := client.SMembers(ctx, s.keys.ContentUsers(hash)).Result()
	if err != nil {
		return false, err
	}
	for _, user := range users {
		tags, err := client.SMembers(ctx, s.keys.MenuSources(menu.RestaurantID(user))).Result()
		if err != nil {
			return false, err
		}
		for _, tag := range append(tags, "") { // every source that has ever published (policy O16)
			list, err := client.LRange(ctx, s.keys.withTag(tag).History(menu.RestaurantID(user)), 0, -1).Result()
			if err != nil {
				return false, err
			}
			if slices.ContainsFunc(readHistory(list), func(e historyEntry) bool { return e.content == hash }) {
				return false, nil
			}
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

// unlist removes a content from the list. A publisher may have stored it again
// meanwhile. Then it is listed again, here or later by the publisher.
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

// Run sweeps unused contents until ctx ends: at the start, for instances that run less than an hour,
// and then every hour. The first instance in a day does the work. It starts no goroutine.
func (s *Store) Run(ctx context.Context) error {
	for {
		_, _ = s.Sweep(ctx) // tried again in an hour; until then it only costs space
		if sleep.For(ctx, time.Hour) != nil {
			return nil //nolint:nilerr // stopped, as intended
		}
	}
}
