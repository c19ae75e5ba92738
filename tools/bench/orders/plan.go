package orders

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"time"

	"larder.local/tools/bench/loadgen"
	"larder.local/tools/bench/measure"
)

// The two ways in which Redis stores orders.
const (
	// Everysec writes to the disk once per second, without a replica.
	Everysec = "everysec"
	// Always writes every change to the disk before it answers, and larder waits for one
	// replica.
	Always = "always"
)

// The names of the servers.
const (
	ourName   = "larder"
	usualName = "usual implementation"
)

// Plan is the configuration of a comparison.
type Plan struct {
	// Larder and Peer are the programs, Dir a folder for their files.
	Larder, Peer, Dir string
	// Operations are the measured ones; Create is always among them.
	Operations []string
	// Rounds is the number of runs of each server, For the duration of the run that
	// places orders. Other runs take at most half of it.
	Rounds int
	For    time.Duration
	// Latencies measures quantiles at fixed rates, OnlyLatencies nothing else.
	Latencies, OnlyLatencies bool
	// NoReuse sets connections[].timeouts.reuse of larder to 0.
	NoReuse bool
	// Say prints one line of progress.
	Say func(format string, args ...any)
}

// Series contains the runs of one server in one mode, by operation, one per round.
type Series struct {
	Server string           `json:"server"`
	Mode   string           `json:"mode"`
	Runs   map[string][]Run `json:"runs"`
}

// of returns one figure of every round.
func (s Series) of(operation string, value func(Run) float64) []float64 {
	values := make([]float64, len(s.Runs[operation]))
	for i, r := range s.Runs[operation] {
		values[i] = value(r)
	}
	return values
}

// Latency contains the latencies of a server at a fixed rate.
type Latency struct {
	Server string           `json:"server"`
	Mode   string           `json:"mode"`
	Rate   float64          `json:"rate"` // orders per second
	Runs   []loadgen.Result `json:"runs"`
}

// Report is the result of a comparison.
type Report struct {
	Machine measure.Machine `json:"machine"`
	Command string          `json:"command"`
	Load    float64         `json:"loadAverage"`
	Rounds  int             `json:"rounds"`
	Seconds float64         `json:"seconds"` // of a run that places orders
	// Disk is the median time of fsync in the folder of Redis.
	Disk measure.Duration `json:"fsync"`
	// Service is the ordering service's own highest rate.
	Service   Run       `json:"service"`
	Series    []Series  `json:"series"`
	Latencies []Latency `json:"latencies"`
	Limits    []Checked `json:"limits"`
}

// series returns the series of a server in a mode.
func (r Report) series(server, mode string) (Series, bool) {
	at := slices.IndexFunc(r.Series, func(s Series) bool { return s.Server == server && s.Mode == mode })
	if at < 0 {
		return Series{}, false
	}
	return r.Series[at], true
}

// Measure starts all servers, measures, and ends them.
func (p Plan) Measure(ctx context.Context) (Report, error) {
	report := Report{Rounds: p.Rounds, Seconds: p.For.Seconds(), Load: measure.LoadAverage()}
	var err error
	if report.Disk, err = diskTime(p.Dir); err != nil {
		return report, err
	}
	b := &testbed{Plan: p, report: &report}
	defer b.close()
	if err := b.build(ctx); err != nil {
		return report, fmt.Errorf("orders: %w", err)
	}
	if err := b.measure(ctx); err != nil {
		return report, fmt.Errorf("orders: %w", err)
	}
	report.Limits = report.checked()
	return report, nil
}

// diskTime returns the median time to write 4 KiB to the disk.
func diskTime(dir string) (measure.Duration, error) {
	const writes = 25
	file, err := os.Create(filepath.Join(dir, "disk"))
	if err != nil {
		return 0, err
	}
	defer func() { _ = file.Close() }()
	times := make([]time.Duration, writes)
	for i := range times {
		if _, err := file.Write(make([]byte, 4<<10)); err != nil {
			return 0, err
		}
		began := time.Now()
		if err := file.Sync(); err != nil {
			return 0, fmt.Errorf("orders: %w", err)
		}
		times[i] = time.Since(began)
	}
	return measure.Duration(measure.Quantile(times, 0.5)), nil
}
