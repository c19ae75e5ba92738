package sync

import (
	"slices"
	"testing"

	"larder.local/internal/directory"
	"larder.local/internal/menu"
)

// Policy O16: menus of restaurants with a recent order come first.
func TestByRecency(t *testing.T) {
	t.Parallel()
	var targets []*Target
	for _, id := range []menu.RestaurantID{"a", "b", "c", "d"} {
		targets = append(targets, &Target{Restaurant: Restaurant{Restaurant: directory.Restaurant{ID: id}}})
	}
	var got []menu.RestaurantID
	for _, target := range byRecency(targets, map[menu.RestaurantID]bool{"c": true, "d": true}) {
		got = append(got, target.ID)
	}
	if !slices.Equal(got, []menu.RestaurantID{"c", "d", "a", "b"}) {
		t.Errorf("byRecency = %v, want c, d, a, b", got)
	}
}
