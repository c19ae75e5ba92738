package cache

import (
	"context"
	"errors"
	"fmt"

	"github.com/redis/go-redis/v9"

	"larder.local/internal/menu"
)

// The limits of quarantined menus (policy S4a), compressed.
const (
	maxQuarantined    = 4 << 20
	maxQuarantinedAll = 128 << 20
)

// KeepQuarantined keeps a menu that the guard of the restaurant's source rejected, in place of an earlier one. Restaurants
// with the same menu share it. It returns false if the menu is too large, or was removed because newer ones needed its space.
// The error is redisdb.ErrUnavailable.
func KeepQuarantined(ctx context.Context, s *Store, restaurant menu.RestaurantID, published menu.Published) (bool, error) {
	content := PublishedSum(sum(published.Content), published.Stops)
	state, err := quarantine(ctx, s, restaurant, content, nil)
	if state != notKept || err != nil { // once removed, it would only remove others
		return state == isKept, err
	}
	answer, err := published.AppendAnswer(nil)
	if err != nil {
		return false, err
	}
	packed := s.packer.pack(answer)
	if len(packed) > maxQuarantined {
		content, packed = "", nil // only an earlier one is removed
	}
	state, err = quarantine(ctx, s, restaurant, content, packed)
	return state == isKept, err
}

// DropQuarantined removes the restaurant's quarantined menu, if there is one. The error is redisdb.ErrUnavailable.
func DropQuarantined(ctx context.Context, s *Store, restaurant menu.RestaurantID) error {
	_, err := quarantine(ctx, s, restaurant, "", nil)
	return err
}

// Results of quarantine. The third one means that the menu was removed.
const notKept, isKept = 0, 1

func quarantine(ctx context.Context, s *Store, restaurant menu.RestaurantID, content string, packed []byte) (int, error) {
	state, err := quarantineScript.Run(ctx, s.redis.Client(), []string{
		s.keys.Quarantined("owners"), s.keys.Quarantined("views"), s.keys.Quarantined("ages"), s.keys.Quarantined("counts"),
	}, s.keys.Current(restaurant), content, packed, maxQuarantinedAll).Int()
	return state, unavailable("keep the quarantined menu of "+string(restaurant), err)
}

// ErrNotQuarantined means that no quarantined menu of the restaurant is kept.
var ErrNotQuarantined = errors.New("no quarantined menu is kept")

// Quarantined returns the restaurant's quarantined menu as an answer of the ordering service. Errors: ErrNotQuarantined,
// ErrCorrupt, redisdb.ErrUnavailable.
func Quarantined(ctx context.Context, s *Store, restaurant menu.RestaurantID) ([]byte, error) {
	doing := "read the quarantined menu of " + string(restaurant)
	content, err := s.redis.Client().HGet(ctx, s.keys.Quarantined("owners"), s.keys.Current(restaurant)).Result()
	var packed []byte
	if err == nil {
		packed, err = s.redis.Client().HGet(ctx, s.keys.Quarantined("views"), content).Bytes()
	}
	switch {
	case errors.Is(err, redis.Nil):
		return nil, fmt.Errorf("cache: %s: %w", doing, ErrNotQuarantined)
	case err != nil:
		return nil, unavailable(doing, err)
	}
	return s.packer.unpack(packed)
}
