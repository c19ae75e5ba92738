package peers

import (
	"context"
	"fmt"
	"slices"
	"time"

	"larder.local/tools/bench/measure"
)

// Run is one run of one server.
type Run struct {
	PerSecond float64 `json:"perSecond"` // requests
	// Micros is the server's CPU time per request, in microseconds.
	Micros float64 `json:"cpuMicros"`
}

// Series contains the runs of one server, one per round.
type Series struct {
	Name string `json:"name"`
	// Head and Body are the sizes of the response.
	Head int   `json:"head"`
	Body int   `json:"body"`
	Runs []Run `json:"runs"`
}

// Measured contains the runs of one scenario: larder's first, then its peers'.
type Measured struct {
	Name   string   `json:"name"`
	Series []Series `json:"series"`
}

// Mode contains the results of one mode.
type Mode struct {
	Name      string     `json:"name"`
	Scenarios []Measured `json:"scenarios"`
	Latencies []Latency  `json:"latencies,omitempty"`
}

// rounds measures every scenario in every round. Within a round larder and its peers
// take turns, and each round starts with another server.
func (s *testbed) rounds(ctx context.Context, mode *Mode) error {
	for _, e := range s.scenarios {
		m := Measured{Name: e.Name}
		for _, name := range append([]string{ourName}, e.Against...) {
			t := s.targets[e.Name][name]
			m.Series = append(m.Series, Series{Name: name, Head: t.head, Body: t.body})
			if s.Warm {
				if _, err := s.once(ctx, t, time.Second); err != nil {
					return fmt.Errorf("%s, %s: %w", e.Name, name, err)
				}
			}
		}
		mode.Scenarios = append(mode.Scenarios, m)
	}
	began := time.Now()
	for round := range s.Rounds {
		s.Say("%s: round %d of %d%s", mode.Name, round+1, s.Rounds, measure.Remaining(round, s.Rounds, time.Since(began)))
		for _, m := range mode.Scenarios {
			for i := range m.Series {
				series := &m.Series[(i+round)%len(m.Series)]
				run, err := s.once(ctx, s.targets[m.Name][series.Name], s.For)
				if err != nil {
					return fmt.Errorf("%s, %s: %w", m.Name, series.Name, err)
				}
				series.Runs = append(series.Runs, run)
			}
		}
	}
	return nil
}

// once loads a target and returns the result.
func (s *testbed) once(ctx context.Context, t target, d time.Duration) (Run, error) {
	before, err := measure.TreeCPU(t.server.processes...)
	if err != nil {
		return Run{}, err
	}
	found, err := wrk(ctx, s.others, t, d)
	if err != nil {
		return Run{}, err
	}
	after, err := measure.TreeCPU(t.server.processes...)
	if err != nil {
		return Run{}, err
	}
	// When wrk ends, each connection may have received part of a response.
	asked := t.size() * float64(found.requests)
	if found.bytes < asked*(1-near) || found.bytes > (asked+t.size()*connections)*(1+near) {
		return Run{}, fmt.Errorf("%d answers of %.0f bytes were %.0f bytes: some were others", found.requests, t.size(), found.bytes)
	}
	return Run{PerSecond: found.perSecond, Micros: float64((after - before).Microseconds()) / float64(found.requests)}, nil
}

// series returns a server's runs of a scenario.
func (m Mode) series(scenario, name string) (Series, bool) {
	for _, e := range m.Scenarios {
		if e.Name != scenario {
			continue
		}
		if at := slices.IndexFunc(e.Series, func(s Series) bool { return s.Name == name }); at >= 0 {
			return e.Series[at], true
		}
	}
	return Series{}, false
}

// rates and costs return the figures of the runs.
func (s Series) rates() []float64 { return each(s.Runs, func(r Run) float64 { return r.PerSecond }) }

func (s Series) costs() []float64 { return each(s.Runs, func(r Run) float64 { return r.Micros }) }

func each(runs []Run, of func(Run) float64) []float64 {
	values := make([]float64, len(runs))
	for i, r := range runs {
		values[i] = of(r)
	}
	return values
}
