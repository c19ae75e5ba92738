package main

import (
	"slices"
	"strings"
	"testing"

	"larder/internal/sandbox"
	"larder/internal/testkit/clitest"
)

func TestASandboxTellsAllItsRestaurants(t *testing.T) {
	t.Parallel()
	generate := sandbox.Generate{Restaurants: 7, Products: 60, Seed: 1}
	var want []string
	for i := range generate.Restaurants {
		want = append(want, generate.RestaurantID(i))
	}
	started := command{}.start(t, "sandbox", "--listen", "127.0.0.1:0", "--restaurants", "7", "--json")
	started.Out.Find(t, `(?s)^\{.*\n\}\n$`)
	made := clitest.FromJSON[sandboxInfo](t, started.Out.String())
	if !slices.Equal(made.Restaurants, want) || made.ClientID != "demo" || made.ClientSecret != "demo-secret" {
		t.Errorf("sandbox --json prints %+v, want the restaurants %q", made, want)
	}
	if status, _ := clitest.Fetch(t, made.URL+"/sandbox/orders"); status != 200 {
		t.Errorf("%s answers %d", made.URL, status)
	}
	text := command{}.start(t, "sandbox", "--listen", "127.0.0.1:0", "--restaurants", "7")
	text.Out.Find(t, `7 restaurants: `+strings.Join(want[:5], ", ")+`, … \(2 more\); --json lists them all\n`)
}
