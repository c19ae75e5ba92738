package orders

import (
	"errors"
	"fmt"

	"larder.local/tools/bench/loadgen"
	"larder.local/tools/bench/measure"
)

// limit is a required ratio.
type limit struct {
	name string
	// gate is the limit of short runs (`make bench-smoke`), goal that of a complete one.
	gate, goal float64
	// most is set if lower ratios are better.
	most bool
	// ours and theirs are the figures of paired rounds; the ratio is ours by theirs.
	ours, theirs figure
}

// figure is one figure of a series.
type figure struct {
	server, mode, operation string
	value                   func(Run) float64
}

// limits returns all limits. The goals are those of the performance goals 13 and 14.
// The gates hold for the current build with a margin for the variation of short runs on
// busy cores; raise them with every build that is faster.
func limits() []limit {
	ours := func(mode, operation string, value func(Run) float64) figure {
		return figure{ourName, mode, operation, value}
	}
	theirs := func(operation string, value func(Run) float64) figure {
		return figure{usualName, Everysec, operation, value}
	}
	return []limit{
		{
			// Measured: 0.58 to 0.70 with kept TCP connections, 0.44 to 0.66 without, and 0.20 to 0.24 before records
			// were one text. A lower ratio means that an order needs more commands or round trips than before.
			name:   "orders per second, larder ÷ usual implementation, everysec",
			gate:   0.5,
			goal:   0.7,
			ours:   ours(Everysec, Create, perSecond),
			theirs: theirs(Create, perSecond),
		},
		{
			// Measured: 1.6 to 1.8, 2.1 to 2.6 without kept TCP connections, and 6.6 before. CPU time varies less than rates.
			name:   "CPU of server and Redis per order, larder ÷ usual implementation, everysec",
			gate:   2.3,
			goal:   2,
			most:   true,
			ours:   ours(Everysec, Create, Run.cost),
			theirs: theirs(Create, Run.cost),
		},
		{
			// Measured: 0.55 to 0.83. Depends on the disk and on how many orders share an fsync.
			name:   "larder's orders per second, always with one replica ÷ everysec",
			gate:   0.4,
			goal:   0.6,
			ours:   ours(Always, Create, perSecond),
			theirs: ours(Everysec, Create, perSecond),
		},
		{
			// Measured: 0.96 to 1.26. A replay reads one record.
			name:   "replays per second, larder ÷ usual implementation, everysec",
			gate:   0.5,
			goal:   0.7,
			ours:   ours(Everysec, Replay, perSecond),
			theirs: theirs(Replay, perSecond),
		},
	}
}

// Checked is a limit with its ratio.
type Checked struct {
	Name  string        `json:"name"`
	Ratio measure.Ratio `json:"ratio"`
	Gate  float64       `json:"gate"`
	Goal  float64       `json:"goal"`
	Most  bool          `json:"most"` // lower ratios are better
}

// ratio returns the ratio of paired rounds, or false if it was not measured.
func (r Report) ratio(ours, theirs figure) (measure.Ratio, bool) {
	a, found := r.series(ours.server, ours.mode)
	b, foundToo := r.series(theirs.server, theirs.mode)
	if !found || !foundToo {
		return measure.Ratio{}, false
	}
	return measure.RatioOf(a.of(ours.operation, ours.value), b.of(theirs.operation, theirs.value))
}

// latencyLimit returns the limit of goal 13a for both quantiles at a rate.
func latencyLimit(rate float64) float64 {
	if rate <= 300 {
		return 1.5
	}
	return 1.8
}

// checkedLatencies returns the limits of goal 13a, which holds for everysec.
func (r Report) checkedLatencies() []Checked {
	var list []Checked
	for _, quantile := range []struct {
		name  string
		value func(loadgen.Result) float64
	}{
		{"p50", func(l loadgen.Result) float64 { return ms(l.P50) }},
		{"p99", func(l loadgen.Result) float64 { return ms(l.P99) }},
	} {
		for _, rate := range rates() {
			of := func(server string) (values []float64) {
				for _, l := range r.Latencies {
					for _, run := range l.Runs {
						if l.Mode == Everysec && l.Rate == rate && l.Server == server {
							values = append(values, quantile.value(run))
						}
					}
				}
				return values
			}
			if ratio, ok := measure.RatioOf(of(ourName), of(usualName)); ok {
				name := fmt.Sprintf("%s at %.0f orders per second, larder ÷ usual implementation, everysec", quantile.name, rate)
				limit := latencyLimit(rate)
				list = append(list, Checked{Name: name, Ratio: ratio, Gate: limit, Goal: limit, Most: true})
			}
		}
	}
	return list
}

// checked returns the limits that were measured.
func (r Report) checked() []Checked {
	var list []Checked
	for _, l := range limits() {
		if ratio, ok := r.ratio(l.ours, l.theirs); ok {
			list = append(list, Checked{
				Name:  l.name,
				Ratio: ratio,
				Gate:  l.gate,
				Goal:  l.goal,
				Most:  l.most,
			})
		}
	}
	return append(list, r.checkedLatencies()...)
}

// meets reports whether the median is within a limit.
func (c Checked) meets(value float64) bool {
	if c.Most {
		return c.Ratio.Median <= value
	}
	return c.Ratio.Median >= value
}

// Gates returns an error that lists every limit whose median misses its gate.
func (r Report) Gates() error {
	list := r.checked()
	if len(list) < len(limits()) && len(r.Latencies) == 0 {
		return errors.New("orders: not every limit was measured")
	}
	var faults []error
	for _, c := range list {
		if !c.meets(c.Gate) {
			faults = append(faults, fmt.Errorf("%s: ratio %s misses its gate %.2f", c.Name, &c.Ratio, c.Gate))
		}
	}
	return errors.Join(faults...)
}

// assess returns the result of a limit for a table.
func (c Checked) assess() string {
	switch {
	case !c.meets(c.Gate):
		return "**misses the gate**"
	case !c.meets(c.Goal):
		return "**not reached**"
	default:
		return "reached"
	}
}
