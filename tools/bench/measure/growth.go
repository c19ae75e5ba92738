package measure

import (
	"context"
	"fmt"
	"net/http"
	"os"
	"slices"
	"time"

	"larder.local/internal/sandbox"
	"larder.local/internal/sleep"
	"larder.local/internal/testkit/process"
)

// Growth is the configuration of the measurement of one instance with a growing number of
// restaurants.
type Growth struct {
	Scale
	Generate sandbox.Generate
	// Sizes are the numbers of restaurants, ascending.
	Sizes []int
}

// maxLoading limits the time until an instance knows all versions, and until it has loaded them.
const maxLoading = 5 * time.Minute

// Measure starts Redis and the ordering service once. For each size it adds restaurants to
// Redis, and starts an instance that serves all of them.
func (g Growth) Measure(ctx context.Context) ([]Figures, error) {
	largest := g.Sizes[len(g.Sizes)-1]
	all := make([]string, largest)
	for i := range all {
		all[i] = g.Generate.RestaurantID(i)
	}
	g.Say("starting Redis and the ordering service of %d restaurants", largest)
	cluster, err := Build(ctx, g.Layout)
	if err != nil {
		return nil, err
	}
	defer cluster.Close()
	g.Generate.ImageBase = cluster.ServiceURL // as the ordering service does
	var found []Figures
	seeded := 0
	for _, size := range g.Sizes {
		g.Restaurants = all[:size]
		cluster.layout.Restaurants = g.Restaurants
		if err := os.WriteFile(cluster.config, cluster.configuration(cluster.Redis.URL), 0o600); err != nil {
			return nil, err
		}
		g.Say("%d restaurants: filling Redis", size)
		began := time.Now()
		if err := cluster.seed(ctx, g.Generate, seeded, size); err != nil {
			return nil, err
		}
		g.Say("  filled after %v", time.Since(began).Round(time.Second))
		seeded = size
		f, err := g.one(ctx, cluster)
		if err != nil {
			return nil, fmt.Errorf("%d restaurants: %w", size, err)
		}
		found = append(found, f)
	}
	return found, nil
}

// one measures an instance with the restaurants that Redis has now.
func (g Growth) one(ctx context.Context, cluster *Cluster) (f Figures, err error) {
	f = Figures{
		Restaurants:  len(g.Restaurants),
		Replicas:     1,
		Products:     g.Products,
		Menus:        (len(g.Restaurants) + g.Generate.ChainSize - 1) / g.Generate.ChainSize,
		Schedule:     g.Schedule,
		Load:         LoadAverage(),
		RedisVersion: cluster.Redis.Version(ctx),
	}
	if f.RedisBytes, err = cluster.Redis.Memory(ctx); err != nil {
		return f, err
	}
	m := &measuring{Scale: g.Scale, cluster: cluster, figures: &f}
	began := time.Now()
	l, err := cluster.Add(ctx)
	if err != nil {
		return f, err
	}
	defer l.Stop()
	m.serving = []*Instance{l}
	f.Listening = Duration(time.Since(began))
	if err := m.startup(ctx, l, began); err != nil {
		return f, fmt.Errorf("startup: %w", err)
	}
	if err := m.requests(ctx, l); err != nil {
		return f, err
	}
	if err := m.rest(ctx, l); err != nil {
		return f, fmt.Errorf("at rest: %w", err)
	}
	if err := m.changes(ctx); err != nil {
		return f, fmt.Errorf("changes: %w", err)
	}
	return f, nil
}

// readyEvery is the interval between two probes of /readyz and /metrics during a start.
// Each of them reads the state of all restaurants.
const readyEvery = 50 * time.Millisecond

// startup measures the time and CPU time until an instance is ready and until it knows all
// versions, and reads menus meanwhile.
func (m *measuring) startup(ctx context.Context, l *Instance, began time.Time) error {
	ctx, cancel := context.WithTimeout(ctx, maxLoading)
	defer cancel()
	for {
		answer, err := m.cluster.Ask(ctx, http.MethodGet, l.URL+"/readyz", "")
		if err == nil && answer.Status == http.StatusOK {
			break
		}
		if err := sleep.For(ctx, readyEvery); err != nil {
			return err
		}
	}
	m.figures.ColdReady = Duration(time.Since(began))
	used, err := CPU(l.PID())
	if err != nil {
		return err
	}
	m.figures.ReadyCPU = Duration(used)
	if err := m.firstReads(ctx, l); err != nil {
		return err
	}
	for missing := 1; missing > 0; {
		if err := sleep.For(ctx, readyEvery); err != nil {
			return err
		}
		if missing, err = m.missing(ctx, l); err != nil {
			return err
		}
	}
	m.figures.ColdServed = Duration(time.Since(began))
	m.Say("  ready after %.2fs (CPU %.2fs), first reads: median %.1fms, longest %.1fms",
		time.Duration(m.figures.ColdReady).Seconds(), used.Seconds(),
		time.Duration(m.figures.FirstReadMid).Seconds()*1000, time.Duration(m.figures.FirstReadMax).Seconds()*1000)
	return nil
}

// requestsEach is how often the requests that read the state of all restaurants are sent.
const requestsEach = 5

// requests measures the probe and the scrape.
func (m *measuring) requests(ctx context.Context, l *Instance) error {
	for path, into := range map[string]*Duration{"/readyz": &m.figures.Probe, "/metrics": &m.figures.Scrape} {
		var all []time.Duration
		for range requestsEach {
			began := time.Now()
			if _, err := m.cluster.Ask(ctx, http.MethodGet, l.URL+path, ""); err != nil {
				return err
			}
			all = append(all, time.Since(began))
		}
		*into = Duration(Quantile(all, 0.5))
	}
	return nil
}

// awaitIdle waits until an instance uses less than a twentieth of a core, at most maxLoading.
func awaitIdle(ctx context.Context, l *Instance) error {
	const each, most = 5 * time.Second, 250 * time.Millisecond
	before, err := CPU(l.PID())
	for limit := time.Now().Add(maxLoading); err == nil && time.Now().Before(limit); {
		if err := sleep.For(ctx, each); err != nil {
			return err
		}
		var now time.Duration
		if now, err = CPU(l.PID()); err == nil && now-before < most {
			return nil
		}
		before = now
	}
	return err
}

// rest measures memory, and CPU time while the instance polls Redis and runs the scheduled
// syncs. No request is sent meanwhile.
func (m *measuring) rest(ctx context.Context, l *Instance) error {
	if err := sleep.For(ctx, m.SteadyWithin); err != nil {
		return err
	}
	if err := awaitIdle(ctx, l); err != nil { // it loads menus until then
		return err
	}
	watched := []*process.Child{l.Child, m.cluster.Redis.Child}
	before, runsBefore, err := m.usage(ctx, watched)
	if err != nil {
		return err
	}
	began := time.Now()
	if err := sleep.For(ctx, m.Window); err != nil {
		return err
	}
	after, runsAfter, err := m.usage(ctx, watched)
	if err != nil {
		return err
	}
	took := time.Since(began)
	f := m.figures
	f.Window = Duration(took)
	f.PollCPU = (after[0] - before[0]).Seconds() / took.Minutes()
	f.RedisCPU = (after[1] - before[1]).Seconds() / took.Minutes()
	f.WindowRuns = (runsAfter.good - runsBefore.good) / took.Seconds()
	f.WindowFaults = int(runsAfter.bad) // also during the start
	sample, err := l.Sample(ctx)
	if err != nil {
		return err
	}
	calls := sample.Sum("larder_upstream_calls_total", `operation="menu"`)
	f.CallFaults = int(calls - sample.Sum("larder_upstream_calls_total", `operation="menu"`, `status="3xx"`))
	f.Calls = int(calls)
	if err := m.collected(ctx, l, began); err != nil {
		return err
	}
	if f.ColdRSS, f.ColdHeap, err = m.memory(ctx, l); err != nil {
		return err
	}
	m.Say("  at rest: %.2f CPU seconds a minute, Redis %.2f; %.2f syncs a second; live heap %d MiB; %d syncs without a 304",
		f.PollCPU, f.RedisCPU, f.WindowRuns, f.ColdHeap>>20, f.CallFaults)
	return nil
}

// GrowthReport contains the figures of one instance.
type GrowthReport struct{ Report }

func growthRows() []row { return append(startRows(), restRows()...) }

func startRows() []row {
	mib := func(n int64) string { return fmt.Sprintf("%.0f MiB", float64(n)/(1<<20)) }
	return []row{
		{
			name: "start with a full Redis: time until `/readyz` is 200", value: func(f Figures) string { return long(f.ColdReady) },
			figure: func(f Figures) float64 { return float64(f.ColdReady) },
			goal:   "10 s", reached: func(f Figures) bool { return time.Duration(f.ColdReady) <= 10*time.Second },
		},
		{
			name: "CPU time of the instance until then", value: func(f Figures) string { return long(f.ReadyCPU) },
			figure: func(f Figures) float64 { return float64(f.ReadyCPU) },
		},
		{
			name: "time until it listens (configuration)", value: func(f Figures) string { return long(f.Listening) },
			figure: func(f Figures) float64 { return float64(f.Listening) },
		},
		{
			name: "time until every version is known and the first reads are done", value: func(f Figures) string { return long(f.ColdServed) },
			figure: func(f Figures) float64 { return float64(f.ColdServed) },
		},
		{
			name:  "first reads meanwhile: median, maximum",
			value: func(f Figures) string { return short(f.FirstReadMid) + ", " + short(f.FirstReadMax) },
		},
		{
			name: "live heap", value: func(f Figures) string { return mib(f.ColdHeap) + ", " + f.each(f.ColdHeap) + " each" },
			figure: func(f Figures) float64 { return float64(f.ColdHeap) },
			goal:   "1.8 GiB", reached: func(f Figures) bool { return f.ColdHeap <= 18<<30/10 },
		},
		{
			name: "RSS", kept: true, value: func(f Figures) string { return mib(f.ColdRSS) },
			figure: func(f Figures) float64 { return float64(f.ColdRSS) },
		},
		{
			name: "Redis (`used_memory`)", kept: true, value: func(f Figures) string { return mib(f.RedisBytes) + ", " + f.each(f.RedisBytes) + " each" },
			figure: func(f Figures) float64 { return float64(f.RedisBytes) },
		},
	}
}

func restRows() []row {
	number := func(v float64) string { return fmt.Sprintf("%.2f", v) }
	return []row{
		{
			name: "CPU at rest, seconds per minute: the instance", kept: true, value: func(f Figures) string { return number(f.PollCPU) },
			figure: func(f Figures) float64 { return f.PollCPU },
		},
		{
			name: "CPU at rest, seconds per minute: Redis", value: func(f Figures) string { return number(f.RedisCPU) },
			figure: func(f Figures) float64 { return f.RedisCPU },
		},
		{name: "syncs per second meanwhile", value: func(f Figures) string { return number(f.WindowRuns) }},
		{
			name: "syncs with another outcome than `unchanged`; of all, without a 304", value: func(f Figures) string { return fmt.Sprintf("%d; %d of %d", f.WindowFaults, f.CallFaults, f.Calls) },
			goal: "0; 0", reached: func(f Figures) bool { return f.WindowFaults+f.CallFaults == 0 },
		},
		{
			name: "one request of `/readyz`", value: func(f Figures) string { return short(f.Probe) },
			figure: func(f Figures) float64 { return float64(f.Probe) },
		},
		{
			name: "one request of `/metrics`", kept: true, value: func(f Figures) string { return short(f.Scrape) },
			figure: func(f Figures) float64 { return float64(f.Scrape) },
		},
		{name: "time until a stop-list change is visible: median, maximum", kept: true, value: func(f Figures) string { return short(f.ChangeMid) + ", " + short(f.ChangeP99) }},
	}
}

// Table returns the figures as a Markdown table. The last columns are the growth per restaurant
// from the smallest to the largest size, and whether the largest size meets the goals.
func (r GrowthReport) Table() string {
	if len(r.Sizes) == 0 {
		return ""
	}
	return r.growthTable(growthRows())
}

func (r GrowthReport) growthTable(rows []row) string {
	first, last := r.Sizes[0], r.Sizes[len(r.Sizes)-1]
	return r.table(rows, "growth per restaurant", func(one row) string {
		if one.figure == nil || one.figure(first) == 0 {
			return ""
		}
		return fmt.Sprintf("× %.2f", one.figure(last)/one.figure(first)*float64(first.Restaurants)/float64(last.Restaurants))
	})
}

// Plot draws the growth as Report.Plot does.
func (r GrowthReport) Plot() string {
	kept := slices.DeleteFunc(panels(), func(p panel) bool { return !p.alone })
	kept = append(kept,
		panel{title: "CPU time until ready", value: func(f Figures) float64 { return time.Duration(f.ReadyCPU).Seconds() }, text: kept[0].text},
		panel{title: "CPU of Redis, seconds per minute", value: func(f Figures) float64 { return f.RedisCPU }, text: kept[0].text},
	)
	return r.plot(kept)
}

// The marks around the section of a page.
const (
	growthBegin = "<!-- restaurants: written by `larder-bench restaurants --out` -->"
	growthEnd   = "<!-- restaurants: end -->"
)

// Section returns the section of a page with the given file name of the plot.
func (r GrowthReport) Section(plot string) string {
	if len(r.Sizes) == 0 {
		return ""
	}
	return fmt.Sprintf(`%s
One instance, which is a process of the release binary (%s) with default settings except the schedule, %s. So the ordering service, the sandbox, gets few requests. Each restaurant has %d dishes, and chains of 50 restaurants share a menu and differ in their stop lists. Redis writes to disk. Everything runs on one machine: %d cores (%s), %s, %s. The load average before each size was %s. Command: `+"`make bench-scale`"+`.

%s
![How time, memory and CPU of one instance grow with the number of restaurants. The dashed lines show linear growth.](%s)
%s`, growthBegin, r.Machine.Build, r.Sizes[0].Schedule, r.Sizes[0].Products, r.Machine.Cores, r.Machine.CPU, r.Machine.Go, r.Machine.Redis, r.loads(), r.growthTable(onPage(growthRows())), plot, growthEnd)
}

// ReplaceGrowth replaces the section between the marks of a page.
func ReplaceGrowth(page, section string) (string, error) {
	return ReplaceBetween(page, growthBegin, growthEnd, section)
}
