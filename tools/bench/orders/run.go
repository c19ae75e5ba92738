package orders

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"os"
	"strings"
	"time"

	"larder.local/internal/sleep"
	"larder.local/internal/testkit/process"
	"larder.local/tools/bench/loadgen"
	"larder.local/tools/bench/measure"
)

// connections is the number of open connections, each with one request at a time.
const connections = 64

// Run is one run of one server. CPU times are microseconds per request.
type Run struct {
	Requests  int     `json:"requests"`
	PerSecond float64 `json:"perSecond"`
	Server    float64 `json:"serverCPU"`    // of larder's instances or the peer
	Redis     float64 `json:"redisCPU"`     // of the masters
	Replicas  float64 `json:"replicasCPU"`  // of their replicas
	Service   float64 `json:"serviceCPU"`   // of the ordering service
	Generator float64 `json:"generatorCPU"` // of the load generator, which is this program
	// Busy is the share of the machine's cores that all of these used, Master that of
	// the busiest Redis master of one core.
	Busy   float64 `json:"busy"`
	Master float64 `json:"master"`
	// Bytes is the growth of Redis per request, in bytes.
	Bytes float64 `json:"redisBytes"`
}

// cost is the CPU time of the server and of Redis, with its replicas.
func (r Run) cost() float64 { return r.Server + r.Redis + r.Replicas }

// watched are the processes of a run.
type watched struct {
	servers []*process.Child
	redis   *measure.RedisGroup // nil: none
	service *process.Child
}

// usage is the CPU time of the processes at one time.
type usage struct {
	servers, service, own time.Duration
	redis                 measure.Usage
}

// usage reads the CPU times.
func (w watched) usage(ctx context.Context) (u usage, err error) {
	for _, child := range w.servers {
		used, err := measure.CPU(child.PID())
		if err != nil {
			return u, errors.Join(err, child.Alive())
		}
		u.servers += used
	}
	if w.redis != nil {
		if u.redis, err = w.redis.Usage(ctx); err != nil {
			return u, err
		}
	}
	if u.service, err = measure.CPU(w.service.PID()); err != nil {
		return u, errors.Join(err, w.service.Alive())
	}
	u.own, err = measure.CPU(os.Getpid())
	return u, err
}

// run loads the servers and returns the figures.
func (w watched) run(ctx context.Context, plan loadgen.Plan, cores int) (Run, loadgen.Result, error) {
	before, err := w.usage(ctx)
	if err != nil {
		return Run{}, loadgen.Result{}, err
	}
	began := time.Now()
	found, err := loadgen.Run(ctx, plan)
	if err != nil {
		return Run{}, found, err
	}
	took := time.Since(began)
	after, err := w.usage(ctx)
	if err != nil {
		return Run{}, found, err
	}
	if found.Answered == 0 {
		return Run{}, found, errors.New("no request was answered")
	}
	return figures(before, after, found, took, cores), found, nil
}

// figures computes the figures of a run.
func figures(before, after usage, found loadgen.Result, took time.Duration, cores int) Run {
	r := Run{Requests: found.Answered, PerSecond: found.PerSecond}
	var total time.Duration
	each := func(used time.Duration) float64 {
		total += used
		return float64(used.Microseconds()) / float64(found.Answered)
	}
	r.Server = each(after.servers - before.servers)
	r.Service = each(after.service - before.service)
	r.Generator = each(after.own - before.own)
	r.Replicas = each(after.redis.Replicas - before.redis.Replicas)
	for i, used := range after.redis.Masters {
		used -= before.redis.Masters[i]
		r.Redis += each(used)
		r.Master = max(r.Master, used.Seconds()/took.Seconds())
	}
	r.Busy = total.Seconds() / (took.Seconds() * float64(cores))
	r.Bytes = float64(after.redis.Bytes-before.redis.Bytes) / float64(found.Answered)
	return r
}

// startWithin is the timeout until a server places orders.
const startWithin = 2 * time.Minute

// start starts instances that use a Redis and an ordering service, and returns when
// each of them has placed an order for each restaurant.
func (s stock) start(ctx context.Context, layout measure.Layout, n int) (cluster *measure.Cluster, instances []*measure.Instance, err error) {
	ctx, cancel := context.WithTimeout(ctx, startWithin)
	defer cancel()
	if err := os.MkdirAll(layout.Dir, 0o700); err != nil {
		return nil, nil, err
	}
	if cluster, err = measure.Build(ctx, layout); err != nil {
		return nil, nil, err
	}
	for range n {
		l, err := cluster.Add(ctx)
		if err == nil {
			err = l.Ready(ctx)
		}
		if err == nil {
			err = s.first(ctx, cluster, l)
		}
		if err != nil {
			cluster.Close()
			return nil, nil, err
		}
		instances = append(instances, l)
	}
	return cluster, instances, nil
}

// first places an order in each restaurant, as soon as the instance has its menu.
func (s stock) first(ctx context.Context, cluster *measure.Cluster, l *measure.Instance) error {
	token, err := l.Token(ctx)
	if err != nil {
		return err
	}
	for _, id := range s.restaurants {
		for {
			answer, err := cluster.Ask(ctx, http.MethodPost, l.URL+"/v1/restaurants/"+id+"/orders", string(s.body), "Content-Type", "application/json",
				"Authorization", "Bearer "+token, "Idempotency-Key", "first-"+hostOf(l.URL)+"-"+id)
			if err == nil && answer.Status == http.StatusCreated {
				break
			}
			if err == nil && answer.Status != http.StatusServiceUnavailable && answer.Status != http.StatusNotFound {
				return fmt.Errorf("orders: larder answered the first order with %d: %.500s", answer.Status, answer.Body)
			}
			if sleep.For(ctx, 50*time.Millisecond) != nil {
				return errors.Join(fmt.Errorf("orders: larder places no order within %v: %d %.500s", startWithin, answer.Status, answer.Body), err)
			}
		}
	}
	return nil
}

// hostOf returns the address in a URL.
func hostOf(url string) string { return strings.TrimPrefix(url, "http://") }
