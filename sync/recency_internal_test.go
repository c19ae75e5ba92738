package sync

import (
	"testing"

	"larder/internal/directory"
	"larder/internal/menu"
)

// Policy O16: menus of restaurants with a recent order come first.
func TestByRecency(t *testing.T) {
	t.Parallel()
	var targets []*Target
	for _, id := range []menu.RestaurantID{"a", "b", "c", "d"} {
		targets = append(targets, &Target{Restaurant: Restaurant{Restaurant: directory.Restaurant{ID: id}}})
	}
	got := ""
	for _, target := range byRecency(targets, map[menu.RestaurantID]bool{"c": true, "d": true}) {
		got += string(target.ID)
	}
	if got != "cdab" {
		t.Errorf("byRecency = %s, want cdab", got)
	}
}
