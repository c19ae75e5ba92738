package peers

import (
	"errors"
	"fmt"
	"slices"

	"larder.local/tools/bench/measure"
)

// Goal is the required ratio of larder to one peer in one scenario: requests per second
// of larder divided by the peer's, or CPU time per request of the peer divided by
// larder's. Higher is better in both.
type Goal struct {
	Number   int // in the table of limits; 0: the other routes
	Scenario string
	Peer     string
	CPU      bool
	// Gate is the minimum of the ratio in a short run, Hold in a complete one.
	Gate, Hold float64
}

// Goals returns limits 1 to 7, and those of the other routes, which must not be slower
// with the fast path. Limits 8 to 12 concern larder alone: benchmarks of Go measure them.
func Goals() []Goal {
	return []Goal{
		{Number: 1, Scenario: NotModified, Peer: proxyName, Gate: 0.55, Hold: 1},
		{Number: 1, Scenario: Product, Peer: proxyName, Gate: 0.6, Hold: 1.05},
		{Number: 1, Scenario: Browser, Peer: proxyName, Gate: 0.6, Hold: 1.1},
		{Number: 2, Scenario: Small, Peer: proxyName, Gate: 0.5, Hold: 1.05},
		{Number: 2, Scenario: Small, Peer: staticName, Gate: 0.4, Hold: 0.85},
		{Number: 3, Scenario: Medium, Peer: staticName, Gate: 0.6, Hold: 0.9},
		{Number: 3, Scenario: Large, Peer: staticName, Gate: 0.6, Hold: 0.7},
		{Number: 4, Scenario: NotModified, Peer: varnishName, Gate: 1, Hold: 2},
		{Number: 4, Scenario: Product, Peer: varnishName, Gate: 1, Hold: 2},
		{Number: 4, Scenario: Small, Peer: varnishName, Gate: 1, Hold: 1.7},
		{Number: 4, Scenario: Medium, Peer: varnishName, Gate: 1, Hold: 1},
		{Number: 5, Scenario: NotModified, Peer: redisName, Gate: 2.1, Hold: 5},
		{Number: 5, Scenario: Product, Peer: redisName, Gate: 2.1, Hold: 4.5},
		{Number: 5, Scenario: Medium, Peer: redisName, Gate: 2.1, Hold: 4.5},
		cpu(NotModified, 0.7),
		cpu(Product, 0.65),
		cpu(Medium, 0.9),
		{Number: 7, Scenario: Validate, Peer: bindName, Gate: 0.9, Hold: 1.4},
		// The gate of the other routes is lower because of the variation of short runs.
		{Scenario: Validate, Peer: netHTTPName, Gate: 0.87, Hold: 0.97},
		{Scenario: Restaurants, Peer: netHTTPName, Gate: 0.87, Hold: 0.97},
	}
}

// cpu is the limit of larder's CPU time per request, compared with the bare epoll loop.
func cpu(scenario string, hold float64) Goal {
	const gate = 0.3
	return Goal{
		Number:   6,
		Scenario: scenario,
		Peer:     baselineName,
		CPU:      true,
		Gate:     gate,
		Hold:     hold,
	}
}

// ratio returns the ratio of larder or the baseline in a mode, or false if it was not
// measured.
func (g Goal) ratio(m Mode, of string) (measure.Ratio, bool) {
	ours, found := m.series(g.Scenario, of)
	theirs, foundToo := m.series(g.Scenario, g.Peer)
	if !found || !foundToo {
		return measure.Ratio{}, false
	}
	if g.CPU {
		return measure.RatioOf(theirs.costs(), ours.costs())
	}
	return measure.RatioOf(ours.rates(), theirs.rates())
}

// String describes the limit.
func (g Goal) String() string {
	name := fmt.Sprintf("%s against %s", g.Scenario, g.Peer)
	if g.CPU {
		name += " (CPU time)"
	}
	if g.Number > 0 {
		name = fmt.Sprintf("limit %d, %s", g.Number, name)
	}
	return name
}

// Gates returns an error that lists every gate above the median of the pinned ratios.
// It ignores limits that were not measured, but at least one must be.
func (r Report) Gates() error {
	at := slices.IndexFunc(r.Modes, func(m Mode) bool { return m.Name == Pinned })
	if at < 0 {
		return errors.New("peers: the gates are those of the pinned runs, and there are none")
	}
	var faults []error
	checked := 0
	for _, g := range Goals() {
		ratio, ok := g.ratio(r.Modes[at], ourName)
		if !ok {
			continue
		}
		checked++
		if ratio.Median < g.Gate {
			faults = append(faults, fmt.Errorf("%s: ratio %.2f (%.2f to %.2f) is below its gate %.2f", g, ratio.Median, ratio.Low, ratio.High, g.Gate))
		}
	}
	if checked == 0 {
		faults = append(faults, errors.New("peers: no limit was measured"))
	}
	return errors.Join(faults...)
}

// Missed returns the scenarios with a pinned ratio below its gate.
func (r Report) Missed() []string {
	var names []string
	for _, m := range r.Modes {
		for _, g := range Goals() {
			ratio, ok := g.ratio(m, ourName)
			if ok && m.Name == Pinned && ratio.Median < g.Gate && !slices.Contains(names, g.Scenario) {
				names = append(names, g.Scenario)
			}
		}
	}
	return names
}
