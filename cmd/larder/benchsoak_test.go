package main

import (
	"os"
	"strings"
	"testing"

	"larder/internal/bench"
)

// The shortest soak there is: real processes, every kind of load, none failed.
func TestBenchSoakLoadsALarder(t *testing.T) {
	t.Parallel()
	if testing.Short() {
		t.Skip("loads a larder for 20 seconds; needs redis-server, which -short does without")
	}
	folder := t.TempDir()
	out := newWatched()
	p := startProcessTo(t, out, os.Environ(), "bench", "soak", "--for", "20s", "--restaurants", "3", "--products", "30", "--dir", folder, "--json")
	if status := p.status(t); status != statusDone {
		t.Fatalf("status %d\n%s\n%s", status, out, p.log)
	}
	found := fromJSON[bench.Steady](t, out.String())
	for _, kind := range []string{"read", "conditional read", "list", "validate", "order", "sync", "event stream"} {
		if found.Requests[kind] == 0 {
			t.Errorf("the load had no %s: %v", kind, found.Requests)
		}
	}
	if found.Failed > 0 || found.Published == 0 || found.HeapMean < 1<<20 {
		t.Errorf("found %+v", found)
	}
	if left, err := os.ReadDir(folder); err != nil || len(left) > 0 {
		t.Errorf("left in the temporary folder: %v, %v", left, err)
	}
}

func TestBenchSoakRefusesWhatTellsNothing(t *testing.T) {
	t.Parallel()
	for flags, says := range map[string]string{
		"--for 1s":        "--for: at least 20s",
		"--restaurants 1": "--restaurants: between 2",
		"--products 1":    "--products: between 10",
	} {
		got := larder(t, append([]string{"bench", "soak"}, strings.Fields(flags)...)...)
		if got.status != statusUsage || !strings.Contains(got.err, says) {
			t.Errorf("bench soak %s: %+v, want 2 and %q", flags, got, says)
		}
	}
}
