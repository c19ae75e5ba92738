package redistest

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"
)

const (
	masterName = "larder"
	// quorum is how many of the three Sentinels must report a master as down.
	quorum = 2
	// agreedWithin limits the formation of a group of servers, and a failover. A
	// failover with a split vote is repeated after six seconds.
	agreedWithin = 45 * time.Second
)

// Sentinel is a master with two replicas, and three Sentinels that promote a
// replica if the master does not respond for half a second.
type Sentinel struct {
	tb        testing.TB
	nodes     []*Server
	sentinels []*Server
}

// StartSentinel runs the six servers until the test ends. It returns when both
// replicas follow the master and all Sentinels know each other. The options apply
// to the data servers.
func StartSentinel(tb testing.TB, options ...Option) *Sentinel {
	tb.Helper()
	s := &Sentinel{tb: tb}
	options = append([]Option{
		Config("repl-diskless-sync-delay", "0"), Config("repl-ping-replica-period", "1"), Config("repl-timeout", "5"),
		func(s *Server) { s.keepConfig = true },
	}, options...)
	master := Start(tb, options...)
	s.nodes = append(s.nodes, master)
	for range 2 {
		host, port, _ := strings.Cut(master.Announced(), ":")
		following := append(slices.Clip(options), Config("replicaof", host, port))
		s.nodes = append(s.nodes, Start(tb, following...))
	}
	await(s.tb, "both replicas follow the master", func(ctx context.Context) error {
		for _, replica := range s.nodes[1:] {
			if info := replica.Info(ctx, "replication"); !strings.Contains(info, "master_link_status:up") {
				return fmt.Errorf("%s does not", replica.Addr())
			}
		}
		return nil
	})
	for range 3 {
		watcher := &Server{
			tb:       tb,
			binary:   Binary(tb),
			dir:      tb.TempDir(),
			tls:      master.tls,
			password: ownPassword(master),
			sentinel: watching(master),
		}
		s.sentinels = append(s.sentinels, watcher.start())
		watcher.hurry()
	}
	await(s.tb, "the Sentinels know of all", func(ctx context.Context) error {
		for _, sentinel := range s.sentinels {
			if err := sentinel.knows(ctx, len(s.nodes)-1, len(s.sentinels)-1); err != nil {
				return err
			}
		}
		return nil
	})
	return s
}

// ownPassword returns the Sentinels' password, which differs from the data
// servers'.
func ownPassword(master *Server) string {
	if master.password == "" {
		return ""
	}
	return "sentinel-" + master.password
}

// watching returns the configuration of what a Sentinel watches.
func watching(master *Server) string {
	down := int64(500)
	if master.downAfter > 0 {
		down = master.downAfter.Milliseconds()
	}
	lines := []string{
		fmt.Sprintf("sentinel monitor %s %s %d", masterName, strings.Replace(master.Announced(), ":", " ", 1), quorum),
		fmt.Sprintf("sentinel down-after-milliseconds %s %d", masterName, down),
		"sentinel failover-timeout " + masterName + " 3000",
		"sentinel parallel-syncs " + masterName + " 2",
	}
	if master.password != "" {
		lines = append(lines, fmt.Sprintf("sentinel auth-pass %s %q", masterName, master.password),
			fmt.Sprintf("sentinel sentinel-pass %q", ownPassword(master)), fmt.Sprintf("requirepass %q", ownPassword(master)))
	}
	return strings.Join(lines, "\n")
}

// writeSentinel writes the Sentinel's configuration unless there is one: a Sentinel
// changes its file and needs it after a restart.
func (s *Server) writeSentinel() string {
	path := filepath.Join(s.dir, fmt.Sprintf("sentinel-%d.conf", s.port))
	if _, err := os.Stat(path); err == nil {
		return path
	}
	listen := fmt.Sprintf("port %d", s.port)
	if s.tls != nil {
		listen = fmt.Sprintf("port 0\ntls-port %d\n%s", s.port, s.tls.lines())
	}
	text := fmt.Sprintf("bind %s\n%s\ndir %q\n%s\n", loopback, listen, s.dir, s.sentinel)
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		s.tb.Fatalf("redistest: %v", err)
	}
	return path
}

// hurry makes a Sentinel exchange its state more often than every few seconds. It
// also disables the pause of half a minute after the machine was too busy to run it
// for two seconds. An older Sentinel, which supports neither, only takes longer.
func (s *Server) hurry() {
	client := s.Client()
	_ = client.Do(s.tb.Context(), "SENTINEL", "DEBUG",
		"info-period", "500", "publish-period", "200", "ask-period", "100",
		"tilt-trigger", "20000", "tilt-period", "2000", "min-link-reconnect-period", "2000").Err()
}

// knows returns an error while a Sentinel does not know the whole group, and so
// could not replace the master.
func (s *Server) knows(ctx context.Context, replicas, others int) error {
	sentinel := redis.NewSentinelClient(s.onceOptions())
	defer func() { _ = sentinel.Close() }() // it was only read
	state, err := sentinel.Master(ctx, masterName).Result()
	if err != nil {
		return err
	}
	if state["num-slaves"] != strconv.Itoa(replicas) || state["num-other-sentinels"] != strconv.Itoa(others) || state["flags"] != "master" {
		return fmt.Errorf("the Sentinel on %s knows %s replicas and %s others, the master is %s",
			s.Addr(), state["num-slaves"], state["num-other-sentinels"], state["flags"])
	}
	list, err := sentinel.Replicas(ctx, masterName).Result()
	if err != nil {
		return err
	}
	for _, replica := range list {
		if replica["flags"] != "slave" || replica["master-link-status"] != "ok" {
			return fmt.Errorf("to the Sentinel on %s the replica %s is %s, its link is %s",
				s.Addr(), replica["name"], replica["flags"], replica["master-link-status"])
		}
	}
	return nil
}

// URL returns the group's address in the format of the configuration, with the data
// servers' password. OwnPassword is the Sentinels'.
func (s *Sentinel) URL() string {
	return s.nodes[0].scheme("+sentinel") + addresses(s.sentinels) + "/" + masterName + "/0"
}

// OwnPassword returns the Sentinels' own password; "" without Password.
func (s *Sentinel) OwnPassword() string { return s.sentinels[0].password }

// CAFile returns the CA file of all servers; "" without TLS.
func (s *Sentinel) CAFile() string { return s.nodes[0].CAFile() }

// Nodes returns the three data servers; the first was the initial master.
func (s *Sentinel) Nodes() []*Server { return s.nodes }

// Sentinels returns the three Sentinels.
func (s *Sentinel) Sentinels() []*Server { return s.sentinels }

// Client returns a new client that follows the master; it is closed when the test
// ends.
func (s *Sentinel) Client() *redis.Client {
	var addrs []string
	for _, sentinel := range s.sentinels {
		addrs = append(addrs, sentinel.Addr())
	}
	options := s.nodes[0].options()
	client := redis.NewFailoverClient(&redis.FailoverOptions{
		MasterName:       masterName,
		SentinelAddrs:    addrs,
		Password:         options.Password,
		SentinelPassword: s.OwnPassword(),
		TLSConfig:        options.TLSConfig,
	})
	s.tb.Cleanup(func() { _ = client.Close() }) // a test may have closed it before
	return client
}

// Master returns the server that every running Sentinel names and that accepts
// writes.
func (s *Sentinel) Master() *Server {
	s.tb.Helper()
	var master *Server
	await(s.tb, "a master that all Sentinels name", func(ctx context.Context) (err error) {
		master, err = s.agreed(ctx)
		return err
	})
	return master
}

// AwaitFailover waits until a server other than old is the master, and returns it.
// Tests call it after they stopped or froze old.
func (s *Sentinel) AwaitFailover(old *Server) *Server {
	s.tb.Helper()
	var master *Server
	await(s.tb, "another master", func(ctx context.Context) (err error) {
		if master, err = s.agreed(ctx); err == nil && master == old {
			return errors.New("it is still the old one")
		}
		return err
	})
	return master
}

func (s *Sentinel) agreed(ctx context.Context) (*Server, error) {
	named := ""
	for _, sentinel := range s.sentinels {
		if !sentinel.running() {
			continue
		}
		addr, err := sentinel.namedMaster(ctx)
		switch {
		case err != nil:
			return nil, err
		case named != "" && named != addr:
			return nil, fmt.Errorf("one Sentinel names %s, another %s", named, addr)
		}
		named = addr
	}
	for _, node := range s.nodes {
		if node.Announced() == named && node.running() && strings.Contains(node.Info(ctx, "replication"), "role:master") {
			return node, nil
		}
	}
	return nil, fmt.Errorf("%q, which the Sentinels name, is no running master", named)
}

func (s *Server) namedMaster(ctx context.Context) (string, error) {
	sentinel := redis.NewSentinelClient(s.onceOptions())
	defer func() { _ = sentinel.Close() }() // it was only read
	addr, err := sentinel.GetMasterAddrByName(ctx, masterName).Result()
	return strings.Join(addr, ":"), err
}
