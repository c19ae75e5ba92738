package menu_test

import (
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"larder/internal/menu"
)

var update = flag.Bool("update", false, "write docs/lint.md anew")

// TestLintDocument holds docs/lint.md equal to the table in the code.
func TestLintDocument(t *testing.T) {
	t.Parallel()
	var b strings.Builder
	b.WriteString("# What `larder menu lint` finds\n\n" +
		"Each finding has a stable code, a sentence that names the ids, and the dishes it touches. An *error* takes something\n" +
		"from the guest: a dish that cannot be ordered, a choice that is lost. A *warning* is what larder could read all the\n" +
		"same. No finding stops a menu from being published; the guard against empty and shrunken menus is apart from lint.\n\n" +
		"This page is written from the table in `internal/menu/codes.go` by `go test ./internal/menu -run TestLintDocument -update`.\n\n" +
		"| code | severity | meaning |\n|---|---|---|\n")
	for _, code := range menu.LintCodes() {
		fmt.Fprintf(&b, "| `%s` | %s | %s |\n", code.Code, code.Severity, code.Meaning)
	}
	path := filepath.Join("..", "..", "docs", "lint.md")
	if *update {
		if err := os.WriteFile(path, []byte(b.String()), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	got, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(b.String(), string(got)); diff != "" {
		t.Errorf("docs/lint.md is not what the table says; run this test with -update (-table +page):\n%s", diff)
	}
}

// TestEveryFindingHasItsCodeInTheTable uses the oddest menus of these tests.
func TestEveryFindingHasItsCodeInTheTable(t *testing.T) {
	t.Parallel()
	known := map[string]menu.Severity{}
	for _, code := range menu.LintCodes() {
		known[code.Code] = code.Severity
	}
	for _, body := range []string{nestedMenu, oddMenu(60)} {
		for _, f := range menu.Lint(decode(t, body), "r1", menu.DefaultSettings()) {
			if s, ok := known[f.Code]; !ok || s != f.Severity {
				t.Errorf("finding %+v is not in the table as such", f)
			}
		}
	}
}
