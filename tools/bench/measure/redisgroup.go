package measure

import (
	"context"
	"errors"
	"fmt"
	"net"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"larder.local/internal/sleep"
)

// RedisGroup is a Redis of several servers: one master or a cluster, with or without
// replicas.
type RedisGroup struct {
	// Masters and Replicas are the servers. Each master has the same number of replicas.
	Masters, Replicas []*Redis
	// URL is redis.url for larder.
	URL string
}

// RedisShape describes a RedisGroup.
type RedisShape struct {
	// Cluster is the number of masters of a cluster; 0: a single master.
	Cluster int
	// Replicas is the number of replicas of each master.
	Replicas int
	// Settings are further settings of every server, such as "--appendfsync", "always".
	Settings []string
}

// StartRedisGroup starts the servers in their own folders, and returns when every
// replica follows its master. After an error no server is running.
func StartRedisGroup(ctx context.Context, dir string, shape RedisShape) (*RedisGroup, error) {
	g := &RedisGroup{}
	if err := g.start(ctx, dir, shape); err != nil {
		g.Close()
		return nil, err
	}
	return g, nil
}

func (g *RedisGroup) start(ctx context.Context, dir string, shape RedisShape) error {
	ports := map[*Redis]int{} // of the cluster's own connections
	for i := range max(shape.Cluster, 1) * (1 + shape.Replicas) {
		name := filepath.Join(dir, fmt.Sprintf("redis-%d", i+1))
		if err := os.MkdirAll(name, 0o700); err != nil {
			return err
		}
		settings, port := append([]string{"--repl-diskless-sync-delay", "0"}, shape.Settings...), 0
		if shape.Cluster > 0 {
			var err error
			if port, err = FreePort(ctx); err != nil {
				return err
			}
			settings = append(settings, "--cluster-enabled", "yes", "--cluster-port", strconv.Itoa(port))
		}
		r, err := StartRedisWith(ctx, name, nil, settings...)
		if err != nil {
			return err
		}
		ports[r] = port
		if len(g.Masters) < max(shape.Cluster, 1) {
			g.Masters = append(g.Masters, r)
		} else {
			g.Replicas = append(g.Replicas, r)
		}
	}
	g.URL = g.Masters[0].URL
	if shape.Cluster > 0 {
		if err := g.join(ctx, ports); err != nil {
			return fmt.Errorf("measure: join the cluster: %w", err)
		}
	}
	return g.follow(ctx, shape)
}

// servers returns all servers.
func (g *RedisGroup) servers() []*Redis {
	return slices.Concat(g.Masters, g.Replicas)
}

// join connects the nodes of a cluster and assigns the slots to the masters.
func (g *RedisGroup) join(ctx context.Context, ports map[*Redis]int) error {
	const slots = 16384
	addresses := make([]string, len(g.Masters))
	for i, r := range g.Masters {
		addresses[i] = r.Address
	}
	g.URL = "redis+cluster://" + strings.Join(addresses, ",")
	host, port, err := net.SplitHostPort(addresses[0])
	if err != nil {
		return err
	}
	for i, r := range g.servers() {
		err := errors.Join(
			r.Client.Do(ctx, "CLUSTER", "SET-CONFIG-EPOCH", i+1).Err(),
			r.Client.Do(ctx, "CLUSTER", "MEET", host, port, ports[g.Masters[0]]).Err())
		if i < len(g.Masters) {
			first, last := slots*i/len(g.Masters), slots*(i+1)/len(g.Masters)-1
			err = errors.Join(err, r.Client.ClusterAddSlotsRange(ctx, first, last).Err())
		}
		if err != nil {
			return err
		}
	}
	nodes := fmt.Sprintf("cluster_known_nodes:%d\r\n", len(g.servers()))
	return g.await(ctx, g.servers(), func(r *Redis) (string, bool) {
		info := r.Client.ClusterInfo(ctx).Val()
		return info, strings.Contains(info, "cluster_state:ok") && strings.Contains(info, nodes)
	})
}

// follow makes the replicas follow their masters.
func (g *RedisGroup) follow(ctx context.Context, shape RedisShape) error {
	for i, r := range g.Replicas {
		master := g.Masters[i%len(g.Masters)]
		var err error
		if shape.Cluster > 0 {
			err = r.Client.ClusterReplicate(ctx, master.Client.ClusterMyID(ctx).Val()).Err()
		} else {
			host, port, _ := net.SplitHostPort(master.Address)
			err = r.Client.Do(ctx, "REPLICAOF", host, port).Err()
		}
		if err != nil {
			return fmt.Errorf("measure: make %s a replica: %w", r.Address, err)
		}
	}
	const online = "state=online"
	return g.await(ctx, g.Masters, func(r *Redis) (string, bool) {
		info := r.Client.Info(ctx, "replication").Val()
		return info, strings.Count(info, online) >= shape.Replicas
	})
}

// await waits until every server is in a state.
func (g *RedisGroup) await(ctx context.Context, servers []*Redis, in func(r *Redis) (info string, ok bool)) error {
	ctx, cancel := context.WithTimeout(ctx, redisWithin)
	defer cancel()
	for _, r := range servers {
		for {
			info, ok := in(r)
			if ok {
				break
			}
			if sleep.For(ctx, redisPause) != nil {
				return fmt.Errorf("measure: %s is not ready within %v: %s", r.Address, redisWithin, strings.Join(strings.Fields(info), " "))
			}
		}
	}
	return nil
}

// Usage is the CPU time of the servers so far, and their memory in bytes.
type Usage struct {
	Masters  []time.Duration // of each
	Replicas time.Duration   // of all
	Bytes    int64           // of the masters
}

// Usage reads the CPU time and the memory of the servers.
func (g *RedisGroup) Usage(ctx context.Context) (u Usage, err error) {
	for _, r := range g.Masters {
		cpu, err := CPU(r.PID())
		if err != nil {
			return u, errors.Join(err, r.Alive())
		}
		memory, err := r.Memory(ctx)
		if err != nil {
			return u, err
		}
		u.Masters, u.Bytes = append(u.Masters, cpu), u.Bytes+memory
	}
	for _, r := range g.Replicas {
		cpu, err := CPU(r.PID())
		if err != nil {
			return u, errors.Join(err, r.Alive())
		}
		u.Replicas += cpu
	}
	return u, nil
}

// Close ends the servers.
func (g *RedisGroup) Close() {
	for _, r := range g.servers() {
		r.Close()
	}
}
