package measure

import (
	"context"
	"errors"
	"fmt"
	"os"
	"strconv"
	"strings"
	"time"

	"larder.local/internal/sleep"
	"larder.local/internal/testkit/metrics"
	"larder.local/internal/testkit/process"
)

// Scale is the configuration of one size.
type Scale struct {
	Layout
	Replicas int
	Products int
	// Menus and RawBytes are the number of distinct menus and the size of their JSON.
	Menus    int
	RawBytes int64
	// FillWithin is the timeout of the first fill. Window is the duration of the
	// steady-state measurement.
	FillWithin, Window time.Duration
	// PollWindow is the duration for which a replica that only polls is watched.
	PollWindow time.Duration
	// SteadyWithin limits the wait, after the first fill, until only scheduled syncs
	// run.
	SteadyWithin time.Duration
	// Reads and Changes are the numbers of measured first reads and changes.
	Reads, Changes int
	// Compare measures an unchanged sync; nil omits it.
	Compare func(ctx context.Context, t *Cluster) ([]Comparison, error)
	// Say prints one line of progress.
	Say func(format string, args ...any)
}

// Measure builds the cluster, measures, and ends all processes.
func (s Scale) Measure(ctx context.Context) (f Figures, err error) {
	f = Figures{
		Restaurants: len(s.Restaurants),
		Replicas:    s.Replicas,
		Products:    s.Products,
		Menus:       s.Menus,
		RawBytes:    s.RawBytes,
		Schedule:    s.Schedule,
		RateLimit:   s.Rate * float64(s.Replicas),
		Load:        LoadAverage(),
		HeapGoal:    s.RawBytes*3/2 + int64(len(s.Restaurants))*(4<<10),
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

// measuring is the measurement of one size.
type measuring struct {
	Scale
	cluster *Cluster
	figures *Figures
	serving []*Instance
}

// LoadAverage returns the machine's load average of the last minute, or 0 if it is
// unknown.
func LoadAverage() float64 {
	text, err := os.ReadFile("/proc/loadavg")
	if err != nil {
		return 0
	}
	first, _, _ := strings.Cut(string(text), " ")
	value, _ := strconv.ParseFloat(first, 64)
	return value
}

// missing returns the number of restaurants that the instance does not serve yet.
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

// mostMissing returns the largest number of missing restaurants of any replica.
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

// fill starts the replicas with an empty Redis and waits until each of them serves
// all restaurants.
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

// memory returns the resident memory and the reachable heap of an instance.
func (m *measuring) memory(ctx context.Context, l *Instance) (rss, heap int64, err error) {
	if rss, err = RSS(l.PID()); err != nil {
		return 0, 0, err
	}
	sample, err := l.Sample(ctx)
	return rss, int64(liveHeap(sample)), err
}

// heapReserve is that of cmd/larder/serve.go: it counts as heap and is not used.
const heapReserve = 24 << 20

// liveHeap estimates the memory in use at the last collection, in bytes: the heap
// grows to twice this size (GOGC 100) before the next one.
func liveHeap(s metrics.Sample) float64 { return s.Sum("go_memstats_next_gc_bytes")/2 - heapReserve }

// steadyEvery is the time for which syncs are counted before a comparison with the goal.
const steadyEvery = 10 * time.Second

// awaitSteady waits until only scheduled syncs run, after those that the first fill
// caused. It waits only for a schedule of the form @every.
func (m *measuring) awaitSteady(ctx context.Context) error {
	every, err := time.ParseDuration(strings.TrimPrefix(m.Schedule, "@every "))
	if err != nil {
		return nil //nolint:nilerr // another form of schedule: nothing to wait for
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

// steady measures while no menu changes.
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

// collectEvery is longer than the maximum interval between two collections of Go.
const collectEvery = 130 * time.Second

// collected waits until the instance has collected garbage since a time, for a limited
// number of windows: memory of the first fill does not belong to the steady state.
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

// runs counts syncs by outcome.
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

// compare runs the comparison of an unchanged sync.
func (m *measuring) compare(ctx context.Context) (err error) {
	if m.Compare == nil {
		return nil
	}
	m.Say("  comparing unchanged syncs with fetching and hashing alone")
	m.figures.Unchanged, err = m.Compare(ctx, m.cluster)
	return err
}
