package ordering_test

import (
	"errors"
	"testing"

	"larder/internal/menu"
	"larder/internal/sandbox"
	"larder/internal/upstream"
	"larder/ordering"
)

// TestWhatIsRightIsPlaced: orders that are right by construction, on the
// sandbox's own menus, are let through and taken.
func TestWhatIsRightIsPlaced(t *testing.T) {
	t.Parallel()
	g := sandbox.Generate{Restaurants: 2, Products: 300, Seed: 7}
	for name, m := range map[string]struct {
		id  string
		raw []byte
	}{
		"the bistro":  {sandbox.BistroID, sandbox.Bistro(sandbox.BistroID, "")},
		"a generated": {g.RestaurantID(1), g.Menu(1)},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			box, client := stand(t)
			box.SetMenu(m.id, m.raw)
			view, err := menu.Decode(m.raw)
			if err != nil {
				t.Fatal(err)
			}
			catalogue := menu.Compile(view, menu.RestaurantID(m.id), menu.DefaultSettings())
			place := ordering.NewPlacer(ordering.NewValidator(ordering.Config{}, noon),
				func(string) (ordering.Service, bool) { return client, true }, noon, ordering.Refs(noon))
			orderer, err := sandbox.NewOrderer(m.raw, m.id, 1)
			if err != nil {
				t.Fatal(err)
			}
			for i := range 200 {
				body := orderer.Next(sandbox.OrderOptions{
					Lines: 1 + i%5, Delivery: i%2 == 0, ExternalIDs: i%3 == 0, ExpectedAt: noon().AddDate(0, 0, 1),
				})
				placed, err := place.Place(t.Context(), ordering.PlaceRequest{Request: ordering.Request{
					Restaurant: menu.RestaurantID(m.id), Native: true, Version: 1, Catalogue: catalogue, Body: body,
					WireCase: upstream.WireDocument,
				}, Connection: "main"})
				if invalid := (*ordering.InvalidError)(nil); errors.As(err, &invalid) {
					t.Fatalf("%s: refused for %+v", body, invalid.Verdict.Violations)
				}
				if err != nil || placed.OrderID == "" {
					t.Fatalf("%s: %+v, %v", body, placed, err)
				}
			}
		})
	}
}
