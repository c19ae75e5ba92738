package main

import (
	"encoding/json"
	"os"
	"strings"
	"testing"

	"larder.local/tools/bench/measure"
)

// The shortest soak: real processes, all kinds of load, no failures.
func TestSoakLoadsALarder(t *testing.T) {
	t.Parallel()
	if testing.Short() {
		t.Skip("loads a larder for 20 seconds; needs redis-server, which -short does without")
	}
	folder := t.TempDir()
	got := bench(t, "soak", "--for", "20s", "--restaurants", "3", "--products", "30", "--dir", folder, "--json")
	if got.status != statusDone {
		t.Fatalf("status %d\n%s\n%s", got.status, got.out, got.err)
	}
	var found measure.Steady
	if err := json.Unmarshal([]byte(got.out), &found); err != nil {
		t.Fatalf("%v in\n%s", err, got.out)
	}
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

func TestSoakRefusesWhatTellsNothing(t *testing.T) {
	t.Parallel()
	for flags, says := range map[string]string{
		"--for 1s":        "--for: at least 20s",
		"--restaurants 1": "--restaurants: between 2",
		"--products 1":    "--products: between 10",
	} {
		got := bench(t, append([]string{"soak"}, strings.Fields(flags)...)...)
		if got.status != statusUsage || !strings.Contains(got.err, says) {
			t.Errorf("soak %s: %+v, want 2 and %q", flags, got, says)
		}
	}
}
