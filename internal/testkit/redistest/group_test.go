package redistest_test

import (
	"errors"
	"os/signal"
	"strings"
	"syscall"
	"testing"
	"time"

	"larder.local/internal/testkit/faultproxy"
	"larder.local/internal/testkit/redistest"
)

func TestServerWithTLS(t *testing.T) {
	t.Parallel()
	server := redistest.Start(t, redistest.TLS())

	if err := server.Client().Ping(t.Context()).Err(); err != nil {
		t.Errorf("PING with TLS at %s: %v", server.URL(), err)
	}
	if plain := redistest.Start(t); plain.CAFile() != "" || server.CAFile() == "" {
		t.Errorf("CAFile %q with TLS, %q without", server.CAFile(), plain.CAFile())
	}
}

func TestSentinelReplacesItsMaster(t *testing.T) {
	t.Parallel()
	for name, lose := range map[string]func(*redistest.Server){
		"killed": (*redistest.Server).Stop,
		"frozen": (*redistest.Server).Freeze,
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			group := redistest.StartSentinel(t, redistest.AppendOnly())
			old := group.Master()
			if old != group.Nodes()[0] {
				t.Errorf("the master is %s, want %s", old.Addr(), group.Nodes()[0].Addr())
			}
			client := group.Client()
			if err := client.Set(t.Context(), "dish", "soup", 0).Err(); err != nil {
				t.Fatalf("SET: %v", err)
			}
			if n, err := client.Do(t.Context(), "WAIT", 2, 5000).Int(); n != 2 || err != nil {
				t.Fatalf("WAIT = %d replicas, %v; want 2", n, err)
			}

			lose(old)
			master := group.AwaitFailover(old)
			if got, err := master.Client().Get(t.Context(), "dish").Result(); got != "soup" || err != nil {
				t.Errorf("the new master has %q, %v; want soup", got, err)
			}
			if err := master.Client().Set(t.Context(), "dish", "stew", 0).Err(); err != nil {
				t.Errorf("the new master takes no writes: %v", err)
			}
		})
	}
}

func TestClusterServesEverySlot(t *testing.T) {
	t.Parallel()
	cluster := redistest.StartCluster(t, 0, redistest.AppendOnly())
	client := cluster.Client()
	for _, key := range []string{"bar", "hello", "foo"} { // slots 5061, 866 and 12182
		if err := client.Set(t.Context(), key, key, 0).Err(); err != nil {
			t.Fatalf("SET %s: %v", key, err)
		}
	}
	masters := map[*redistest.Server]bool{cluster.MasterOf("bar"): true, cluster.MasterOf("hello"): true, cluster.MasterOf("foo"): true}
	if len(masters) != 2 || len(cluster.Nodes()) != 3 {
		t.Errorf("%d masters of three keys in two thirds of the slots, %d nodes; want 2 and 3", len(masters), len(cluster.Nodes()))
	}

	node := cluster.MasterOf("foo")
	node.Stop()
	node.Restart()
	cluster.AwaitAllSlots()
	if got, err := client.Get(t.Context(), "foo").Result(); got != "foo" || err != nil {
		t.Errorf("after the restart GET foo = %q, %v; want foo", got, err)
	}
}

func TestClusterReplacesAMaster(t *testing.T) {
	t.Parallel()
	cluster := redistest.StartCluster(t, 1)
	if err := cluster.Client().Set(t.Context(), "dish", "soup", 0).Err(); err != nil {
		t.Fatalf("SET: %v", err)
	}
	old := cluster.MasterOf("dish")
	old.Stop()
	master := cluster.AwaitFailover("dish", old)
	if err := master.Client().Set(t.Context(), "dish", "stew", 0).Err(); err != nil {
		t.Errorf("the new master takes no writes: %v", err)
	}
	old.Restart()
	cluster.AwaitAllSlots()
}

// Replicas without replication receive nothing and can still take over; all servers
// and clients reach a server behind a proxy through it.
func TestReplicationIsCutAndServersStandBehindProxies(t *testing.T) {
	t.Parallel()
	var proxies []*faultproxy.Proxy
	group := redistest.StartSentinel(t, redistest.AppendOnly(), redistest.Behind(func(addr string) string {
		proxies = append(proxies, faultproxy.Start(t, addr))
		return proxies[len(proxies)-1].Addr()
	}))
	client := group.Client()
	wait := func(replicas int) int {
		if err := client.Incr(t.Context(), "orders").Err(); err != nil {
			t.Fatalf("INCR: %v", err)
		}
		n, err := client.Do(t.Context(), "WAIT", replicas, 1000).Int()
		if err != nil {
			t.Fatalf("WAIT: %v", err)
		}
		return n
	}
	replicas := group.Nodes()[1:]
	if n := wait(2); n != 2 {
		t.Errorf("%d replicas have the write, want 2", n)
	}
	if err := replicas[0].CutReplication(t.Context()); err != nil {
		t.Fatal(err)
	}
	if n := wait(2); n != 1 {
		t.Errorf("%d replicas have the write while one is cut off, want 1", n)
	}
	if err := replicas[0].RestoreReplication(t.Context()); err != nil {
		t.Fatal(err)
	}
	master := group.Master()
	for _, proxy := range proxies {
		if proxy.Accepted() == 0 {
			t.Errorf("nobody came through the proxy on %s", proxy.Addr())
		}
		if proxy.Addr() == master.Announced() {
			proxy.Refuse()
		}
	}
	if next := group.AwaitFailover(master); !next.IsMaster(t.Context()) || !master.IsMaster(t.Context()) {
		t.Error("want a new master, and the old one running behind its partition")
	}
}

func TestBackupFullDiskAndRestore(t *testing.T) {
	signal.Ignore(syscall.SIGXFSZ)
	server := redistest.Start(t, redistest.AppendOnly())
	client := server.Client()
	set := func(value string) error { return client.Set(t.Context(), "dish", value, 0).Err() }
	backup := t.TempDir()
	if err := errors.Join(set("soup"), server.Backup(backup), set("stew")); err != nil {
		t.Fatal(err)
	}
	if err := server.FillDisk(); err != nil {
		t.Fatal(err)
	}
	limit := time.Now().Add(time.Minute)
	for set("cake") == nil && time.Now().Before(limit) {
		time.Sleep(50 * time.Millisecond) //testwaits:allow between two attempts: the file is written once a second
	}
	if err := set("cake"); err == nil || !strings.Contains(err.Error(), "MISCONF") {
		t.Errorf("a write to a full disk: %v, want MISCONF", err)
	}
	if err := server.FreeDisk(); err != nil {
		t.Fatal(err)
	}
	limit = time.Now().Add(time.Minute)
	for set("cake") != nil && time.Now().Before(limit) {
		time.Sleep(50 * time.Millisecond) //testwaits:allow between two attempts: the server tries to write once a second
	}
	server.Stop()
	if err := server.RestoreBackup(backup); err != nil {
		t.Fatal(err)
	}
	server.Restart()
	if got, err := client.Get(t.Context(), "dish").Result(); got != "soup" || err != nil {
		t.Errorf("after the backup was restored GET dish = %q, %v; want soup", got, err)
	}
}
