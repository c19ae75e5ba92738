package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"larder.local/tools/bench/measure"
)

// The complete measurement at two small sizes. The filled state must equal that of
// syncs: every scheduled sync gets a 304.
func TestRestaurantsMeasuresGrowth(t *testing.T) {
	t.Parallel()
	if testing.Short() {
		t.Skip("starts four processes; needs redis-server, which -short does without")
	}
	page := write(t, "page.md", "# Before\n"+strings.Replace(measure.GrowthReport{Report: measure.Report{Sizes: make([]measure.Figures, 1)}}.Section("x"), "![", "", 1)+"\nafter\n")
	folder := t.TempDir()
	got := bench(t, "restaurants", "--restaurants", "50,120", "--products", "60", "--schedule", "@every 3s",
		"--settle", "4s", "--window", "1s", "--changes", "2", "--reads", "4", "--out", page, "--dir", folder)
	if got.status != statusDone {
		t.Fatalf("status %d\n%s", got.status, got.err)
	}
	content, err := os.ReadFile(page)
	if err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{"# Before\n", "\nafter\n", "| | 50 | 120 | growth per restaurant | goal |", "| 0; 0: ", "](restaurants.svg)"} {
		if !strings.Contains(string(content), want) {
			t.Errorf("the page lacks %q:\n%s", want, content)
		}
	}
	if strings.Contains(string(content), "of 0 |") {
		t.Errorf("no sync was counted:\n%s", content)
	}
	if plot, err := os.ReadFile(filepath.Join(filepath.Dir(page), "restaurants.svg")); err != nil || !strings.Contains(string(plot), "<svg") {
		t.Errorf("the plot: %v\n%.100s", err, plot)
	}
	if left, err := os.ReadDir(folder); err != nil || len(left) > 0 {
		t.Errorf("left in the temporary folder: %v, %v", left, err)
	}
}

func TestRestaurantsRefusesWhatCannotBeMeasured(t *testing.T) {
	t.Parallel()
	for flags, says := range map[string]string{
		"--restaurants 0":      "--restaurants: sizes between 1 and 100000",
		"--restaurants 70,100": "--restaurants: all sizes but the last are multiples of 50",
		"--products 0":         "--products: between 1 and",
		"--window 1ms":         "--window",
	} {
		got := bench(t, append([]string{"restaurants"}, strings.Fields(flags)...)...)
		if got.status != statusUsage || !strings.Contains(got.err, says) {
			t.Errorf("restaurants %s: %+v, want 2 and %q", flags, got, says)
		}
	}
}
