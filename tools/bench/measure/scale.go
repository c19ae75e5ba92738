package measure

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"os"
	"strconv"
	"strings"
	"time"

	"larder/internal/sleep"
	"larder/internal/testkit/metrics"
	"larder/internal/testkit/process"
)

// Scale is one size to be measured.
type Scale struct {
	Layout
	Replicas int
	Products int
	// Menus and RawBytes are the distinct menus and their JSON's bytes.
	Menus    int
	RawBytes int64
	// FillWithin bounds the time until all is served, Window is how long the
	// steady state is watched.
	FillWithin, Window time.Duration
	// SteadyWithin bounds the wait, after the first fill, until no more is
	// synced than the schedule asks for.
	SteadyWithin time.Duration
	// Reads and Changes are how many first reads and changes are measured.
	Reads, Changes int
	// Compare measures an unchanged sync; nil leaves it out.
	Compare func(ctx context.Context, t *Cluster) ([]Comparison, error)
	// Say is called with the progress, one line at a time.
	Say func(format string, args ...any)
}

// Measure builds the cluster, measures, and takes everything down again.
func (s Scale) Measure(ctx context.Context) (f Figures, err error) {
	f = Figures{
		Restaurants: len(s.Restaurants), Replicas: s.Replicas, Products: s.Products, Menus: s.Menus, RawBytes: s.RawBytes,
		Schedule: s.Schedule, RateLimit: s.Rate * float64(s.Replicas), Load: LoadAverage(),
		HeapGoal: s.RawBytes*3/2 + int64(len(s.Restaurants))*(4<<10),
	}
	s.Say("%d restaurants: starting Redis and the ordering service", len(s.Restaurants))
	cluster, err := Build(ctx, s.Layout)
	if err != nil {
		return f, err
	}
	defer cluster.Close()
	f.RedisVersion = cluster.Redis.Version(ctx)
	m := &measuring{Scale: s, cluster: cluster, figures: &f}
	for _, step := range []struct {
		name string
		do   func(context.Context) error
	}{
		{"first fill", m.fill},
		{"cold start", m.cold},
		{"until steady", m.awaitSteady},
		{"steady state", m.steady},
		{"changes", m.changes},
		{"unchanged syncs", m.compare},
	} {
		if err := step.do(ctx); err != nil {
			return f, fmt.Errorf("%s: %w", step.name, err)
		}
	}
	return f, nil
}

// measuring is one size at work.
type measuring struct {
	Scale
	cluster *Cluster
	figures *Figures
	serving []*Instance
}

// LoadAverage is the machine's load average of the last minute; 0 where it is not
// known.
func LoadAverage() float64 {
	text, err := os.ReadFile("/proc/loadavg")
	if err != nil {
		return 0
	}
	first, _, _ := strings.Cut(string(text), " ")
	value, _ := strconv.ParseFloat(first, 64)
	return value
}

// missing is how many restaurants the larder does not serve yet.
func (m *measuring) missing(ctx context.Context, l *Instance) (int, error) {
	if err := l.Alive(); err != nil {
		return 0, err
	}
	sample, err := l.Sample(ctx)
	if err != nil {
		return 0, err
	}
	served := int(sample.Sum("larder_restaurants", `state="fresh"`) + sample.Sum("larder_restaurants", `state="stale"`))
	return len(m.Restaurants) - served, nil
}

// mostMissing returns how many restaurants the replica that lacks most does not serve.
func (m *measuring) mostMissing(ctx context.Context) (int, error) {
	most := 0
	for _, l := range m.serving {
		missing, err := m.missing(ctx, l)
		if err != nil {
			return 0, err
		}
		most = max(most, missing)
	}
	return most, nil
}

// fill starts the replicas on an empty Redis and waits until each of them
// serves everything.
func (m *measuring) fill(ctx context.Context) error {
	ctx, cancel := context.WithTimeoutCause(ctx, m.FillWithin, fmt.Errorf("not served within %v", m.FillWithin))
	defer cancel()
	began := time.Now()
	for range m.Replicas {
		l, err := m.cluster.Add(ctx)
		if err != nil {
			return err
		}
		m.serving = append(m.serving, l)
	}
	var (
		calls, before int
		at            = began
		said          = began
	)
	for {
		most, err := m.mostMissing(ctx)
		if err != nil {
			return err
		}
		if calls, err = m.cluster.menuCalls(ctx); err != nil {
			return err
		}
		if passed := time.Since(at); passed >= time.Second || most == 0 {
			if passed >= time.Second {
				m.figures.CallsPeak = max(m.figures.CallsPeak, float64(calls-before)/passed.Seconds())
			}
			before, at = calls, time.Now()
		}
		if most == 0 {
			break
		}
		if time.Since(said) > 5*time.Second {
			said = time.Now()
			m.Say("  %d of %d served by all, %d calls%s", len(m.Restaurants)-most, len(m.Restaurants), calls, Remaining(len(m.Restaurants)-most, len(m.Restaurants), time.Since(began)))
		}
		if err := sleep.For(ctx, 100*time.Millisecond); err != nil {
			return err
		}
	}
	filled := time.Since(began)
	m.figures.Filled, m.figures.Calls = Duration(filled), calls
	m.figures.CallsMean = float64(calls) / filled.Seconds()
	m.figures.CallsPeak = max(m.figures.CallsPeak, m.figures.CallsMean)
	for _, l := range m.serving {
		sample, err := l.Sample(ctx)
		if err != nil {
			return err
		}
		menus := sample.Sum("larder_upstream_calls_total", `operation="menu"`)
		good := sample.Sum("larder_upstream_calls_total", `operation="menu"`, `status="2xx"`) +
			sample.Sum("larder_upstream_calls_total", `operation="menu"`, `status="3xx"`)
		m.figures.CallFaults += int(menus - good)
	}
	m.Say("  served by all %d replicas after %v: %d calls, %.0f a second (peak %.0f)", m.Replicas, filled.Round(time.Millisecond), calls, m.figures.CallsMean, m.figures.CallsPeak)
	var err error
	m.figures.RedisBytes, err = m.cluster.Redis.Memory(ctx)
	return err
}

// cold starts one more larder on the full Redis, reads menus that nobody has
// read, and ends it again.
func (m *measuring) cold(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, 2*time.Minute)
	defer cancel()
	began := time.Now()
	l, err := m.cluster.Add(ctx)
	if err != nil {
		return err
	}
	defer l.Stop()
	if err := l.Ready(ctx); err != nil {
		return err
	}
	m.figures.ColdReady = Duration(time.Since(began))
	reads := make([]time.Duration, 0, m.Reads)
	for i := range min(m.Reads, len(m.Restaurants)) {
		// Spread over all chains, so that each content is read for the first time.
		restaurant := m.Restaurants[i*len(m.Restaurants)/min(m.Reads, len(m.Restaurants))]
		asked := time.Now()
		answer, err := m.cluster.Ask(ctx, http.MethodGet, l.URL+"/v1/restaurants/"+restaurant+"/menu", "", "Accept-Encoding", "gzip")
		if err != nil {
			return err
		}
		if answer.Status != http.StatusOK {
			return fmt.Errorf("the first read of %s answered %d", restaurant, answer.Status)
		}
		reads = append(reads, time.Since(asked))
	}
	m.figures.FirstReads = len(reads)
	m.figures.FirstReadMid, m.figures.FirstReadMax = Duration(Quantile(reads, 0.5)), Duration(Quantile(reads, 1))
	for {
		missing, err := m.missing(ctx, l)
		if err != nil {
			return err
		}
		if missing == 0 {
			break
		}
		if err := sleep.For(ctx, 20*time.Millisecond); err != nil {
			return err
		}
	}
	m.figures.ColdServed = Duration(time.Since(began))
	if m.figures.ColdRSS, m.figures.ColdHeap, err = m.memory(ctx, l); err != nil {
		return err
	}
	m.Say("  a new replica was ready after %v and had all after %v; %d first reads: median %v, longest %v",
		time.Duration(m.figures.ColdReady).Round(time.Millisecond), time.Duration(m.figures.ColdServed).Round(time.Millisecond),
		len(reads), time.Duration(m.figures.FirstReadMid).Round(10*time.Microsecond), time.Duration(m.figures.FirstReadMax).Round(10*time.Microsecond))
	return nil
}

// memory is what a larder takes: in RAM, and reachable on its heap.
func (m *measuring) memory(ctx context.Context, l *Instance) (rss, heap int64, err error) {
	if rss, err = RSS(l.PID()); err != nil {
		return 0, 0, err
	}
	sample, err := l.Sample(ctx)
	return rss, int64(liveHeap(sample)), err
}

// liveHeap estimates what was reachable at the last collection, in bytes: the
// collector lets the heap grow to twice of it (GOGC 100) before the next one.
func liveHeap(s metrics.Sample) float64 { return s.Sum("go_memstats_next_gc_bytes") / 2 }

// steadyEvery is how long the syncs are counted for before they are compared with the goal.
const steadyEvery = 10 * time.Second

// awaitSteady waits until what the first fill has left behind is synced: until no
// more runs come than the schedule makes. One that is no @every is not waited for.
func (m *measuring) awaitSteady(ctx context.Context) error {
	every, err := time.ParseDuration(strings.TrimPrefix(m.Schedule, "@every "))
	if err != nil {
		return nil //nolint:nilerr // another form of schedule: there is nothing to wait for
	}
	began := time.Now()
	most := 1.1*float64(len(m.Restaurants))/every.Seconds() + 1
	for {
		_, before, err := m.usage(ctx, nil)
		if err != nil {
			return err
		}
		if err := sleep.For(ctx, min(steadyEvery, m.Window)); err != nil {
			return err
		}
		_, after, err := m.usage(ctx, nil)
		if err != nil {
			return err
		}
		took := time.Since(began)
		m.figures.Steady = Duration(took)
		rate := (after.good + after.bad - before.good - before.bad) / min(steadyEvery, m.Window).Seconds()
		if rate <= most {
			return nil
		}
		if took >= m.SteadyWithin {
			m.Say("  not steady within %v: still %.0f syncs a second, and %.0f are due", m.SteadyWithin, rate, most)
			return nil
		}
	}
}

// steady watches everything while no menu changes.
func (m *measuring) steady(ctx context.Context) error {
	watched := []*process.Child{m.cluster.Redis.Child, m.cluster.Service}
	for _, l := range m.serving {
		watched = append(watched, l.Child)
	}
	before, runsBefore, err := m.usage(ctx, watched)
	if err != nil {
		return err
	}
	began := time.Now()
	m.Say("  watching the steady state for %v", m.Window)
	if err := sleep.For(ctx, m.Window); err != nil {
		return err
	}
	after, runsAfter, err := m.usage(ctx, watched)
	if err != nil {
		return err
	}
	took := time.Since(began)
	minute := func(i int) float64 { return (after[i] - before[i]).Seconds() / took.Minutes() }
	m.figures.Window = Duration(took)
	m.figures.RedisCPU, m.figures.ServiceCPU = minute(0), minute(1)
	for i := range m.serving {
		m.figures.ReplicaCPU = append(m.figures.ReplicaCPU, minute(2+i))
	}
	m.figures.WindowRuns = (runsAfter.good - runsBefore.good) / took.Seconds()
	m.figures.WindowFaults = int(runsAfter.bad - runsBefore.bad)
	for _, l := range m.serving {
		if err := m.collected(ctx, l, began); err != nil {
			return err
		}
		rss, heap, err := m.memory(ctx, l)
		if err != nil {
			return err
		}
		m.figures.ReplicaRSS, m.figures.ReplicaHeap = max(m.figures.ReplicaRSS, rss), max(m.figures.ReplicaHeap, heap)
	}
	m.figures.ServiceBytes, err = RSS(m.cluster.Service.PID())
	m.Say("  %.1f syncs a second; CPU seconds a minute: replicas %.2f, Redis %.2f, ordering service %.2f", m.figures.WindowRuns, m.figures.ReplicaCPU, m.figures.RedisCPU, m.figures.ServiceCPU)
	return err
}

// collectEvery is a little more than the time after which Go collects garbage
// in any case.
const collectEvery = 130 * time.Second

// collected waits until the larder has collected its garbage since a moment, for
// some windows at most: what was reachable during the first fill says nothing of
// the steady state.
func (m *measuring) collected(ctx context.Context, l *Instance, since time.Time) error {
	limit := time.Now().Add(min(collectEvery, 3*m.Window))
	for {
		sample, err := l.Sample(ctx)
		if err != nil {
			return err
		}
		if sample.Sum("go_memstats_last_gc_time_seconds") > float64(since.UnixNano())/1e9 || time.Now().After(limit) {
			return nil
		}
		if err := sleep.For(ctx, time.Second); err != nil {
			return err
		}
	}
}

// runs are syncs by how they ended.
type runs struct{ good, bad float64 }

func (m *measuring) usage(ctx context.Context, of []*process.Child) (cpu []time.Duration, done runs, err error) {
	for _, child := range of {
		used, err := CPU(child.PID())
		if err != nil {
			return nil, done, errors.Join(err, child.Alive())
		}
		cpu = append(cpu, used)
	}
	for _, l := range m.serving {
		sample, err := l.Sample(ctx)
		if err != nil {
			return nil, done, err
		}
		all := sample.Sum("larder_sync_runs_total")
		good := sample.Sum("larder_sync_runs_total", `outcome="unchanged"`)
		done.good += good
		done.bad += all - good
	}
	return cpu, done, nil
}

// compare hands the cluster over for the comparison of an unchanged sync.
func (m *measuring) compare(ctx context.Context) (err error) {
	if m.Compare == nil {
		return nil
	}
	m.Say("  comparing unchanged syncs with fetching and hashing alone")
	m.figures.Unchanged, err = m.Compare(ctx, m.cluster)
	return err
}
