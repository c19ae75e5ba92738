package main

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

const manual = "../../deploy/man"

// pagesOf reads a folder of manual pages.
func pagesOf(t *testing.T, dir string) map[string]string {
	t.Helper()
	files, err := filepath.Glob(filepath.Join(dir, "*.1"))
	if err != nil {
		t.Fatal(err)
	}
	pages := map[string]string{}
	for _, file := range files {
		content, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		pages[filepath.Base(file)] = string(content)
	}
	return pages
}

// TestManualPages holds deploy/man to the commands; go generate ./cmd/larder
// writes it.
func TestManualPages(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	written := fromJSON[[]string](t, must(t, "man", dir, "--json"))
	pages := pagesOf(t, dir)
	if len(written) != len(pages) || len(pages) < 20 {
		t.Fatalf("%d pages named, %d written", len(written), len(pages))
	}
	if diff := cmp.Diff(pagesOf(t, manual), pages); diff != "" {
		t.Errorf("%s is not what the commands give: go generate ./cmd/larder\n%s", manual, diff)
	}
	for _, part := range []string{"\n.SH NAME\nlarder\\-sync \\- Ask", "\n.TP\n\\fB\\-c\\fR, \\fB\\-\\-config\\fR \\fIstring\\fR\n", "(LARDER_CONFIG)", ".BR larder (1)"} {
		if !strings.Contains(pages["larder-sync.1"], part) {
			t.Errorf("no %q in\n%s", part, pages["larder-sync.1"])
		}
	}
}

func TestManualPagesAreWellFormed(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	must(t, "man", dir)
	for name := range pagesOf(t, dir) {
		lint := exec.CommandContext(t.Context(), "mandoc", "-T", "lint", "-W", "warning", filepath.Join(dir, name))
		if out, err := lint.CombinedOutput(); err != nil {
			t.Errorf("mandoc -T lint %s: %v (make test-needs installs mandoc)\n%s", name, err, out)
		}
	}
}
