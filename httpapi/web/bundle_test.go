package web_test

import (
	"flag"
	"testing"

	"larder.local/internal/testkit/bundle"
)

var update = flag.Bool("update", false, "write dist from the sources")

// TestBundle checks that dist is built from the current sources; with -update it writes dist.
func TestBundle(t *testing.T) {
	t.Parallel()
	if *update {
		if err := bundle.Write("."); err != nil {
			t.Fatal(err)
		}
	}
	if err := bundle.Check("."); err != nil {
		t.Error(err)
	}
}
