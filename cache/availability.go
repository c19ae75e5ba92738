package cache

import (
	"context"
	"encoding/json"
	"slices"
	"strconv"
	"time"

	"github.com/redis/go-redis/v9"

	"larder.local/internal/hours"
	"larder.local/internal/menu"
)

// Restrict saves what is known about the availability of a restaurant, as far as Redis has nothing newer, and deletes the
// restrictions of forget that have not changed since. It may be repeated. The error is redisdb.ErrUnavailable.
func (s *Store) Restrict(ctx context.Context, restaurant menu.RestaurantID, said, forget hours.Availability) error {
	var values []any
	for kind, r := range said {
		text, err := json.Marshal(r)
		if err != nil {
			return err
		}
		values = append(values, string(kind), text)
	}
	for kind, r := range forget {
		values = append(values, string(kind), strconv.FormatInt(r.Rev, 10))
	}
	err := restrictScript.Run(ctx, s.redis.Client(), []string{s.keys.Availability(restaurant)}, values...).Err()
	return unavailable("save the availability of "+string(restaurant), err)
}

// AnnounceAvailability makes all instances read the availability of a restaurant now. Without it, they do so at their next poll.
func AnnounceAvailability(ctx context.Context, s *Store, restaurant menu.RestaurantID) {
	_ = s.redis.Client().Publish(ctx, s.keys.Notices(), notice(restaurant, 0)).Err() // polls find it
}

// Availability passes the restrictions of each restaurant to received, in few round trips. A restriction that larder cannot
// read holds until an operator ends it. The error is redisdb.ErrUnavailable.
func (s *Store) Availability(
	ctx context.Context, restaurants []menu.RestaurantID, received func(menu.RestaurantID, hours.Availability),
) error {
	for part := range slices.Chunk(restaurants, pipelined) {
		pipe := s.redis.Client().Pipeline()
		answers := make([]*redis.MapStringStringCmd, len(part))
		for i, restaurant := range part {
			answers[i] = pipe.HGetAll(ctx, s.keys.Availability(restaurant))
		}
		_, _ = pipe.Exec(ctx) // each command has its own error
		for i, restaurant := range part {
			if err := answers[i].Err(); err != nil && !IsForeign(err) {
				return unavailable("read the availability of restaurants", err)
			}
			all := make(hours.Availability, len(answers[i].Val()))
			for kind, text := range answers[i].Val() {
				var r hours.Restriction
				if json.Unmarshal([]byte(text), &r) != nil || r.At.IsZero() {
					r = hours.Restriction{At: time.Unix(1, 0), Note: "unreadable in Redis: " + text[:min(len(text), maxShown)]}
				}
				all[hours.Kind(kind)] = r
			}
			received(restaurant, all)
		}
	}
	return nil
}

// maxShown limits how much of an unreadable value is shown, in bytes.
const maxShown = 40
