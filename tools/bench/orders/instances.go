package orders

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"path/filepath"
	"runtime"
	"slices"
	"time"

	"larder.local/internal/sleep"
	"larder.local/tools/bench/loadgen"
	"larder.local/tools/bench/measure"
)

// Setup is a Redis with larder's settings for it.
type Setup struct {
	Name         string
	Redis        measure.RedisShape
	WaitReplicas int
	// Connections is the number of connections (tenants) of larder. The records of one
	// connection are on one master.
	Connections int
}

// Setups returns all setups.
func Setups() []Setup {
	const tenants, masters = 8, 3
	return []Setup{
		{Name: "one Redis", Connections: 1},
		{
			Name:         "one Redis and a replica, `wait_replicas: 1`",
			Redis:        measure.RedisShape{Replicas: 1},
			WaitReplicas: 1,
			Connections:  1,
		},
		{
			Name:        "cluster of 3 masters, 8 connections",
			Redis:       measure.RedisShape{Cluster: masters},
			Connections: tenants,
		},
		{
			Name:         "cluster of 3 masters with a replica each, 8 connections, `wait_replicas: 1`",
			Redis:        measure.RedisShape{Cluster: masters, Replicas: 1},
			WaitReplicas: 1,
			Connections:  tenants,
		},
	}
}

// Instances is the configuration of a measurement of several instances.
type Instances struct {
	// Larder is the program, Dir a folder for its files.
	Larder, Dir string
	// Setups are the measured setups, Counts the numbers of instances.
	Setups []Setup
	Counts []int
	Rounds int
	For    time.Duration // of each run
	// Say prints one line of progress.
	Say func(format string, args ...any)
}

// Point contains the runs of a number of instances.
type Point struct {
	Instances int   `json:"instances"`
	Runs      []Run `json:"runs"`
}

// of returns the median of one figure.
func (p Point) of(value func(Run) float64) float64 {
	values := make([]float64, len(p.Runs))
	for i, r := range p.Runs {
		values[i] = value(r)
	}
	return measure.Median(values)
}

// Measured contains the points of a setup.
type Measured struct {
	Setup    string  `json:"setup"`
	Masters  int     `json:"masters"`
	Replicas int     `json:"replicas"` // of all masters
	Points   []Point `json:"points"`
}

// Growth is the result of a measurement of several instances.
type Growth struct {
	Machine measure.Machine `json:"machine"`
	Command string          `json:"command"`
	Load    float64         `json:"loadAverage"`
	Rounds  int             `json:"rounds"`
	Seconds float64         `json:"seconds"`
	Setups  []Measured      `json:"setups"`
}

// Measure measures every setup with its own processes, and ends them.
func (p Instances) Measure(ctx context.Context) (Growth, error) {
	g := Growth{Rounds: p.Rounds, Seconds: p.For.Seconds(), Load: measure.LoadAverage()}
	for i, setup := range p.Setups {
		measured, err := p.setup(ctx, i, setup, &g)
		if err != nil {
			return g, fmt.Errorf("instances: %s: %w", setup.Name, err)
		}
		g.Setups = append(g.Setups, measured)
	}
	return g, nil
}

// setup measures one setup. It starts the largest number of instances, and loads some
// of them: the others use almost no CPU time.
func (p Instances) setup(ctx context.Context, number int, setup Setup, g *Growth) (m Measured, err error) {
	dir := filepath.Join(p.Dir, fmt.Sprintf("setup-%d", number+1))
	p.Say("%s: starting %d instances", setup.Name, slices.Max(p.Counts))
	group, err := measure.StartRedisGroup(ctx, dir, setup.Redis)
	if err != nil {
		return m, err
	}
	defer group.Close()
	stock, err := newStock(dir, setup.Connections)
	if err != nil {
		return m, err
	}
	layout := stock.layout(p.Larder, dir, setup.WaitReplicas)
	layout.RedisURL, layout.Connections = group.URL, setup.Connections
	cluster, instances, err := stock.start(ctx, layout, slices.Max(p.Counts))
	if err != nil {
		return m, err
	}
	defer cluster.Close()
	token, err := instances[0].Token(ctx)
	if err != nil {
		return m, err
	}
	g.Machine.Redis = group.Masters[0].Version(ctx)
	l := &instancesLoad{
		Instances: p,
		stock:     stock,
		instances: instances,
		token:     token,
		watched:   watched{redis: group, service: cluster.Service},
	}
	m = Measured{Setup: setup.Name, Masters: len(group.Masters), Replicas: len(group.Replicas)}
	for _, n := range p.Counts {
		m.Points = append(m.Points, Point{Instances: n})
	}
	return m, l.rounds(ctx, m.Points)
}

// instancesLoad loads the instances of a setup.
type instancesLoad struct {
	Instances

	stock     stock
	instances []*measure.Instance
	token     string
	watched   watched
	key       int
}

// rounds warms up and measures every number of instances in every round.
func (l *instancesLoad) rounds(ctx context.Context, points []Point) error {
	if _, err := l.run(ctx, len(l.instances), min(l.For, 2*time.Second)); err != nil {
		return fmt.Errorf("warming up: %w", err)
	}
	if err := sleep.For(ctx, proofTime); err != nil {
		return err
	}
	for round := range l.Rounds {
		l.Say("  round %d of %d", round+1, l.Rounds)
		for i := range points {
			point := &points[(i+round)%len(points)]
			run, err := l.run(ctx, point.Instances, l.For)
			if err != nil {
				return fmt.Errorf("%d instances: %w", point.Instances, err)
			}
			point.Runs = append(point.Runs, run)
		}
	}
	return nil
}

// run places orders through some of the instances. The CPU time of the others counts
// too: they belong to the setup.
func (l *instancesLoad) run(ctx context.Context, n int, d time.Duration) (Run, error) {
	if n > len(l.instances) {
		return Run{}, errors.New("too few instances")
	}
	plan := loadgen.Plan{
		Requests:    l.stock.create(l.token),
		FirstKey:    l.key,
		Status:      http.StatusCreated,
		Connections: connections,
		For:         d,
	}
	watching := l.watched
	for i, instance := range l.instances {
		if i < n {
			plan.Addresses = append(plan.Addresses, hostOf(instance.URL))
		}
		watching.servers = append(slices.Clone(watching.servers), instance.Child)
	}
	run, found, err := watching.run(ctx, plan, runtime.NumCPU())
	l.key += found.Answered
	return run, err
}
