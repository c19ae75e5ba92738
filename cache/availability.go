package cache

import (
	"context"
	"encoding/json"
	"slices"
	"time"

	"github.com/redis/go-redis/v9"

	"larder.local/internal/hours"
	"larder.local/internal/menu"
)

// Restrict saves what operators have said about a restaurant, and announces it to all instances. It removes the restrictions of
// the kinds in forget. It may be repeated. The error is redisdb.ErrUnavailable.
func (s *Store) Restrict(ctx context.Context, restaurant menu.RestaurantID, said hours.Availability, forget []hours.Kind) error {
	values := make([]string, 0, 2*len(said))
	for kind, r := range said {
		text, err := json.Marshal(r)
		if err != nil {
			return err
		}
		values = append(values, string(kind), string(text))
	}
	key := s.keys.Availability(restaurant)
	// The set comes first: a restaurant that is missing in it would not be read by polls.
	err := s.redis.Client().SAdd(ctx, s.keys.Restricted(), string(restaurant)).Err()
	if err == nil {
		_, err = s.redis.Client().TxPipelined(ctx, func(pipe redis.Pipeliner) error {
			for _, kind := range forget {
				pipe.HDel(ctx, key, string(kind))
			}
			pipe.HSet(ctx, key, values)
			return nil
		})
	}
	if err == nil {
		err = s.redis.Client().Publish(ctx, s.keys.Notices(), notice(restaurant, 0)).Err()
	}
	if err != nil {
		return unavailable("save the availability of "+string(restaurant), err)
	}
	return nil
}

// Restricted returns the restaurants that have ever had a restriction. The error is redisdb.ErrUnavailable.
func Restricted(ctx context.Context, s *Store) ([]menu.RestaurantID, error) {
	ids, err := s.redis.Client().SMembers(ctx, s.keys.Restricted()).Result()
	if err != nil && !IsForeign(err) {
		return nil, unavailable("read the restricted restaurants", err)
	}
	restaurants := make([]menu.RestaurantID, len(ids))
	for i, id := range ids {
		restaurants[i] = menu.RestaurantID(id)
	}
	return restaurants, nil
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
