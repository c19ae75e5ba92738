package redistest

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"strings"
	"testing"

	"github.com/redis/go-redis/v9"
)

// masters is the number of servers that share a cluster's slots. Fewer could not
// agree that one is gone.
const masters = 3

// Cluster is a cluster of three masters with replicas. A replica replaces a master
// that does not respond for a second.
type Cluster struct {
	tb    testing.TB
	nodes []*Server // the masters first
}

// StartCluster runs a cluster until the test ends, with the given number of
// replicas for each of its three masters. It returns when every node sees all
// others and the replicas follow. The options apply to every node.
func StartCluster(tb testing.TB, replicas int, options ...Option) *Cluster {
	tb.Helper()
	c := &Cluster{tb: tb}
	options = append([]Option{
		Config("cluster-enabled", "yes"), Config("cluster-node-timeout", "1000"),
		Config("cluster-replica-validity-factor", "0"), Config("repl-diskless-sync-delay", "0"),
		func(s *Server) { s.bus = true },
	}, options...)
	for range masters * (1 + replicas) {
		c.nodes = append(c.nodes, Start(tb, options...))
	}
	c.join()
	c.replicate()
	return c
}

// join assigns the slots to the masters and connects all nodes.
func (c *Cluster) join() {
	c.tb.Helper()
	ctx := c.tb.Context()
	for i, node := range c.nodes {
		client := node.once()
		err := errors.Join(
			client.Do(ctx, "CLUSTER", "SET-CONFIG-EPOCH", i+1).Err(),
			client.ClusterMeet(ctx, loopback, strconv.Itoa(c.nodes[0].port)).Err())
		if first, last := slots(i); i < masters {
			err = errors.Join(err, client.ClusterAddSlotsRange(ctx, first, last).Err())
		}
		if err = errors.Join(err, client.Close()); err != nil {
			c.tb.Fatalf("redistest: join %s to the cluster: %v", node.Addr(), err)
		}
	}
	c.AwaitAllSlots()
}

// slots returns the first and the last slot of a master.
func slots(master int) (first, last int) {
	const all = 16384
	return all * master / masters, all*(master+1)/masters - 1
}

// replicate distributes the other nodes over the masters as replicas.
func (c *Cluster) replicate() {
	c.tb.Helper()
	ctx := c.tb.Context()
	for i, replica := range c.nodes[masters:] {
		id := c.id(ctx, c.nodes[i%masters])
		client := replica.once()
		if err := errors.Join(client.ClusterReplicate(ctx, id).Err(), client.Close()); err != nil {
			c.tb.Fatalf("redistest: make %s a replica: %v", replica.Addr(), err)
		}
	}
	await(c.tb, "the replicas follow", func(ctx context.Context) error {
		for _, replica := range c.nodes[masters:] {
			if !strings.Contains(replica.Info(ctx, "replication"), "master_link_status:up") {
				return fmt.Errorf("%s does not", replica.Addr())
			}
		}
		return nil
	})
}

func (c *Cluster) id(ctx context.Context, node *Server) string {
	c.tb.Helper()
	client := node.once()
	id, err := client.ClusterMyID(ctx).Result()
	if err = errors.Join(err, client.Close()); err != nil {
		c.tb.Fatalf("redistest: the id of %s: %v", node.Addr(), err)
	}
	return id
}

// AwaitAllSlots waits until every running node reports that all slots are served,
// and knows every node. Tests call it after a node was started again or a replica
// has taken over.
func (c *Cluster) AwaitAllSlots() {
	c.tb.Helper()
	await(c.tb, "the cluster serves all slots", func(ctx context.Context) error {
		for _, node := range c.nodes {
			if !node.running() {
				continue
			}
			client := node.once()
			info, err := client.ClusterInfo(ctx).Result()
			if err = errors.Join(err, client.Close()); err != nil {
				return err
			}
			known := fmt.Sprintf("cluster_known_nodes:%d\r\n", len(c.nodes))
			if !strings.Contains(info, "cluster_state:ok") || !strings.Contains(info, known) {
				return fmt.Errorf("%s says: %s", node.Addr(), strings.Join(strings.Fields(info), " "))
			}
		}
		return nil
	})
}

// URL returns the cluster's address in the format of the configuration.
func (c *Cluster) URL() string { return c.nodes[0].scheme("+cluster") + addresses(c.nodes) }

// CAFile returns the CA file of all nodes; "" without TLS.
func (c *Cluster) CAFile() string { return c.nodes[0].CAFile() }

// Nodes returns all servers of the cluster: first the initial masters, then their
// replicas in the same order, repeatedly.
func (c *Cluster) Nodes() []*Server { return c.nodes }

// Client returns a new client of the cluster; it is closed when the test ends.
func (c *Cluster) Client() *redis.ClusterClient {
	options := c.nodes[0].options()
	client := redis.NewClusterClient(&redis.ClusterOptions{
		Addrs: strings.Split(addresses(c.nodes), ","), Password: options.Password, TLSConfig: options.TLSConfig,
	})
	c.tb.Cleanup(func() { _ = client.Close() }) // a test may have closed it before
	return client
}

// MasterOf returns the node that serves a key, according to most nodes.
func (c *Cluster) MasterOf(key string) *Server { return c.awaitMaster(key, nil) }

// AwaitFailover waits until a server other than old is the master of a key, and
// returns it. Tests call it after they stopped or froze old, which has a replica.
func (c *Cluster) AwaitFailover(key string, old *Server) *Server { return c.awaitMaster(key, old) }

func (c *Cluster) awaitMaster(key string, but *Server) *Server {
	c.tb.Helper()
	var master *Server
	await(c.tb, "a master of "+key, func(ctx context.Context) error {
		votes := map[*Server]int{}
		for _, node := range c.nodes {
			if named := c.named(ctx, node, key); named != nil {
				votes[named]++
			}
		}
		for node, count := range votes {
			if count > len(c.nodes)/2 && node != but {
				master = node
				return nil
			}
		}
		return errors.New("most nodes name none, or the old one")
	})
	return master
}

// named returns the node that asked reports as the key's master; nil if it does not
// respond or knows none.
func (c *Cluster) named(ctx context.Context, asked *Server, key string) *Server {
	if !asked.running() {
		return nil
	}
	client := asked.once()
	defer func() { _ = client.Close() }() // it was only read
	slot := client.ClusterKeySlot(ctx, key)
	for _, part := range client.ClusterSlots(ctx).Val() { //nolint:staticcheck // Redis 6 has no CLUSTER SHARDS
		if slot.Err() != nil || len(part.Nodes) == 0 || int(slot.Val()) < part.Start || int(slot.Val()) > part.End {
			continue
		}
		for _, node := range c.nodes {
			if node.Announced() == part.Nodes[0].Addr {
				return node
			}
		}
	}
	return nil
}
