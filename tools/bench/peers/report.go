package peers

import (
	"context"
	"fmt"
	"os/exec"
	"slices"
	"strconv"
	"strings"
	"time"

	"larder.local/tools/bench/measure"
)

// Report is the result of a comparison.
type Report struct {
	Machine     measure.Machine `json:"machine"`
	Command     string          `json:"command"` // the command line
	Servers     []string        `json:"servers"` // names and versions
	Load        float64         `json:"loadAverage"`
	Rounds      int             `json:"rounds"`
	Seconds     float64         `json:"seconds"` // of each run
	Connections int             `json:"connections"`
	Modes       []Mode          `json:"modes"`
	Goals       []Checked       `json:"goals"`
}

// Checked is a limit with its ratios.
type Checked struct {
	Goal     string         `json:"goal"`
	Number   int            `json:"number"`
	Pinned   *measure.Ratio `json:"pinned"`
	Unpinned *measure.Ratio `json:"unpinned"`
	// Baseline is the ratio of the epoll loop to the same peer, pinned, which is almost the maximum.
	Baseline *measure.Ratio `json:"baseline"`
	// Gate is the minimum of the pinned median in a short run, Hold in a complete one.
	Gate float64 `json:"gate"`
	Hold float64 `json:"hold"`
}

// checked returns the goals that were measured.
func (r Report) checked() []Checked {
	var list []Checked
	for _, g := range Goals() {
		j := Checked{
			Goal:   g.String(),
			Number: g.Number,
			Gate:   g.Gate,
			Hold:   g.Hold,
		}
		for _, m := range r.Modes {
			ratio, ok := g.ratio(m, ourName)
			switch {
			case !ok:
			case m.Name == Pinned:
				j.Pinned = &ratio
				if baseline, ok := g.ratio(m, baselineName); ok && g.Peer != baselineName {
					j.Baseline = &baseline
				}
			default:
				j.Unpinned = &ratio
			}
		}
		if j.Pinned != nil || j.Unpinned != nil {
			list = append(list, j)
		}
	}
	return list
}

// versions returns the versions that the servers print.
func (s *testbed) versions(ctx context.Context) []string {
	var list []string
	for _, v := range []struct {
		name  string
		words []string
	}{
		{staticName, []string{"nginx", "-v"}},
		{varnishName, []string{"varnishd", "-V"}},
		{haproxyName, []string{"haproxy", "-v"}},
		{ourName, []string{"wrk", "-v"}},
	} {
		path, err := program(v.words[0])
		if err != nil || (v.name != ourName && !s.wanted(v.name)) {
			continue
		}
		asking, cancel := context.WithTimeout(ctx, 10*time.Second)
		text, _ := exec.CommandContext(asking, path, v.words[1:]...).CombinedOutput() //nolint:gosec // G204: a program of the list; wrk's status is 1
		cancel()
		line, _, _ := strings.Cut(string(text), "\n")
		list = append(list, short(line))
	}
	return list
}

// short removes everything but the version.
func short(line string) string {
	line = strings.TrimPrefix(line, "nginx version: ")
	line, _, _ = strings.Cut(line, " revision")
	line, _, _ = strings.Cut(line, " [epoll]")
	line, _, _ = strings.Cut(line, " - http")
	return strings.TrimSpace(strings.TrimPrefix(line, "varnishd ("))
}

// Table returns all results as Markdown tables.
func (r Report) Table() string {
	var text strings.Builder
	for _, m := range r.Modes {
		fmt.Fprintf(&text, "%s: thousands of requests per second (server CPU time per request, µs); medians.\n\n", heading(m.Name))
		m.table(&text)
		text.WriteString("\n")
	}
	return text.String() + r.ratios()
}

// ratios returns the tables of the page: what has a limit, and the latencies.
func (r Report) ratios() string {
	var text strings.Builder
	r.goals(&text)
	for _, m := range r.Modes {
		m.latencies(&text)
	}
	return text.String()
}

func heading(mode string) string {
	if mode == Pinned {
		return "Pinned (server on core 0, load generator on core 1)"
	}
	return "Unpinned"
}

// columns returns the servers of a table, in order.
func columns() []string {
	return []string{ourName, baselineName, staticName, proxyName, tunedName, haproxyName, varnishName, ginName, redisName, bindName, netHTTPName}
}

func (m Mode) table(text *strings.Builder) {
	names := slices.DeleteFunc(columns(), func(name string) bool {
		return !slices.ContainsFunc(m.Scenarios, func(e Measured) bool {
			_, ok := m.series(e.Name, name)
			return ok
		})
	})
	fmt.Fprintf(text, "| | bytes | %s |\n|---|---|%s\n", strings.Join(names, " | "), strings.Repeat("---|", len(names)))
	for _, e := range m.Scenarios {
		fmt.Fprintf(text, "| %s | %d |", e.Name, e.Series[0].Body)
		for _, name := range names {
			series, ok := m.series(e.Name, name)
			if !ok {
				text.WriteString(" |")
				continue
			}
			fmt.Fprintf(text, " %s (%.1f) |", thousands(measure.Median(series.rates())), measure.Median(series.costs()))
		}
		text.WriteString("\n")
	}
}

// thousands formats a number with about three digits.
func thousands(perSecond float64) string {
	if perSecond < 10_000 {
		return fmt.Sprintf("%.2f", perSecond/1000)
	}
	return fmt.Sprintf("%.1f", perSecond/1000)
}

// goals writes the table of limits.
func (r Report) goals(text *strings.Builder) {
	text.WriteString("Ratios of paired rounds: median (minimum to maximum). Limits and gates apply to the pinned ratios. \"baseline\" is the median ratio of the bare epoll loop to the same peer.\n\n")
	text.WriteString("| number | comparison | pinned | unpinned | baseline | gate | limit | result |\n|---|---|---|---|---|---|---|---|\n")
	for _, j := range r.checked() {
		number := "other routes"
		if j.Number > 0 {
			number = strconv.Itoa(j.Number)
		}
		_, name, cut := strings.Cut(j.Goal, ", ")
		if !cut || j.Number == 0 {
			name = j.Goal
		}
		baseline := ""
		if j.Baseline != nil {
			baseline = fmt.Sprintf("%.2f", j.Baseline.Median)
		}
		fmt.Fprintf(text, "| %s | %s | %s | %s | %s | %.2f | %.2f | %s |\n", number, name, j.Pinned, j.Unpinned, baseline, j.Gate, j.Hold, j.status())
	}
	text.WriteString("\n")
}

func (j Checked) status() string {
	switch {
	case j.Pinned == nil:
		return ""
	case j.Pinned.Median < j.Gate:
		return "**below the gate**"
	case j.Pinned.Median < j.Hold:
		return "**missed**"
	default:
		return "held"
	}
}

// latencies writes the table of latencies at a fixed rate.
func (m Mode) latencies(text *strings.Builder) {
	if len(m.Latencies) == 0 {
		return
	}
	text.WriteString("Latency at half of the peer's rate, measured from the time at which each request was due; medians of the rounds, µs.\n\n")
	text.WriteString("| | peer | requests per second | larder p50, p99, p99.9 | peer p50, p99, p99.9 | p99, peer ÷ larder |\n|---|---|---|---|---|---|\n")
	for _, t := range m.Latencies {
		ratio, _ := t.ratio()
		fmt.Fprintf(text, "| %s | %s | %.0f | %s | %s | %s |\n", t.Scenario, t.Peer, t.Rate, t.quantiles(ourName), t.quantiles(t.Peer), &ratio)
	}
	text.WriteString("\n")
}

// quantiles returns the medians of a server's quantiles.
func (t Latency) quantiles(of string) string {
	found := t.Theirs
	if of == ourName {
		found = t.Ours
	}
	var p50, p99, p999 []float64
	for _, r := range found {
		p50, p99, p999 = append(p50, float64(r.P50)), append(p99, float64(r.P99)), append(p999, float64(r.P999))
	}
	micros := func(values []float64) float64 { return measure.Median(values) / float64(time.Microsecond) }
	return fmt.Sprintf("%.0f, %.0f, %.0f", micros(p50), micros(p99), micros(p999))
}

// The marks around the section of a page.
const (
	beginMark = "<!-- peers: written by `larder-bench peers --out` -->"
	endMark   = "<!-- peers: end -->"
)

// Section returns the section of a page with the given file name of the plot.
func (r Report) Section(plot string) string {
	m := r.Machine
	return fmt.Sprintf(`%s
The release binary with default settings is compared with servers that serve the same bytes. Everything runs over loopback on one machine with %d cores (%s). The versions are %s, %s, %s. There are %d keep-alive connections and %d alternating rounds of %.0f s. The load average before was %.1f. Command: `+"`%s`"+`.
![Requests per second of larder and of other servers](%s)

%s%s`, beginMark, m.Cores, m.CPU, m.Go, m.Redis, strings.Join(r.Servers, ", "), r.Connections, r.Rounds, r.Seconds, r.Load, r.Command, plot, r.ratios(), endMark)
}

// Replace replaces the section between the marks of a page.
func Replace(page, section string) (string, error) {
	return measure.ReplaceBetween(page, beginMark, endMark, section)
}
