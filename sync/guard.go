package sync

import (
	"fmt"

	"larder/internal/menu"
)

// guard refuses a menu that is more likely a fault than a wish: an empty one,
// or one that lost more than the limit of the products served now (policy S4).
// before is 0 for a first menu, which is refused only when empty. It gives the
// reason, empty when the menu may pass.
func guard(before, after int, limit float64) string {
	switch {
	case after == 0:
		return "the menu has no products; " + instead(before)
	case float64(before-after) > limit*float64(before):
		return fmt.Sprintf("the menu lost %d of %d products, more than the limit of %.4g %% (sync.shrink_limit); %s",
			before-after, before, limit*100, instead(before))
	default:
		return ""
	}
}

func instead(before int) string {
	if before == 0 {
		return "nothing is published"
	}
	return "the last good menu is served on, a forced sync publishes it all the same"
}

// productCount counts the products that compile keeps: each id once.
func productCount(v *menu.View) int {
	seen := make(map[string]struct{}, len(v.Products))
	for i := range v.Products {
		if id := v.Products[i].ID; id != "" {
			seen[id] = struct{}{}
		}
	}
	return len(seen)
}
