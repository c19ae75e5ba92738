package cache

import (
	"context"
	"strconv"
	"strings"

	"larder/internal/menu"
)

// Subscribe calls received for every version that any process publishes, and
// returns when ctx ends. It calls subscribed whenever a subscription begins:
// versions that were published before are not announced. lost gets the error of
// a subscription that ends; another one follows.
func (s *Store) Subscribe(
	ctx context.Context, subscribed func(), received func(restaurant menu.RestaurantID, version int64), lost func(error),
) {
	s.redis.Subscribe(ctx, s.keys.Notices(), subscribed, func(payload string) {
		if restaurant, version, ok := readNotice(payload); ok {
			received(restaurant, version)
		}
	}, lost)
}

// notice says that a restaurant has a new version.
func notice(restaurant menu.RestaurantID, version int64) string {
	return strconv.FormatInt(version, 10) + " " + string(restaurant)
}

// readNotice reads a notice; false for anything else on the channel.
func readNotice(payload string) (restaurant menu.RestaurantID, version int64, ok bool) {
	number, id, _ := strings.Cut(payload, " ")
	version, err := strconv.ParseInt(number, 10, 64)
	return menu.RestaurantID(id), version, err == nil && version >= 1 && id != ""
}
