package redistest_test

import (
	"testing"

	"larder/internal/redistest"
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
	cluster.AwaitWhole()
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
	cluster.AwaitWhole()
}
