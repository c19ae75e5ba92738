package main

import (
	"strings"
	"testing"

	"larder.local/internal/menu"
	"larder.local/internal/sandbox"
)

// The comparison itself runs in `make bench-smoke`, because it needs other
// servers. Its parts have their own tests.
func TestPeersRefusesWhatCannotBeMeasured(t *testing.T) {
	t.Parallel()
	for flags, says := range map[string]string{
		"--rounds 0":     "--rounds: between 1 and 100",
		"--for 1500ms":   "--for: whole seconds",
		"--modes pinnd":  `not "pinnd"`,
		"--only nothing": `unknown scenario "nothing" (valid: ["304" `,
	} {
		got := bench(t, append([]string{"peers"}, strings.Fields(flags)...)...)
		if got.status != statusUsage || !strings.Contains(got.err, says) {
			t.Errorf("peers %s: %+v, want 2 and %q", flags, got, says)
		}
	}
	program := write(t, "larder-peer", "")
	got := bench(t, "peers", "--program", program, "--out", write(t, "page.md", "no place"))
	if got.status != statusFailed || !strings.Contains(got.err, "no place for the section") {
		t.Errorf("peers --out: %+v", got)
	}
	got = bench(t, "peers", "--program", program+".none")
	if got.status != statusFailed || !strings.Contains(got.err, "--program: stat "+program+".none") || !strings.Contains(got.err, "make larder-peer builds bin/larder-peer") {
		t.Errorf("peers without its program: %+v", got)
	}
}

func TestDishOfIsTwoKilobytes(t *testing.T) {
	t.Parallel()
	generate := sandbox.Generate{Restaurants: 1, Products: mediumDishes, Seed: 1}
	id := generate.RestaurantID(0)
	dish, err := dishOf(generate.Menu(0), id)
	if err != nil {
		t.Fatal(err)
	}
	view, err := menu.Decode(generate.Menu(0))
	if err != nil {
		t.Fatal(err)
	}
	catalogue := menu.Compile(view, menu.RestaurantID(id), menu.DefaultSettings())
	index, ok := catalogue.Products().ByID(dish)
	if length := len(catalogue.AppendProduct(nil, index, 1)); !ok || length < 2000 || length > 2400 {
		t.Errorf("the dish %q takes %d bytes, want about %d", dish, length, dishBytes)
	}
	if _, err := dishOf([]byte(`{"products":[]}`), id); err == nil {
		t.Error("an empty menu has a dish")
	}
}
