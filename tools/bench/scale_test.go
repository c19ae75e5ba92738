package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"larder.local/tools/bench/measure"
)

// The complete measurement at a small size: real processes, which all end, and a
// page with the figures.
func TestScaleMeasuresASmallTown(t *testing.T) {
	t.Parallel()
	if testing.Short() {
		t.Skip("starts five processes; needs redis-server, which -short does without")
	}
	page := write(t, "page.md", "# Before\n"+strings.Replace(measure.Report{Sizes: make([]measure.Figures, 1)}.Section("x"), "![", "", 1)+"\nafter\n")
	folder := t.TempDir()
	got := bench(t, "scale", "--restaurants", "8", "--products", "60", "--replicas", "3",
		"--window", "1s", "--polls", "1s", "--changes", "6", "--reads", "4", "--limit", "1m", "--out", page, "--dir", folder)
	if got.status != statusDone {
		t.Fatalf("status %d\n%s", got.status, got.err)
	}
	content, err := os.ReadFile(page)
	if err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{"# Before\n", "\nafter\n", "| | 8 | goal |", "| calls that returned no menu | 0 | 0: reached |", "](scale.svg)"} {
		if !strings.Contains(string(content), want) {
			t.Errorf("the page lacks %q:\n%s", want, content)
		}
	}
	const withoutGoal = "| CPU seconds per minute of a replica that only polls |" // only the terminal has it
	if !strings.Contains(got.out, withoutGoal) || strings.Contains(string(content), withoutGoal) {
		t.Errorf("want %q in the output and not on the page:\n%s\n%s", withoutGoal, got.out, content)
	}
	if plot, err := os.ReadFile(filepath.Join(filepath.Dir(page), "scale.svg")); err != nil || !strings.Contains(string(plot), "<svg") {
		t.Errorf("the plot: %v\n%.100s", err, plot)
	}
	if left, err := os.ReadDir(folder); err != nil || len(left) > 0 {
		t.Errorf("left in the temporary folder: %v, %v", left, err)
	}
}

func TestScaleRefusesWhatCannotBeMeasured(t *testing.T) {
	t.Parallel()
	for flags, says := range map[string]string{
		"--restaurants 0":      "--restaurants: sizes between 1 and 100000",
		"--restaurants 200000": "--restaurants: sizes between 1 and 100000",
		"--replicas 0":         "--replicas: between 1 and 16",
		"--window 1ms":         "--window",
	} {
		got := bench(t, append([]string{"scale"}, strings.Fields(flags)...)...)
		if got.status != statusUsage || !strings.Contains(got.err, says) {
			t.Errorf("scale %s: %+v, want 2 and %q", flags, got, says)
		}
	}
	got := bench(t, "scale", "--out", write(t, "page.md", "no place"))
	if got.status != statusFailed || !strings.Contains(got.err, "no place for the section") {
		t.Errorf("scale --out: %+v", got)
	}
}
