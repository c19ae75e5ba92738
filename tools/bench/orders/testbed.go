package orders

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"path/filepath"
	"regexp"
	"runtime"
	"slices"
	"time"

	"larder.local/internal/sleep"
	"larder.local/internal/testkit/process"
	"larder.local/tools/bench/answers"
	"larder.local/tools/bench/loadgen"
	"larder.local/tools/bench/measure"
)

// testbed contains the processes of a comparison: the ordering service, and for each
// mode a Redis, larder and the usual implementation.
type testbed struct {
	Plan
	report   *Report
	stock    stock
	service  *process.Child
	groups   []*measure.RedisGroup
	clusters []*measure.Cluster
	peers    []*process.Child
	sides    []*side
}

// side is a server in one mode.
type side struct {
	watched
	name, mode string
	address    string
	token      string
	key        int // number of the next idempotency key
	series     int // index in the report
}

// close ends every process.
func (b *testbed) close() {
	for _, peer := range b.peers {
		peer.Stop()
	}
	for _, cluster := range b.clusters {
		cluster.Close()
	}
	if b.service != nil {
		b.service.Kill() // its data is not needed
	}
	for _, group := range b.groups {
		group.Close()
	}
}

// mode is a way in which Redis stores orders, with ordering.wait_replicas for it.
type mode struct {
	name         string
	shape        measure.RedisShape
	waitReplicas int
}

// modes returns both modes.
func modes() []mode {
	return []mode{
		{Everysec, measure.RedisShape{Settings: []string{"--appendfsync", "everysec"}}, 0},
		{Always, measure.RedisShape{Replicas: 1, Settings: []string{"--appendfsync", "always"}}, 1},
	}
}

// build starts all processes.
func (b *testbed) build(ctx context.Context) (err error) {
	b.Say("starting the ordering service, Redis, larder and the usual implementation")
	if b.stock, err = newStock(b.Dir, 1); err != nil {
		return err
	}
	var serviceURL string
	if b.service, serviceURL, err = measure.StartService(ctx, b.stock.layout(b.Larder, b.Dir, 0)); err != nil {
		return err
	}
	for _, mode := range modes() {
		dir := filepath.Join(b.Dir, mode.name)
		group, err := measure.StartRedisGroup(ctx, dir, mode.shape)
		if err != nil {
			return err
		}
		b.groups = append(b.groups, group)
		layout := b.stock.layout(b.Larder, dir, mode.waitReplicas)
		layout.RedisURL, layout.ServiceURL, layout.NoReuse = group.URL, serviceURL, b.NoReuse
		cluster, instances, err := b.stock.start(ctx, layout, 1)
		if err != nil {
			return err
		}
		b.clusters = append(b.clusters, cluster)
		token, err := instances[0].Token(ctx)
		if err != nil {
			return err
		}
		b.add(ourName, mode.name, hostOf(instances[0].URL), token, instances[0].Child, group)
		peer, address, err := b.usual(ctx, dir, group.URL, serviceURL)
		if err != nil {
			return err
		}
		b.add(usualName, mode.name, address, token, peer, group)
	}
	b.report.Machine.Redis = b.groups[0].Masters[0].Version(ctx)
	return nil
}

// add adds a server.
func (b *testbed) add(name, mode, address, token string, server *process.Child, redis *measure.RedisGroup) {
	b.sides = append(b.sides, &side{
		watched: watched{servers: []*process.Child{server}, redis: redis, service: b.service},
		name:    name,
		mode:    mode,
		address: address,
		token:   token,
		series:  len(b.report.Series),
	})
	b.report.Series = append(b.report.Series, Series{Server: name, Mode: mode, Runs: map[string][]Run{}})
}

var listens = regexp.MustCompile(`listening on (\S+)`)

// usual starts the usual implementation.
func (b *testbed) usual(ctx context.Context, dir, redisURL, serviceURL string) (*process.Child, string, error) {
	child, err := process.Start(ctx, dir, answers.Usual, nil, b.Peer, answers.Usual, "--redis", redisURL, "--service", serviceURL)
	if err != nil {
		return nil, "", err
	}
	b.peers = append(b.peers, child)
	waiting, cancel := context.WithTimeout(ctx, startWithin)
	defer cancel()
	address, err := child.Await(waiting, listens)
	return child, address, err
}

// proofTime is the time after which larder reuses TCP connections: twice connections[].timeouts.reuse, and a second.
const proofTime = 5 * time.Second

// measure warms all servers up and measures every round.
func (b *testbed) measure(ctx context.Context) error {
	if err := b.alone(ctx); err != nil {
		return fmt.Errorf("the ordering service alone: %w", err)
	}
	b.Say("warming up")
	for _, s := range b.sides {
		if _, _, err := b.create(ctx, s, min(b.For, 2*time.Second)); err != nil {
			return fmt.Errorf("warming up %s, %s: %w", s.name, s.mode, err)
		}
	}
	if err := sleep.For(ctx, proofTime); err != nil {
		return err
	}
	began := time.Now()
	for round := range b.Rounds {
		if b.OnlyLatencies {
			break
		}
		b.Say("round %d of %d%s", round+1, b.Rounds, measure.Remaining(round, b.Rounds, time.Since(began)))
		for i := range b.sides {
			s := b.sides[(i+round)%len(b.sides)]
			if err := b.round(ctx, s); err != nil {
				return fmt.Errorf("%s, %s: %w", s.name, s.mode, err)
			}
		}
	}
	if !b.Latencies {
		return nil
	}
	return b.latencies(ctx)
}

// alone measures the highest rate of the ordering service itself.
func (b *testbed) alone(ctx context.Context) error {
	cluster := b.clusters[0]
	token, err := cluster.ServiceToken(ctx)
	if err != nil {
		return err
	}
	request, err := b.stock.direct(token)
	if err != nil {
		return err
	}
	plan := loadgen.Plan{
		Addresses:   []string{hostOf(cluster.ServiceURL)},
		Requests:    [][]byte{request},
		Status:      http.StatusCreated,
		Connections: connections,
		For:         b.For,
	}
	b.report.Service, _, err = watched{service: b.service}.run(ctx, plan, runtime.NumCPU())
	b.Say("the ordering service alone takes %.0f orders per second", b.report.Service.PerSecond)
	return err
}

// plan returns the load of a side without its requests.
func (s *side) plan(status int, d time.Duration, requests ...[]byte) loadgen.Plan {
	return loadgen.Plan{
		Addresses:   []string{s.address},
		Requests:    requests,
		FirstKey:    s.key,
		Status:      status,
		Connections: connections,
		For:         d,
	}
}

// create places orders for a while and returns their ids.
func (b *testbed) create(ctx context.Context, s *side, d time.Duration) (Run, []string, error) {
	var ids []string
	plan := s.plan(http.StatusCreated, d, b.stock.create(s.token)...)
	plan.Body = func(body []byte) { ids = append(ids, orderID(body)) }
	run, found, err := s.run(ctx, plan, runtime.NumCPU())
	if err != nil {
		return run, nil, err
	}
	s.key += found.Answered
	if slices.Contains(ids, "") {
		return run, nil, errors.New("a placed order has no id")
	}
	return run, ids, nil
}
