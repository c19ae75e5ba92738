package web_test

import (
	"flag"
	"testing"

	"larder/internal/testkit/bundle"
)

var update = flag.Bool("update", false, "write dist from the sources")

// TestBundle holds dist equal to what the sources give; with -update it writes
// it.
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
