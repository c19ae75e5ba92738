package peers

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"time"

	"larder.local/tools/bench/measure"
)

// The modes: servers on core 0 and the generator on core 1, or all where the kernel
// schedules them.
const (
	Pinned   = "pinned"
	Unpinned = "unpinned"
)

// Plan is the configuration of a comparison.
type Plan struct {
	// Layout describes larder, its Redis and its ordering service. Its restaurants are
	// those of Menus.
	Layout measure.Layout
	// Program is the path of tools/bench/ginpeer.
	Program string
	Menus   Menus
	// Modes contains Pinned, Unpinned or both.
	Modes []string
	// Only contains the names of scenarios; empty means all.
	Only []string
	// Checked omits peers without a goal, except the baseline.
	Checked bool
	// Rounds is the number of runs of each server, For the duration of a run.
	Rounds int
	For    time.Duration
	// Warm runs each server once before, for a second that does not count. Tails
	// measures the 99th percentiles at a fixed rate, pinned.
	Warm, Tails bool
	// Say prints one line of progress.
	Say func(format string, args ...any)
}

// scenarios returns the selected scenarios.
func (p Plan) scenarios() ([]Scenario, error) {
	all := Scenarios(p.Menus)
	if p.Checked {
		for i, e := range all {
			all[i].Against = slices.DeleteFunc(e.Against, func(name string) bool {
				return name != baselineName && !slices.ContainsFunc(Goals(), func(g Goal) bool { return g.Scenario == e.Name && g.Peer == name })
			})
		}
	}
	if len(p.Only) == 0 {
		return all, nil
	}
	var chosen []Scenario
	for _, name := range p.Only {
		at := slices.IndexFunc(all, func(e Scenario) bool { return e.Name == name })
		if at < 0 {
			return nil, fmt.Errorf("peers: no scenario %q", name)
		}
		chosen = append(chosen, all[at])
	}
	return chosen, nil
}

// Measure measures all modes, each with its own processes, and ends them.
func (p Plan) Measure(ctx context.Context) (Report, error) {
	report := Report{
		Seconds:     p.For.Seconds(),
		Rounds:      p.Rounds,
		Connections: connections,
		Load:        measure.LoadAverage(),
	}
	scenarios, err := p.scenarios()
	if err != nil {
		return report, err
	}
	for _, mode := range p.Modes {
		measured, err := p.measure(ctx, mode, scenarios, &report)
		if err != nil {
			return report, fmt.Errorf("peers: %s: %w", mode, err)
		}
		report.Modes = append(report.Modes, measured)
	}
	report.Goals = report.checked()
	return report, nil
}

// measure measures one mode.
func (p Plan) measure(ctx context.Context, name string, scenarios []Scenario, report *Report) (mode Mode, err error) {
	mode.Name = name
	s := &testbed{
		Plan:      p,
		scenarios: scenarios,
		dir:       filepath.Join(p.Layout.Dir, name),
		threads:   runtime.NumCPU(),
		running:   map[string]server{},
		targets:   map[string]map[string]target{},
	}
	if name == Pinned {
		if runtime.NumCPU() < 2 {
			return mode, errors.New("needs two cores, one for the servers and one for the generator")
		}
		taskset, err := program("taskset")
		if err != nil {
			return mode, err
		}
		s.threads, s.servers, s.others = 1, []string{taskset, "-c", "0"}, []string{taskset, "-c", "1"}
	}
	if err := os.MkdirAll(s.dir, 0o700); err != nil {
		return mode, err
	}
	defer s.close()
	if err := s.build(ctx); err != nil {
		return mode, err
	}
	report.Servers = s.versions(ctx)
	report.Machine.Redis = s.cluster.Redis.Version(ctx)
	if err := s.rounds(ctx, &mode); err != nil {
		return mode, err
	}
	if p.Tails && name == Pinned {
		return mode, s.measureLatencies(ctx, &mode)
	}
	return mode, nil
}
