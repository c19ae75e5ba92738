package chaos

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"larder/internal/testkit/faultproxy"
	"larder/internal/testkit/redistest"
)

// failoverAfter is more than the default of redistest: on a busy machine Sentinels
// would also replace the replica that has just taken over.
const failoverAfter = 2 * time.Second

// journalKey lies in the cluster's slot of all orders of the connection main.
const journalKey = "{o:main}"

// store is the Redis of a run. A proxy stands before each server of the data;
// larder, replicas and Sentinels reach it there alone.
type store struct {
	tb       testing.TB
	form     string
	nodes    []*redistest.Server
	proxies  map[string]*faultproxy.Proxy // by the server's announced address
	sentinel *redistest.Sentinel
	cluster  *redistest.Cluster
	current  *redistest.Server // the master as last seen
	backup   string            // the folder of the last backup
	source   *redistest.Server
}

func startStore(tb testing.TB, form string) *store {
	tb.Helper()
	s := &store{tb: tb, form: form, proxies: map[string]*faultproxy.Proxy{}}
	options := []redistest.Option{
		redistest.AppendOnly(), redistest.Config("appendfsync", "always"), redistest.FailoverAfter(failoverAfter),
		redistest.Behind(func(addr string) string {
			proxy := faultproxy.Start(tb, addr)
			s.proxies[proxy.Addr()] = proxy
			return proxy.Addr()
		}),
	}
	switch form {
	case Sentinel:
		s.sentinel = redistest.StartSentinel(tb, options...)
		s.nodes = s.sentinel.Nodes()
	case Cluster:
		s.cluster = redistest.StartCluster(tb, 1, options...)
		s.nodes = s.cluster.Nodes()
	default:
		s.nodes = []*redistest.Server{redistest.Start(tb, options...)}
	}
	return s
}

// url is the address as larder's configuration takes it.
func (s *store) url() string {
	switch s.form {
	case Sentinel:
		return s.sentinel.URL()
	case Cluster:
		return s.cluster.URL()
	default:
		return s.nodes[0].URL()
	}
}

// master waits for the server that has the journal.
func (s *store) master() *redistest.Server {
	s.tb.Helper()
	switch s.form {
	case Sentinel:
		return s.sentinel.Master()
	case Cluster:
		return s.cluster.MasterOf(journalKey)
	default:
		return s.nodes[0]
	}
}

// awaitTakeover waits until another server than old has the journal, and the
// other replicas follow it. Would old come back earlier, a replica could still
// follow it and acknowledge orders that the new master never had (MasterReturns).
func (s *store) awaitTakeover(old *redistest.Server) {
	s.tb.Helper()
	if s.form == Cluster {
		s.cluster.AwaitFailover(journalKey, old)
		return
	}
	next := s.sentinel.AwaitFailover(old)
	await(s.tb, 45*time.Second, "the replicas follow the new master", func(ctx context.Context) error {
		if n := len(s.replicas(ctx, next)); n < len(s.nodes)-2 {
			return fmt.Errorf("%d do", n)
		}
		return nil
	})
}

// afterTakeover wraps what ends a fault of the master: where it may have been
// missed by then, it does not come back before a replica has taken over.
func (s *store) afterTakeover(master *redistest.Server, end func() error) func() error {
	began := time.Now()
	return func() error {
		if s.form != Single && time.Since(began) > failoverAfter/2 {
			s.awaitTakeover(master)
		}
		return end()
	}
}

// afterPartition is afterTakeover for a line or a disk. A cluster's servers see
// each other all the same, and replace nobody.
func (s *store) afterPartition(master *redistest.Server, end func() error) func() error {
	if s.form == Cluster {
		return end
	}
	return s.afterTakeover(master, end)
}

// replaced reports whether another server than before is the master.
func (s *store) replaced() bool {
	s.tb.Helper()
	before := s.current
	s.current = s.master()
	return before != nil && before != s.current
}

// replicas are the servers that follow the master.
func (s *store) replicas(ctx context.Context, master *redistest.Server) (list []*redistest.Server) {
	_, port, _ := strings.Cut(master.Announced(), ":")
	for _, node := range s.nodes {
		if node != master && strings.Contains(node.Info(ctx, "replication"), "master_port:"+port+"\r\n") {
			list = append(list, node)
		}
	}
	return list
}

// whole waits until all servers run, and each replica follows its master.
func (s *store) whole() {
	s.tb.Helper()
	s.master()
	await(s.tb, 45*time.Second, "Redis is whole", func(ctx context.Context) error {
		masters := 0
		for _, node := range s.nodes {
			switch info := node.Info(ctx, "replication"); {
			case strings.Contains(info, "role:master"):
				masters++
			case !strings.Contains(info, "master_link_status:up"):
				return fmt.Errorf("%s does not follow: %q", node.Addr(), info)
			}
		}
		if want := map[string]int{Single: 1, Sentinel: 1, Cluster: 3}[s.form]; masters != want {
			return fmt.Errorf("%d masters", masters)
		}
		return nil
	})
	if s.cluster != nil {
		s.cluster.AwaitAllSlots()
	}
}

// begin breaks what a step says and returns what ends that.
func (s *store) begin(ctx context.Context, step Step) (end func() error, target int, err error) {
	master := s.master()
	target = slices.Index(s.nodes, master)
	proxy := s.proxies[master.Announced()]
	passes := func() error { proxy.Pass(); return nil }
	switch step.Kind {
	case MasterKilled:
		master.Stop()
		return s.afterTakeover(master, restart(master)), target, nil
	case MasterFrozen:
		master.Freeze()
		return s.afterTakeover(master, thaw(master)), target, nil
	case MasterHangs:
		proxy.Hang()
		return s.afterPartition(master, passes), target, nil
	case MasterRefused:
		proxy.Refuse()
		return s.afterPartition(master, passes), target, nil
	case MasterReturns:
		proxy.Refuse()
		return passes, target, nil
	case DiskFull:
		if end, err = fillDisk(ctx, master); err != nil {
			return nil, target, err
		}
		return s.afterPartition(master, end), target, nil // Sentinels take MISCONF for no answer
	case BackupTaken:
		return nothing, target, s.takeBackup(master)
	case BackupRestored:
		return nothing, target, s.restore(master)
	case Flushed:
		client := master.Client()
		return nothing, target, errors.Join(client.FlushAll(ctx).Err(), client.Close())
	}
	replicas := s.replicas(ctx, master)
	if len(replicas) == 0 {
		return nothing, target, nil // none follows: there is nothing to break
	}
	if step.Kind == ReplicasFirst {
		end, err = s.replicasFirst(ctx, master, replicas, step.Target)
		return end, target, err
	}
	replica := replicas[step.Target%len(replicas)]
	end, err = impair(ctx, replica, step.Kind)
	return end, slices.Index(s.nodes, replica), err
}

func nothing() error { return nil }

func restart(server *redistest.Server) func() error {
	return func() error { server.Restart(); return nil }
}

func thaw(server *redistest.Server) func() error {
	return func() error { server.Thaw(); return nil }
}

// impair keeps a replica from acknowledging.
func impair(ctx context.Context, replica *redistest.Server, kind string) (end func() error, err error) {
	switch kind {
	case ReplicaFrozen:
		replica.Freeze()
		return thaw(replica), nil
	case ReplicaKilled:
		replica.Stop()
		return restart(replica), nil
	default:
		return func() error { return replica.RestoreReplication(ctx) }, replica.CutReplication(ctx)
	}
}

// replicasFirst lets the replicas fail one after the other and then kills the
// master. The last to fail, which has acknowledged the most, is the only one that
// Sentinels may elect (replica-priority 0 keeps them from the others). A replica
// that was killed begins again with no replication offset: where there are
// several, the last one is not killed.
func (s *store) replicasFirst(
	ctx context.Context, master *redistest.Server, replicas []*redistest.Server, variant int,
) (end func() error, err error) {
	kinds := [][]string{{ReplicaCut, ReplicaCut}, {ReplicaFrozen, ReplicaFrozen}, {ReplicaKilled, ReplicaCut}}[variant%3]
	var ends []func() error
	for i, replica := range replicas {
		if i < len(replicas)-1 {
			err = setPriority(ctx, replica, "0")
		}
		end, failed := impair(ctx, replica, kinds[i%len(kinds)])
		if err = errors.Join(err, failed); err != nil {
			return nil, err
		}
		ends = append(ends, end)
		time.Sleep(time.Second) // the others acknowledge in the meantime, or nobody does
	}
	master.Stop()
	return func() error {
		slices.Reverse(ends)
		var err error
		for _, end := range ends {
			err = errors.Join(err, end())
		}
		s.awaitTakeover(master)
		master.Restart()
		s.whole()
		for _, replica := range replicas {
			err = errors.Join(err, setPriority(ctx, replica, "100"))
		}
		return err
	}, nil
}

func setPriority(ctx context.Context, server *redistest.Server, priority string) error {
	client := server.Client()
	err := client.ConfigSet(ctx, "replica-priority", priority).Err()
	_ = client.ConfigRewrite(ctx).Err() // a cluster's server has no file to keep it in
	return errors.Join(err, client.Close())
}

// fillDisk lets every write of the master's file fail. A server that syncs each
// write would end itself; with one sync a second it refuses writes.
func fillDisk(ctx context.Context, master *redistest.Server) (end func() error, err error) {
	client := master.Client()
	if err := client.ConfigSet(ctx, "appendfsync", "everysec").Err(); err != nil {
		return nil, err
	}
	return func() error {
		if err := master.FreeDisk(); err != nil {
			return err
		}
		err := errors.New("not asked")
		for range 100 { // it tries again once a second
			err = client.ConfigSet(ctx, "appendfsync", "always").Err()
			if err == nil && !strings.Contains(master.Info(ctx, "persistence"), "aof_last_write_status:err") {
				break
			}
			time.Sleep(50 * time.Millisecond)
		}
		return errors.Join(err, client.Close())
	}, master.FillDisk()
}

// takeBackup copies the master's data; a cluster's of each server.
func (s *store) takeBackup(master *redistest.Server) error {
	s.backup, s.source = s.tb.TempDir(), master
	for i, node := range s.nodes {
		if node == master || s.form == Cluster {
			if err := node.Backup(filepath.Join(s.backup, strconv.Itoa(i))); err != nil {
				return err
			}
		}
	}
	return nil
}

// restore stops all servers and starts them with the data of the backup.
func (s *store) restore(master *redistest.Server) error {
	for _, node := range s.nodes {
		node.Stop()
	}
	for i, node := range s.nodes {
		folder := ""
		switch {
		case s.form == Cluster:
			folder = filepath.Join(s.backup, strconv.Itoa(i))
		case node == master:
			folder = filepath.Join(s.backup, strconv.Itoa(slices.Index(s.nodes, s.source)))
		}
		if err := node.RestoreBackup(folder); err != nil {
			return err
		}
	}
	master.Restart()
	for _, node := range s.nodes {
		if node != master {
			node.Restart()
		}
	}
	return nil
}

// keepLogs copies the servers' logs of their last starts.
func (s *store) keepLogs(dir string) {
	servers := s.nodes
	if s.sentinel != nil {
		servers = slices.Concat(servers, s.sentinel.Sentinels())
	}
	for i, node := range servers {
		if body, err := os.ReadFile(node.LogPath()); err == nil {
			_ = os.WriteFile(filepath.Join(dir, fmt.Sprintf("redis-%d.log", i)), body, 0o600) // what can be kept is kept
		}
	}
}

// instanceFault breaks an instance and returns what ends that.
func instanceFault(ctx context.Context, l *instanceProcess, kind string) (end func() error) {
	if kind == LarderFrozen {
		l.signal(syscall.SIGSTOP)
		return func() error { l.signal(syscall.SIGCONT); return nil }
	}
	l.process.Kill()
	return func() error { return l.start(ctx) }
}
