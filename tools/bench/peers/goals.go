package peers

import (
	"errors"
	"fmt"
	"slices"
)

// Goal is the required ratio of larder to one peer in one scenario: requests per second
// of larder divided by the peer's, or CPU time per request of the peer divided by
// larder's. Higher is better in both.
type Goal struct {
	Number   int // in the table of goals; 0: the other routes
	Scenario string
	Peer     string
	CPU      bool
	// Gate is the minimum of the ratio, Aim the goal.
	Gate, Aim float64
}

// Goals returns goals 1 to 9, and those of the other routes, which must not be slower with the fast path.
func Goals() []Goal {
	goals := []Goal{
		{Number: 1, Scenario: NotModified, Peer: proxyName, Gate: 0.55, Aim: 1.45},
		{Number: 2, Scenario: Product, Peer: proxyName, Gate: 0.6, Aim: 1.6},
		{Number: 2, Scenario: Browser, Peer: proxyName, Gate: 0.6, Aim: 1.6},
		{Number: 3, Scenario: Small, Peer: proxyName, Gate: 0.5, Aim: 1.3},
		{Number: 3, Scenario: Small, Peer: staticName, Gate: 0.4, Aim: 1},
		{Number: 4, Scenario: Medium, Peer: staticName, Gate: 0.6, Aim: 1},
		{Number: 5, Scenario: Large, Peer: proxyName, Gate: 0.9, Aim: 1.3},
		{Number: 5, Scenario: Large, Peer: staticName, Gate: 0.9, Aim: 1.3},
		{Number: 6, Scenario: NotModified, Peer: varnishName, Gate: 1, Aim: 3.4},
		{Number: 6, Scenario: Product, Peer: varnishName, Gate: 1, Aim: 3},
		{Number: 6, Scenario: Small, Peer: varnishName, Gate: 1, Aim: 2.6},
		{Number: 6, Scenario: Medium, Peer: varnishName, Gate: 1, Aim: 2.3},
		{Number: 7, Scenario: NotModified, Peer: redisName, Gate: 2.1, Aim: 5.7},
		{Number: 7, Scenario: Product, Peer: redisName, Gate: 2.1, Aim: 5.7},
		{Number: 7, Scenario: Medium, Peer: redisName, Gate: 2.1, Aim: 6},
	}
	for _, scenario := range []string{NotModified, Product, Medium} {
		goals = append(goals, Goal{
			Number:   8,
			Scenario: scenario,
			Peer:     baselineName,
			CPU:      true,
			Gate:     0.3,
			Aim:      0.8,
		})
	}
	// The gate of the other routes is lower because of the variation of short runs.
	const even, scatter = 0.97, 0.87
	return append(goals,
		Goal{
			Number:   9,
			Scenario: Validate,
			Peer:     bindName,
			Gate:     0.9,
			Aim:      2.1,
		},
		Goal{
			Scenario: Validate,
			Peer:     netHTTPName,
			Gate:     scatter,
			Aim:      even,
		},
		Goal{
			Scenario: Restaurants,
			Peer:     netHTTPName,
			Gate:     scatter,
			Aim:      even,
		},
	)
}

// ratio returns the ratio of larder or the baseline in a mode, or false if it was not
// measured.
func (g Goal) ratio(m Mode, of string) (Ratio, bool) {
	ours, found := m.series(g.Scenario, of)
	theirs, foundToo := m.series(g.Scenario, g.Peer)
	if !found || !foundToo {
		return Ratio{}, false
	}
	if g.CPU {
		return ratioOf(theirs.costs(), ours.costs())
	}
	return ratioOf(ours.rates(), theirs.rates())
}

// String describes the goal.
func (g Goal) String() string {
	name := fmt.Sprintf("%s against %s", g.Scenario, g.Peer)
	if g.CPU {
		name += " (CPU time)"
	}
	if g.Number > 0 {
		name = fmt.Sprintf("goal %d, %s", g.Number, name)
	}
	return name
}

// Gates returns an error that lists every gate above the median of the pinned ratios.
// It ignores goals that were not measured, but at least one must be.
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
		faults = append(faults, errors.New("peers: no goal was measured"))
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
