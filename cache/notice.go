package cache

import (
	"strconv"
	"strings"

	"larder/internal/menu"
)

// notice says that a restaurant has a new version: "version restaurant".
type notice struct {
	version    int64
	restaurant menu.RestaurantID
}

// String is the notice as it travels.
func (n notice) String() string {
	return strconv.FormatInt(n.version, 10) + " " + string(n.restaurant)
}

// readNotice reads a notice; false for anything else on the channel.
func readNotice(payload string) (notice, bool) {
	number, restaurant, found := strings.Cut(payload, " ")
	version, err := strconv.ParseInt(number, 10, 64)
	if !found || err != nil || version < 1 || restaurant == "" {
		return notice{}, false
	}
	return notice{version, menu.RestaurantID(restaurant)}, true
}
