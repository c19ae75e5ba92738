package demo

import (
	"testing"
	"time"

	"larder.local/internal/menu"
	"larder.local/internal/sandbox"
	"larder.local/ordering/validate"
)

// The sample orders of every kind of menu are valid, or have four mistakes.
func TestSampleOrders(t *testing.T) {
	t.Parallel()
	menus := map[string][]byte{sandbox.BistroID: sandbox.Bistro(sandbox.BistroID, "")}
	for seed := range int64(5) {
		g := sandbox.Generate{Restaurants: 1, Products: 60, Seed: seed}
		menus[g.RestaurantID(0)] = g.Menu(0)
	}
	for id, raw := range menus {
		good, bad, err := SampleOrders(raw, id)
		if err != nil {
			t.Fatal(err)
		}
		if n := violations(t, raw, id, good); n != 0 {
			t.Errorf("%s: %d violations in %s", id, n, good)
		}
		if n := violations(t, raw, id, bad); n != 4 {
			t.Errorf("%s: %d violations in %s, want 4", id, n, bad)
		}
	}
	if _, _, err := SampleOrders([]byte(`{"products":[]}`), "r"); err == nil {
		t.Error("an order of a menu without dishes")
	}
}

// violations returns the number of violations of an order.
func violations(t *testing.T, raw []byte, id string, order []byte) int {
	t.Helper()
	view, err := menu.Decode(raw)
	if err != nil {
		t.Fatal(err)
	}
	decoded, err := validate.DecodeOrder(validate.Input{Body: order, V1: true, Language: "en"}, nil)
	if err != nil {
		t.Fatal(err)
	}
	result, err := validate.New(validate.DefaultConfig(), time.Now).Check(decoded, validate.Request{
		Restaurant: menu.RestaurantID(id),
		Catalogue:  menu.Compile(view, menu.RestaurantID(id), menu.DefaultSettings()),
	})
	if err != nil {
		t.Fatal(err)
	}
	return len(result.Violations)
}
