package orders

import (
	"fmt"
	"math"
	"strings"

	"larder.local/tools/bench/measure"
)

// The shares above which a resource is the bottleneck.
const (
	fullMachine = 0.9 // of all cores
	fullMaster  = 0.85
)

// bottleneck names what limits the rate: a Redis master, which executes commands in
// one thread; the cores of this machine; or waiting.
func (p Point) bottleneck(cores int) string {
	busy := p.of(func(r Run) float64 { return r.Busy })
	master := p.of(func(r Run) float64 { return r.Master })
	switch {
	case master >= fullMaster:
		return fmt.Sprintf("a Redis master: %.0f %% of a core", 100*master)
	case busy >= fullMachine:
		return fmt.Sprintf("the %d cores (%.0f %%), most of it %s", cores, 100*busy, p.most())
	default:
		return fmt.Sprintf("waiting for Redis, its replica or the ordering service: the cores are used to %.0f %%", 100*busy)
	}
}

// most names the program with the most CPU time.
func (p Point) most() string {
	name, most := "", 0.0
	for _, program := range []struct {
		name  string
		value func(Run) float64
	}{
		{ourName, func(r Run) float64 { return r.Server }},
		{"Redis", func(r Run) float64 { return r.Redis + r.Replicas }},
		{"the ordering service", func(r Run) float64 { return r.Service }},
		{"the load generator", func(r Run) float64 { return r.Generator }},
	} {
		if value := p.of(program.value); value > most {
			name, most = program.name, value
		}
	}
	return fmt.Sprintf("%s (%.0f %%)", name, 100*most/max(p.total(), 1))
}

// total is the CPU time of all programs per order, in microseconds.
func (p Point) total() float64 {
	return p.of(func(r Run) float64 { return r.cost() + r.Service + r.Generator })
}

// Table returns all results as Markdown tables.
func (g Growth) Table() string { return g.table(func(points []Point) []Point { return points }) }

// fewestAndMost returns the points of the page.
func fewestAndMost(points []Point) []Point {
	if len(points) < 3 {
		return points
	}
	return []Point{points[0], points[len(points)-1]}
}

func (g Growth) table(shown func([]Point) []Point) string {
	var text strings.Builder
	text.WriteString("CPU time per order in µs; medians of the rounds. The generator and the ordering service use the same cores.\n\n")
	text.WriteString("| | instances | orders per second | larder | Redis | replicas | ordering service, generator | Redis memory per order | first bottleneck | cores for larder, Redis, replicas |\n|---|---|---|---|---|---|---|---|---|---|\n")
	for _, m := range g.Setups {
		for _, p := range shown(m.Points) {
			fmt.Fprintf(&text, "| %s | %d | %.0f | %.0f | %.0f | %.0f | %.0f, %.0f | %.1f KiB | %s | %s |\n", m.Setup, p.Instances, p.of(perSecond),
				p.of(func(r Run) float64 { return r.Server }), p.of(func(r Run) float64 { return r.Redis }), p.of(func(r Run) float64 { return r.Replicas }),
				p.of(func(r Run) float64 { return r.Service }), p.of(func(r Run) float64 { return r.Generator }),
				p.of(func(r Run) float64 { return r.Bytes })/1024, p.bottleneck(g.Machine.Cores), p.needs())
		}
	}
	fmt.Fprintf(&text, "\nThe last column is what 10,000 orders per second require on cores like these, each used to %.0f %%. It is computed from the CPU time per order. A Redis master uses one core, and the orders of one connection are on one master, so at least as many connections are needed as masters.\n\n", 100*estimateShare)
	return text.String()
}

// The assumptions of the estimate: the rate, and how much of a core is used.
const (
	estimateRate  = 10_000
	estimateShare = 0.7
)

// needs returns how many cores the estimated rate requires for the instances, for
// Redis masters and for their replicas.
func (p Point) needs() string {
	cores := func(of func(Run) float64) float64 { return math.Ceil(estimateRate * p.of(of) / 1e6 / estimateShare) }
	return fmt.Sprintf("%.0f, %.0f, %.0f", cores(func(r Run) float64 { return r.Server }),
		cores(func(r Run) float64 { return r.Redis }), cores(func(r Run) float64 { return r.Replicas }))
}

// The marks around the section of a page.
const (
	growthBegin = "<!-- instances: written by `larder-bench instances --out` -->"
	growthEnd   = "<!-- instances: end -->"
)

// Section returns the section of a page with the given file name of the plot.
func (g Growth) Section(plot string) string {
	m := g.Machine
	return fmt.Sprintf(`%s
Everything runs over loopback on one machine with %d cores (%s), %s and %s with `+"`appendfsync everysec`"+`. There are %d keep-alive connections, spread over the instances, and %d rounds of %.1f s. The load average before was %.1f. Command: `+"`%s`"+`.
![Orders per second by number of instances](%s)

%s%s`, growthBegin, m.Cores, m.CPU, m.Go, m.Redis, connections, g.Rounds, g.Seconds, g.Load, g.Command, plot, g.table(fewestAndMost), growthEnd)
}

// ReplaceGrowth replaces the section between the marks of a page.
func ReplaceGrowth(page, section string) (string, error) {
	return measure.ReplaceBetween(page, growthBegin, growthEnd, section)
}
