package measure_test

import (
	"encoding/xml"
	"errors"
	"io"
	"math"
	"os"
	"strings"
	"testing"
	"time"

	"larder.local/tools/bench/measure"
)

func TestQuantileIsTheNearestRank(t *testing.T) {
	t.Parallel()
	values := make([]time.Duration, 0, 100)
	for i := range 100 { // 100 down to 1
		values = append(values, time.Duration(100-i))
	}
	for q, want := range map[float64]time.Duration{0: 1, 0.5: 50, 0.99: 99, 1: 100} {
		if got := measure.Quantile(values, q); got != want {
			t.Errorf("Quantile(1…100, %v) = %d, want %d", q, got, want)
		}
	}
	if values[0] != 100 {
		t.Error("Quantile sorted what it was given")
	}
	if got := measure.Quantile(nil, 0.5); got != 0 {
		t.Errorf("Quantile of none = %v, want 0", got)
	}
}

func TestSlopeIsThatOfTheBestLine(t *testing.T) {
	t.Parallel()
	for name, tc := range map[string]struct {
		x, y []float64
		want float64
	}{
		"a line":          {[]float64{0, 1, 2, 3}, []float64{5, 7, 9, 11}, 2},
		"flat with noise": {[]float64{0, 1, 2, 3}, []float64{1, -1, -1, 1}, 0},
		"one point":       {[]float64{1}, []float64{1}, 0},
		"one moment":      {[]float64{1, 1}, []float64{1, 9}, 0},
	} {
		if got := measure.Slope(tc.x, tc.y); math.Abs(got-tc.want) > 1e-9 {
			t.Errorf("%s: slope %v, want %v", name, got, tc.want)
		}
	}
}

func TestOwnProcessHasTimeAndMemory(t *testing.T) {
	t.Parallel()
	if _, err := os.Stat("/proc/self/stat"); errors.Is(err, os.ErrNotExist) {
		t.Skip("this system has no /proc, and larder-bench says that it needs one")
	}
	cpu, err := measure.CPU(os.Getpid())
	for began := time.Now(); err == nil && cpu == 0 && time.Since(began) < time.Minute; { // computing, until a tick of the clock is seen
		cpu, err = measure.CPU(os.Getpid())
	}
	if err != nil || cpu <= 0 || cpu > time.Hour {
		t.Errorf("CPU of this process: %v, %v", cpu, err)
	}
	if rss, err := measure.RSS(os.Getpid()); err != nil || rss < 1<<20 || rss > 1<<40 {
		t.Errorf("RSS of this process: %d, %v", rss, err)
	}
	// The parent's tree holds this process.
	own, err := measure.CPU(os.Getpid())
	if err != nil {
		t.Fatal(err)
	}
	if tree, err := measure.TreeCPU(os.Getppid()); err != nil || tree < own {
		t.Errorf("CPU of the parent's tree: %v, %v; this process alone has %v", tree, err, own)
	}
	const nobody = 1 << 30 // above the largest id that Linux gives
	if _, err := measure.TreeCPU(nobody); err == nil {
		t.Error("the tree of a process that is not there has CPU time")
	}
	if _, err := measure.CPU(nobody); err == nil {
		t.Error("a process that is not there has CPU time")
	}
}

// figures are of two sizes; the second misses the goal of the cold start alone.
func figures() measure.Report {
	small := measure.Figures{
		Restaurants:  100,
		Replicas:     3,
		Products:     400,
		Menus:        2,
		RawBytes:     1 << 20,
		Schedule:     "@every 2m",
		RateLimit:    120,
		CallsMean:    40,
		ColdHeap:     3 << 20,
		ReplicaHeap:  3 << 20,
		HeapGoal:     4 << 20,
		ReplicaCPU:   []float64{0.5, 0.25, 0.25},
		ColdReady:    measure.Duration(100 * time.Millisecond),
		FirstReadMax: measure.Duration(5 * time.Millisecond),
		Unchanged:    []measure.Comparison{{Name: "answered 304", Sync: measure.Duration(time.Millisecond), Alone: measure.Duration(time.Millisecond), Ratio: 1}},
	}
	large := small
	large.Restaurants, large.ColdReady = 1000, measure.Duration(2100*time.Millisecond)
	return measure.Report{Machine: measure.Machine{
		Cores: 2,
		CPU:   "a processor",
		Go:    "go1.26",
		Redis: "Redis 7",
	}, Sizes: []measure.Figures{small, large}}
}

func TestTableJudgesTheLargestSize(t *testing.T) {
	t.Parallel()
	table := figures().Table()
	for _, want := range []string{
		"| | 100 | 1000 | goal |\n",
		"| cold start from a full Redis: time until `/readyz` is 200 | 0.10 s | 2.10 s | 2 s; 0.1 ms per restaurant above 20,000: **not reached** |\n",
		"| first reads after a cold start: median, maximum | 0.00 ms, 5.00 ms | 0.00 ms, 5.00 ms | 80 ms: reached |\n",
		"| live heap per restaurant, of these two replicas | 30.7 KiB, 30.7 KiB | 3.1 KiB, 3.1 KiB |  |\n",
		"| CPU seconds per minute, all replicas together | 1.00 | 1.00 |  |\n",
		"(× 1.00) | × 1.15: reached |\n",
	} {
		if !strings.Contains(table, want) {
			t.Errorf("the table lacks %q:\n%s", want, table)
		}
	}
	if got := strings.Count(table, "**not reached**"); got != 1 {
		t.Errorf("%d goals are missed, want 1:\n%s", got, table)
	}
}

func TestReplaceKeepsWhatStandsAround(t *testing.T) {
	t.Parallel()
	section := figures().Section("scale.svg")
	page, err := measure.Replace("before\n"+section+"\nafter\n", "new "+section)
	if err != nil || page != "before\nnew "+section+"\nafter\n" {
		t.Errorf("Replace: %v\n%s", err, page)
	}
	if _, err := measure.Replace("a page without a place", section); err == nil {
		t.Error("a page without marks was written")
	}
}

func TestPlotIsWellFormed(t *testing.T) {
	t.Parallel()
	circles := 0
	plot := xml.NewDecoder(strings.NewReader(figures().Plot()))
	for {
		token, err := plot.Token()
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			t.Fatal(err)
		}
		if start, ok := token.(xml.StartElement); ok && start.Name.Local == "circle" {
			circles++
		}
	}
	if circles != 12 { // six diagrams, two sizes
		t.Errorf("%d points, want 12", circles)
	}
}

func TestFlatNamesWhatGrew(t *testing.T) {
	t.Parallel()
	good := measure.Steady{
		For:       measure.Duration(10 * time.Minute),
		HeapMean:  40 << 20,
		HeapSlope: 100 << 10,
		Spawning:  0.2,
		Published: 3,
	}
	if err := good.Flat(); err != nil {
		t.Errorf("a flat line: %v", err)
	}
	short := good
	short.For, short.HeapSlope, short.Spawning = measure.Duration(20*time.Second), 100<<20, 100
	if err := short.Flat(); err != nil {
		t.Errorf("growth in 20 s: %v", err)
	}
	for want, change := range map[string]func(*measure.Steady){
		"the heap grew by 10.0 MiB":      func(s *measure.Steady) { s.HeapSlope = 1 << 20 },
		"10 goroutines more":             func(s *measure.Steady) { s.Spawning = 1 },
		"1 requests failed: [read: 500]": func(s *measure.Steady) { s.Failed, s.Faults = 1, []string{"read: 500"} },
		"no version was published":       func(s *measure.Steady) { s.Published = 0 },
		"the race detector":              func(s *measure.Steady) { s.Raced = true },
	} {
		bad := good
		change(&bad)
		if err := bad.Flat(); err == nil || !strings.Contains(err.Error(), want) || strings.Contains(err.Error(), "\n") {
			t.Errorf("got %v, want %q alone", err, want)
		}
	}
}
