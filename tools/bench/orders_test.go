package main

import (
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"larder.local/tools/bench/orders"
)

// peerProgram builds larder-peer.
func peerProgram(t *testing.T) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "larder-peer")
	build := exec.CommandContext(t.Context(), "go", "build", "-buildvcs=false", "-trimpath", "-tags", "nomsgpack", "-o", path, "./ginpeer")
	build.Env = append(os.Environ(), "CGO_ENABLED=0")
	if output, err := build.CombinedOutput(); err != nil {
		t.Fatalf("build larder-peer: %v\n%s", err, output)
	}
	return path
}

// thorough skips a test that starts many processes, unless make verify runs it.
func thorough(t *testing.T) {
	t.Helper()
	if os.Getenv("LARDER_THOROUGH") == "" {
		t.Skip("starts up to nine processes: LARDER_THOROUGH=1 make test-bench, as in make verify")
	}
}

// The complete measurement for a moment: real processes, which all end, every
// operation of both servers in both modes, and a page with the figures.
func TestOrdersMeasuresBothServers(t *testing.T) {
	t.Parallel()
	thorough(t)
	page := write(t, "page.md", "# Before\n"+orders.Report{}.Section()+"\nafter\n")
	folder := t.TempDir()
	got := bench(t, "orders", "--rounds", "1", "--for", "300ms", "--program", peerProgram(t), "--out", page, "--dir", folder, "--json")
	var report orders.Report
	if err := json.Unmarshal([]byte(got.out), &report); err != nil {
		t.Fatalf("status %d, %v\n%s", got.status, err, got.err)
	}
	// In a moment on busy cores, a ratio may miss its gate.
	if got.status != statusDone && !strings.Contains(got.err, "misses its gate") {
		t.Fatalf("status %d\n%s", got.status, got.err)
	}
	for _, s := range report.Series {
		for _, operation := range []string{orders.Create, orders.Replay, orders.Pay, orders.Complete, orders.Reject} {
			if runs := s.Runs[operation]; len(runs) != 1 || runs[0].Requests < 1 || runs[0].PerSecond <= 0 {
				t.Errorf("%s, %s, %s: %+v", s.Server, s.Mode, operation, runs)
			}
		}
	}
	if len(report.Series) != 4 || len(report.Latencies) != 8 || len(report.Limits) != 8 || report.Service.PerSecond <= 0 {
		t.Errorf("%d series, %d latencies, %d limits, %+v", len(report.Series), len(report.Latencies), len(report.Limits), report.Service)
	}
	content, err := os.ReadFile(page)
	if err != nil || !strings.HasPrefix(string(content), "# Before\n") || !strings.HasSuffix(string(content), "\nafter\n") || !strings.Contains(string(content), "| create | ") {
		t.Errorf("the page: %v\n%s", err, content)
	}
	if left, err := os.ReadDir(folder); err != nil || len(left) > 0 {
		t.Errorf("left in the temporary folder: %v, %v", left, err)
	}
}

func TestInstancesMeasuresEverySetup(t *testing.T) {
	t.Parallel()
	thorough(t)
	page := write(t, "page.md", orders.Growth{}.Section("x"))
	folder := t.TempDir()
	got := bench(t, "instances", "--instances", "2,1", "--rounds", "1", "--for", "300ms", "--out", page, "--dir", folder)
	if got.status != statusDone {
		t.Fatalf("status %d\n%s", got.status, got.err)
	}
	content, err := os.ReadFile(page)
	if err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{"| one Redis | 1 | ", "| one Redis | 2 | ", "`wait_replicas: 1` | 2 | ", "cores for larder, Redis, replicas |", "](instances.svg)"} {
		if !strings.Contains(string(content), want) {
			t.Errorf("the page lacks %q:\n%s", want, content)
		}
	}
	if plot, err := os.ReadFile(filepath.Join(filepath.Dir(page), "instances.svg")); err != nil || !strings.Contains(string(plot), "<svg") {
		t.Errorf("the plot: %v\n%.100s", err, plot)
	}
	if left, err := os.ReadDir(folder); err != nil || len(left) > 0 {
		t.Errorf("left in the temporary folder: %v, %v", left, err)
	}
}

func TestOrdersRefusesWhatCannotBeMeasured(t *testing.T) {
	t.Parallel()
	for line, says := range map[string]string{
		"orders --rounds 0":                  "--rounds: between 1 and 100",
		"orders --for 1ms":                   "--for: between 100ms",
		"instances --instances 0":            "--instances: numbers between 1 and 16",
		"instances --instances 1,9 --for 2m": "--for: between 100ms",
	} {
		got := bench(t, strings.Fields(line)...)
		if got.status != statusUsage || !strings.Contains(got.err, says) {
			t.Errorf("%s: %+v, want 2 and %q", line, got, says)
		}
	}
	for _, command := range []string{"orders", "instances"} {
		args := []string{command, "--out", write(t, "page.md", "no place")}
		if command == "orders" {
			args = append(args, "--program", write(t, "larder-peer", ""))
		}
		got := bench(t, args...)
		if got.status != statusFailed || !strings.Contains(got.err, "no place for the section") {
			t.Errorf("%s --out: %+v", command, got)
		}
	}
}
