package menu_test

import (
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"larder.local/internal/menu"
)

// Applying the changed ids to the old stops results in the new stops. Unchanged ids are not
// listed.
func TestMovedConvertsOneStopListIntoAnother(t *testing.T) {
	t.Parallel()
	ids := rapid.Custom(func(t *rapid.T) []string {
		list := rapid.SliceOfDistinct(rapid.SampledFrom([]string{"a", "b", "c", "d", "e", "f"}), rapid.ID[string]).Draw(t, "ids")
		slices.Sort(list)
		return list
	})
	apply := func(t *rapid.T, before []string, moves []menu.Availability) []string {
		after := slices.Clone(before)
		for _, move := range moves {
			if at, stopped := slices.BinarySearch(after, move.ID); stopped == move.Available {
				if stopped {
					after = slices.Delete(after, at, at+1)
				} else {
					after = slices.Insert(after, at, move.ID)
				}
				continue
			}
			t.Errorf("%+v changes nothing in %v", move, before)
		}
		return after
	}
	rapid.Check(t, func(t *rapid.T) {
		before := menu.Stops{Products: ids.Draw(t, "products before"), Ingredients: ids.Draw(t, "ingredients before")}
		after := menu.Stops{Products: ids.Draw(t, "products after"), Ingredients: ids.Draw(t, "ingredients after")}
		products, ingredients := before.ChangedIDs(after)
		got := menu.Stops{Products: apply(t, before.Products, products), Ingredients: apply(t, before.Ingredients, ingredients)}
		if diff := cmp.Diff(after, got); diff != "" {
			t.Errorf("%+v, moved (-want +got):\n%s", before, diff)
		}
	})
}
