package orders

import (
	"fmt"
	"strings"
	"time"

	"larder.local/tools/bench/measure"
)

// Table returns all results as Markdown tables.
func (r Report) Table() string {
	var text strings.Builder
	for _, mode := range modes() {
		r.rates(&text, mode.name)
	}
	r.limits(&text)
	r.latencies(&text)
	return text.String()
}

// page returns the tables of the page. What is measured with appendfsync always is only a ratio there.
func (r Report) page() string {
	var text strings.Builder
	r.rates(&text, Everysec)
	r.limits(&text)
	r.latencies(&text)
	return text.String()
}

// heading describes a mode.
func heading(mode string) string {
	if mode == Always {
		return "`appendfsync always` with one replica. Larder waits for the disk and for the replica (`wait_replicas: 1`), the usual implementation only for the disk."
	}
	return "`appendfsync everysec`, without a replica."
}

// rates writes the table of one mode.
func (r Report) rates(text *strings.Builder, mode string) {
	ours, _ := r.series(ourName, mode)
	theirs, _ := r.series(usualName, mode)
	fmt.Fprintf(text, "%s Requests per second, and CPU time per request in µs (server + Redis); medians. Ratios of paired rounds: median (minimum to maximum).\n\n", heading(mode))
	text.WriteString("| | larder | usual implementation | rate, larder ÷ usual | larder's CPU | usual CPU | CPU, larder ÷ usual | ordering service's CPU, larder / usual |\n|---|---|---|---|---|---|---|---|\n")
	for _, operation := range operations() {
		rate, ok := r.ratio(figure{ourName, mode, operation, perSecond}, figure{usualName, mode, operation, perSecond})
		if !ok {
			continue
		}
		cost, _ := r.ratio(figure{ourName, mode, operation, Run.cost}, figure{usualName, mode, operation, Run.cost})
		service := func(run Run) float64 { return run.Service }
		fmt.Fprintf(text, "| %s | %.0f | %.0f | %s | %s | %s | %s | %.0f / %.0f |\n", operation,
			measure.Median(ours.of(operation, perSecond)), measure.Median(theirs.of(operation, perSecond)), &rate,
			ours.costs(operation), theirs.costs(operation), &cost,
			measure.Median(ours.of(operation, service)), measure.Median(theirs.of(operation, service)))
	}
	text.WriteString("\n")
}

// costs returns the medians of the CPU time of the server and of Redis.
func (s Series) costs(operation string) string {
	server := measure.Median(s.of(operation, func(r Run) float64 { return r.Server }))
	redis := measure.Median(s.of(operation, func(r Run) float64 { return r.Redis + r.Replicas }))
	return fmt.Sprintf("%.0f + %.0f", server, redis)
}

// limits writes the table of limits.
func (r Report) limits(text *strings.Builder) {
	text.WriteString("| | ratio | gate | goal | result |\n|---|---|---|---|---|\n")
	for _, c := range r.checked() {
		sign := "≥"
		if c.Most {
			sign = "≤"
		}
		fmt.Fprintf(text, "| %s | %s | %s %.2f | %s %.2f | %s |\n", c.Name, &c.Ratio, sign, c.Gate, sign, c.Goal, c.assess())
	}
	text.WriteString("\n")
}

// latencies writes the table of latencies at a fixed rate. The servers of a mode and a
// rate are one row.
func (r Report) latencies(text *strings.Builder) {
	if len(r.Latencies) == 0 {
		return
	}
	text.WriteString("Latency of placing an order at a fixed rate, measured from the time at which each request was due; medians of the rounds, ms.\n\n")
	fmt.Fprintf(text, "| | orders per second | %s: p50, p99 | answered per second | %s: p50, p99 | answered per second |\n|---|---|---|---|---|---|", ourName, usualName)
	for i, l := range r.Latencies {
		if i == 0 || l.Mode != r.Latencies[i-1].Mode || l.Rate != r.Latencies[i-1].Rate {
			fmt.Fprintf(text, "\n| %s | %.0f |", l.Mode, l.Rate)
		}
		fmt.Fprintf(text, " %s |", l.quantiles())
	}
	text.WriteString("\n\n")
}

// quantiles returns the medians of the quantiles, and how many requests were answered
// per second. A server that falls behind has no latency, only a growing queue.
func (l Latency) quantiles() string {
	var p50, p99, answered []float64
	for _, run := range l.Runs {
		p50, p99, answered = append(p50, ms(run.P50)), append(p99, ms(run.P99)), append(answered, run.PerSecond)
	}
	text := fmt.Sprintf("%.2f, %.2f | %.0f", measure.Median(p50), measure.Median(p99), measure.Median(answered))
	const steady = 0.95
	if measure.Median(answered) < steady*l.Rate {
		text += ": falls behind"
	}
	return text
}

func ms(d time.Duration) float64 { return float64(d) / float64(time.Millisecond) }

// The marks around the section of a page.
const (
	beginMark = "<!-- orders: written by `larder-bench orders --out` -->"
	endMark   = "<!-- orders: end -->"
)

// Section returns the section of a page.
func (r Report) Section() string {
	m := r.Machine
	return fmt.Sprintf(`%s
The release binary is compared with the usual implementation. Everything runs over loopback on one machine with %d cores (%s). The versions are %s and %s. There are %d keep-alive connections and %d alternating rounds of %.1f s. The median time of an fsync is %.2f ms. The ordering service alone takes %.0f orders per second, and %.0f µs of CPU time for each; the fastest server reaches %.0f %% of that. The load average before was %.1f. Command: `+"`%s`"+`.

%s%s`, beginMark, m.Cores, m.CPU, m.Go, m.Redis, connections, r.Rounds, r.Seconds, ms(time.Duration(r.Disk)),
		r.Service.PerSecond, r.Service.Service, 100*r.fastest(), r.Load, r.Command, r.page(), endMark)
}

// fastest is the highest rate of a server, as a share of the ordering service's own.
// Near 1, the comparison would measure the ordering service.
func (r Report) fastest() float64 {
	most := 0.0
	for _, s := range r.Series {
		most = max(most, measure.Median(s.of(Create, perSecond)))
	}
	return most / max(r.Service.PerSecond, 1)
}

// Replace replaces the section between the marks of a page.
func Replace(page, section string) (string, error) {
	return measure.ReplaceBetween(page, beginMark, endMark, section)
}
