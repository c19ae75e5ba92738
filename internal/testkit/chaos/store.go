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

	"larder.local/internal/testkit/faultproxy"
	"larder.local/internal/testkit/redistest"
)

// failoverAfter is longer than the default of redistest. On a busy machine,
// Sentinels would otherwise also replace the replica that has just taken over.
const failoverAfter = 2 * time.Second

// journalKey is in the cluster's slot of all orders of the connection main.
const journalKey = "{o:main}"

// store is the Redis of a run. There is a proxy before each data server, and
// larder, replicas and Sentinels use only the proxies.
type store struct {
	tb       testing.TB
	form     string
	nodes    []*redistest.Server
	proxies  map[string]*faultproxy.Proxy // by the server's announced address
	sentinel *redistest.Sentinel
	cluster  *redistest.Cluster
	current  *redistest.Server // the last known master
	backup   string            // the folder of the last backup
	source   *redistest.Server
}

func startStore(tb testing.TB, form string, withoutDisk bool) *store {
	tb.Helper()
	s := &store{tb: tb, form: form, proxies: map[string]*faultproxy.Proxy{}}
	options := []redistest.Option{
		redistest.FailoverAfter(failoverAfter),
		redistest.Behind(func(addr string) string {
			proxy := faultproxy.Start(tb, addr)
			s.proxies[proxy.Addr()] = proxy
			return proxy.Addr()
		}),
	}
	if !withoutDisk {
		options = append(options, redistest.AppendOnly(), redistest.Config("appendfsync", "always"))
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

// url returns the address in the format of larder's configuration.
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

// awaitTakeover waits until a server other than old has the journal, and the other
// replicas follow it. If old came back earlier, a replica could still follow it and
// acknowledge orders that the new master never had (MasterReturns).
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

// afterTakeover wraps the end of a fault of the master. If the fault lasted long
// enough to be noticed, it ends only after a replica has taken over.
func (s *store) afterTakeover(master *redistest.Server, end func() error) func() error {
	began := time.Now()
	return func() error {
		if s.form != Single && time.Since(began) > failoverAfter/2 { //testwaits:allow in doubt, waits for the takeover
			s.awaitTakeover(master)
		}
		return end()
	}
}

// afterPartition is afterTakeover for a connection or a disk. The servers of a
// cluster still see each other and replace none.
func (s *store) afterPartition(master *redistest.Server, end func() error) func() error {
	if s.form == Cluster {
		return end
	}
	return s.afterTakeover(master, end)
}

// replaced reports whether the master has changed.
func (s *store) replaced() bool {
	s.tb.Helper()
	before := s.current
	s.current = s.master()
	return before != nil && before != s.current
}

// replicas returns the servers that follow the master.
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

// begin causes the fault of a step and returns the function that ends it.
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
		return s.afterPartition(master, end), target, nil // Sentinels treat MISCONF as no response
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
		return nothing, target, nil // no server follows: there is no fault to cause
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

// replicasFirst makes the replicas fail one after the other and then kills the
// master. The last one to fail has acknowledged most, and is the only one that
// Sentinels may elect (replica-priority 0 excludes the others). A killed replica
// starts without a replication offset, so the last of several replicas is not
// killed.
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
		//testwaits:allow the fault lasts so long; the others acknowledge in the meantime, if any
		time.Sleep(time.Second)
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
	_ = client.ConfigRewrite(ctx).Err() // a cluster's server has no configuration file
	return errors.Join(err, client.Close())
}

// fillDisk makes every write to the master's file fail. A server that syncs each
// write would exit; with one sync a second it refuses writes.
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
		for range 1200 { // for a minute; the server tries again once a second
			err = client.ConfigSet(ctx, "appendfsync", "always").Err()
			if err == nil && !strings.Contains(master.Info(ctx, "persistence"), "aof_last_write_status:err") {
				break
			}
			time.Sleep(50 * time.Millisecond) //testwaits:allow between two attempts
		}
		return errors.Join(err, client.Close())
	}, master.FillDisk()
}

// takeBackup copies the master's data; in a cluster that of each server.
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

// keepLogs copies the logs of the servers' last starts.
func (s *store) keepLogs(dir string) {
	servers := s.nodes
	if s.sentinel != nil {
		servers = slices.Concat(servers, s.sentinel.Sentinels())
	}
	for i, node := range servers {
		if body, err := os.ReadFile(node.LogPath()); err == nil {
			_ = os.WriteFile(filepath.Join(dir, fmt.Sprintf("redis-%d.log", i)), body, 0o600) // logs are best effort
		}
	}
}

// instanceFault causes a fault of an instance and returns the function that ends
// it.
func instanceFault(ctx context.Context, l *instanceProcess, kind string) (end func() error) {
	if kind == LarderFrozen {
		l.signal(syscall.SIGSTOP)
		return func() error { l.signal(syscall.SIGCONT); return nil }
	}
	l.process.Kill()
	return func() error { return l.start(ctx) }
}
