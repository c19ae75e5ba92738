package sync

import (
	"testing"

	"larder.local/internal/menu"
)

// The breaker opens if three restaurants fail whose last run had succeeded, or all do.
func TestOpensBreaker(t *testing.T) {
	t.Parallel()
	type failed = map[menu.RestaurantID]bool
	for name, tc := range map[string]struct {
		failed failed
		menus  int
		want   bool
	}{
		"none":                            {nil, 5, false},
		"two that had succeeded":          {failed{"a": true, "b": true}, 5, false},
		"three that had succeeded":        {failed{"a": true, "b": true, "c": true}, 200, true},
		"three, one of them fails longer": {failed{"a": true, "b": true, "c": false}, 200, false},
		"many that fail longer":           {failed{"a": false, "b": false, "c": false, "d": false, "e": false, "f": false}, 200, false},
		"all of two":                      {failed{"a": false, "b": true}, 2, true},
		"all, and none had succeeded":     {failed{"a": false, "b": false, "c": false, "d": false}, 4, true},
		"all but one":                     {failed{"a": false, "b": false, "c": false}, 4, false},
		"the only one":                    {failed{"a": true}, 1, true},
	} {
		if got := opensBreaker(tc.failed, tc.menus); got != tc.want {
			t.Errorf("%s: %v, want %v", name, got, tc.want)
		}
	}
}
