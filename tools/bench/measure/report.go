package measure

import (
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"
)

// Report contains the figures of all sizes, the smallest first.
type Report struct {
	Machine Machine   `json:"machine"`
	Sizes   []Figures `json:"sizes"`
}

// row is one line of the table.
type row struct {
	name  string
	value func(f Figures) string
	// goal is the limit as text, reached reports whether it is met; nil: no goal.
	goal    string
	reached func(f Figures) bool
	// figure is the value as a number; nil: its growth is not shown.
	figure func(f Figures) float64
	kept   bool // on the page although it has no goal
}

// The goals of the table.
const (
	readyGoal     = 2 * time.Second
	readyEach     = 100 * time.Microsecond // of each restaurant, if there are more than 20,000
	firstReadGoal = 80 * time.Millisecond
	noticeGoal    = 50 * time.Millisecond
	unchangedGoal = 1.15
)

func rows() []row {
	mib := func(n int64) string { return fmt.Sprintf("%.1f MiB", float64(n)/(1<<20)) }
	return []row{
		{name: "distinct menus, size of their JSON", value: func(f Figures) string { return fmt.Sprintf("%d, %s", f.Menus, mib(f.RawBytes)) }},
		{name: "first fill: time until every replica serves every restaurant", value: func(f Figures) string { return long(f.Filled) }},
		{
			name: "calls to the ordering service per second during the first fill: mean, peak", value: func(f Figures) string { return fmt.Sprintf("%.0f, %.0f", f.CallsMean, f.CallsPeak) },
			goal: "at most the configured limit", reached: withinLimit,
		},
		{name: "configured limit of these calls, all replicas together", value: func(f Figures) string { return limitText(f.RateLimit) }},
		{name: "calls that returned no menu", value: func(f Figures) string { return strconv.Itoa(f.CallFaults) }, goal: "0", reached: func(f Figures) bool { return f.CallFaults == 0 }},
		{
			name: "live heap of a replica that only loads from Redis", value: func(f Figures) string { return mib(f.ColdHeap) },
			goal: "1.5 × JSON + 4 KiB per restaurant", reached: func(f Figures) bool { return f.ColdHeap <= f.HeapGoal },
		},
		{
			name: "live heap of the largest replica that syncs", value: func(f Figures) string { return mib(f.ReplicaHeap) },
			goal: "the same", reached: func(f Figures) bool { return f.ReplicaHeap <= f.HeapGoal },
		},
		{name: "the heap goal", value: func(f Figures) string { return mib(f.HeapGoal) }},
		{name: "RSS of these two replicas", kept: true, value: func(f Figures) string { return mib(f.ColdRSS) + ", " + mib(f.ReplicaRSS) }},
		{name: "live heap per restaurant, of these two replicas", value: func(f Figures) string { return f.each(f.ColdHeap) + ", " + f.each(f.ReplicaHeap) }},
		{name: "Redis (`used_memory`)", kept: true, value: func(f Figures) string { return mib(f.RedisBytes) + ", " + f.each(f.RedisBytes) + " per restaurant" }},
		{name: "time until only scheduled syncs run", value: func(f Figures) string { return long(f.Steady) }},
		{name: "steady state: schedule, syncs per second", value: func(f Figures) string { return fmt.Sprintf("%s, %.1f", f.Schedule, f.WindowRuns) }},
		{name: "CPU seconds per minute, all replicas together", kept: true, value: func(f Figures) string { return fmt.Sprintf("%.2f", sum(f.ReplicaCPU)) }},
		{name: "CPU seconds per minute: Redis, ordering service", value: func(f Figures) string { return fmt.Sprintf("%.2f, %.2f", f.RedisCPU, f.ServiceCPU) }},
		{name: "syncs with another outcome than `unchanged`", value: func(f Figures) string { return strconv.Itoa(f.WindowFaults) }, goal: "0", reached: func(f Figures) bool { return f.WindowFaults == 0 }},
		{
			name: "cold start from a full Redis: time until `/readyz` is 200", value: func(f Figures) string { return long(f.ColdReady) },
			goal: "2 s; 0.1 ms per restaurant above 20,000", reached: func(f Figures) bool {
				return time.Duration(f.ColdReady) <= max(readyGoal, time.Duration(f.Restaurants)*readyEach)
			},
		},
		{name: "CPU seconds per minute of a replica that only polls", value: func(f Figures) string { return fmt.Sprintf("%.2f", f.PollCPU) }},
		{name: "cold start: time until every restaurant is in memory", value: func(f Figures) string { return long(f.ColdServed) }},
		{
			name: "first reads after a cold start: median, maximum", value: func(f Figures) string { return short(f.FirstReadMid) + ", " + short(f.FirstReadMax) },
			goal: "80 ms", reached: func(f Figures) bool { return time.Duration(f.FirstReadMax) <= firstReadGoal },
		},
		{name: "time until a stop-list change is on every replica: median, p99", kept: true, value: func(f Figures) string { return short(f.ChangeMid) + ", " + short(f.ChangeP99) }},
		{
			name: "of this, from the notice to the other replicas: median, p99", value: func(f Figures) string {
				if f.Replicas < 2 {
					return "no other replica"
				}
				return short(f.NoticeMid) + ", " + short(f.NoticeP99)
			},
			goal: "50 ms (p99)", reached: func(f Figures) bool { return time.Duration(f.NoticeP99) <= noticeGoal },
		},
	}
}

// each divides bytes by the number of restaurants.
func (f Figures) each(bytes int64) string {
	return fmt.Sprintf("%.1f KiB", float64(bytes)/float64(max(f.Restaurants, 1))/1024)
}

// withinLimit allows the burst of a rate limiter at the start, one second of calls.
func withinLimit(f Figures) bool {
	const reading = 1.02 // the count is read some milliseconds later
	return f.RateLimit == 0 || float64(f.Calls) <= f.RateLimit*(time.Duration(f.Filled).Seconds()+1)*reading
}

func limitText(rate float64) string {
	if rate == 0 {
		return "none"
	}
	return fmt.Sprintf("%.0f/s", rate)
}

// comparisons returns the rows of the comparisons, which differ by size.
func comparisons(sizes []Figures) []row {
	var found []row
	for i := range sizes[0].Unchanged {
		of := func(f Figures) Comparison {
			if i < len(f.Unchanged) {
				return f.Unchanged[i]
			}
			return Comparison{}
		}
		found = append(found, row{
			name: "CPU of an unchanged sync, " + sizes[0].Unchanged[i].Name + "; CPU of only fetching and hashing the body (ratio)",
			value: func(f Figures) string {
				return fmt.Sprintf("%s; %s (× %.2f)", short(of(f).Sync), short(of(f).Alone), of(f).Ratio)
			},
			goal:    "× 1.15",
			reached: func(f Figures) bool { return of(f).Ratio <= unchangedGoal },
		})
	}
	return found
}

func long(d Duration) string { return fmt.Sprintf("%.2f s", time.Duration(d).Seconds()) }

func short(d Duration) string { return fmt.Sprintf("%.2f ms", float64(d)/float64(time.Millisecond)) }

func sum(values []float64) float64 {
	total := 0.0
	for _, v := range values {
		total += v
	}
	return total
}

// Table returns the figures as a Markdown table. The last column shows whether the
// largest size meets its goals.
func (r Report) Table() string {
	if len(r.Sizes) == 0 {
		return ""
	}
	return r.table(slices.Concat(rows(), comparisons(r.Sizes)), "", nil)
}

// onPage leaves out the rows without a goal, except those that are kept.
func onPage(all []row) []row {
	return slices.DeleteFunc(slices.Clone(all), func(r row) bool { return r.goal == "" && !r.kept })
}

// table returns rows as a table. If more is not nil, there is one more column with this title.
func (r Report) table(rows []row, title string, more func(row) string) string {
	var text strings.Builder
	text.WriteString("| |")
	for _, f := range r.Sizes {
		fmt.Fprintf(&text, " %d |", f.Restaurants)
	}
	columns := len(r.Sizes) + 1
	if more != nil {
		columns++
		fmt.Fprintf(&text, " %s |", title)
	}
	text.WriteString(" goal |\n|---|" + strings.Repeat("---|", columns) + "\n")
	last := r.Sizes[len(r.Sizes)-1]
	for _, row := range rows {
		fmt.Fprintf(&text, "| %s |", row.name)
		for _, f := range r.Sizes {
			fmt.Fprintf(&text, " %s |", row.value(f))
		}
		if more != nil {
			fmt.Fprintf(&text, " %s |", more(row))
		}
		fmt.Fprintf(&text, " %s |\n", row.assess(last))
	}
	return text.String()
}

// loads returns the load averages before the sizes.
func (r Report) loads() string {
	loads := make([]string, len(r.Sizes))
	for i, f := range r.Sizes {
		loads[i] = fmt.Sprintf("%.1f", f.Load)
	}
	return strings.Join(loads, ", ")
}

// assess returns the goal and whether the figures meet it.
func (r row) assess(f Figures) string {
	switch {
	case r.reached == nil:
		return ""
	case r.reached(f):
		return r.goal + ": reached"
	default:
		return r.goal + ": **not reached**"
	}
}

// The marks around the section of a page.
const (
	beginMark = "<!-- scale: written by `larder-bench scale --out` -->"
	endMark   = "<!-- scale: end -->"
)

// Section returns the section of a page with the given file name of the plot.
func (r Report) Section(plot string) string {
	if len(r.Sizes) == 0 {
		return ""
	}
	first, m := r.Sizes[0], r.Machine
	return fmt.Sprintf(`%s
Each restaurant has %d dishes. Chains of 50 restaurants share a menu and differ in their stop lists. There are %d replicas, which are processes of the release binary with default settings. Redis writes to disk, and the sandbox is the ordering service. Everything runs on one machine: %d cores (%s), %s, %s. The load average before each size was %s. Command: `+"`make bench-replicas`"+`.

%s
![How time, memory and CPU grow with the number of restaurants. The dashed lines show linear growth.](%s)
%s`, beginMark, first.Products, first.Replicas, m.Cores, m.CPU, m.Go, m.Redis, r.loads(),
		r.table(onPage(slices.Concat(rows(), comparisons(r.Sizes))), "", nil), plot, endMark)
}

// Replace replaces the section between the marks of a page.
func Replace(page, section string) (string, error) {
	return ReplaceBetween(page, beginMark, endMark, section)
}

// ReplaceBetween replaces the section between these marks of a page. The new section
// includes its marks.
func ReplaceBetween(page, begin, end, section string) (string, error) {
	before, rest, begins := strings.Cut(page, begin)
	_, after, ends := strings.Cut(rest, end)
	if !begins || !ends {
		return "", errors.New("measure: the page has no place for the section; add these lines:\n" + begin + "\n" + end)
	}
	return before + section + after, nil
}
