package ordering_test

import (
	"errors"
	"testing"

	"larder.local/internal/menu"
	"larder.local/internal/sandbox"
	"larder.local/internal/testkit/menutest"
	"larder.local/internal/upstream"
	"larder.local/ordering"
)

// Generated valid orders for the sandbox's menus are accepted and placed.
func TestValidOrdersArePlaced(t *testing.T) {
	t.Parallel()
	g := sandbox.Generate{Restaurants: 2, Products: 300, Seed: 7}
	for name, m := range map[string]struct {
		id  string
		raw []byte
	}{
		"the bistro":       {sandbox.BistroID, sandbox.Bistro(sandbox.BistroID, "")},
		"a generated menu": {g.RestaurantID(1), g.Menu(1)},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			box, client := menutest.Sandbox(t)
			box.SetMenu(m.id, m.raw)
			view, err := menu.Decode(m.raw)
			if err != nil {
				t.Fatal(err)
			}
			h := newHarness(t, ordering.DefaultConfig(), through(client))
			h.card = menu.Compile(view, menu.RestaurantID(m.id), menu.DefaultSettings())
			orderer, err := menutest.NewOrderGenerator(m.raw, m.id, 1)
			if err != nil {
				t.Fatal(err)
			}
			for i := range 200 {
				body := orderer.Next(menutest.OrderOptions{
					Lines:       1 + i%5,
					Delivery:    i%2 == 0,
					ExternalIDs: i%3 == 0,
					ExpectedAt:  menutest.Noon().AddDate(0, 0, 1),
				})
				placed, err := h.Place(t.Context(), placing(func(p *placeRequest) {
					p.Restaurant, p.Body, p.Key = menu.RestaurantID(m.id), body, ""
				}))
				if invalid := (*ordering.InvalidError)(nil); errors.As(err, &invalid) {
					t.Fatalf("%s: rejected with %+v", body, invalid.Violations)
				}
				if err != nil || placed.Record.State != ordering.StatePlaced || placed.Record.OrderID == "" {
					t.Fatalf("%s: %+v, %v", body, placed, err)
				}
			}
		})
	}
}

// through connects a harness to a service with the real client.
func through(client *upstream.Client) func(*harness, *ordering.Deps) {
	return func(_ *harness, d *ordering.Deps) {
		d.Services = map[string]ordering.Service{"main": client}
	}
}
