package board_test

import (
	"flag"
	"strings"
	"testing"

	"larder.local/internal/sandbox/board"
	"larder.local/internal/testkit/bundle"
)

var update = flag.Bool("update", false, "write dist from the sources")

// TestBundle compares dist with the sources; -update writes it.
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

func TestFilesOfTheBoard(t *testing.T) {
	t.Parallel()
	for name, kind := range map[string]string{board.Page: "text/html", "board.js": "text/javascript", "board.css": "text/css"} {
		body, got, found := board.File(name)
		if !found || len(body) == 0 || !strings.HasPrefix(got, kind) {
			t.Errorf("%s: %d bytes, %q, %v", name, len(body), got, found)
		}
	}
	for _, name := range []string{"", ".", "..", "board.go", "../board.go", "dist"} {
		if body, _, found := board.File(name); found {
			t.Errorf("%q is served: %d bytes", name, len(body))
		}
	}
}
