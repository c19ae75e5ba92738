package journal_test

import (
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"

	"larder/internal/redistest"
	"larder/internal/upstream"
	"larder/ordering"
	"larder/ordering/journal"
)

// TestCluster sees every script through over a Redis Cluster, which refuses one
// whose keys are not in one slot (trap 4).
func TestCluster(t *testing.T) {
	t.Parallel()
	j := journal.NewOver(cluster(t), "larder", ordering.DefaultConfig(), quiet())
	if err := j.Ready(t.Context()); err != nil {
		t.Fatalf("Ready: %v", err)
	}
	if _, err := j.Secret(t.Context()); err != nil {
		t.Fatalf("Secret: %v", err)
	}
	adoption := pay("766")
	adoption.Adopt = true
	adopted := ended(t, j, begun(t, j, adoption), ordering.OutcomeDone, "")

	o := create(overdue)
	begun(t, j, o)
	moved, err := j.Sweep(t.Context(), main)
	if err != nil || len(moved) != 1 {
		t.Fatalf("Sweep = %d records, %v; want 1", len(moved), err)
	}
	word := ordering.Settling{
		Connection: main, Ref: o.Ref, Operation: upstream.OpCreate, How: ordering.SettledSendAgain, Deadline: time.Hour,
	}
	again, err := j.Settle(t.Context(), word)
	if err != nil {
		t.Fatalf("Settle: %v", err)
	}
	placed := ended(t, j, again, ordering.OutcomeDone, "766") // taken from the adopted order
	r := ended(t, j, begun(t, j, pay("766")), ordering.OutcomeRefused, "")
	if r.Ref != o.Ref || r.State != ordering.StatePlaced || len(r.Calls) != 3 {
		t.Errorf("the order is %+v, want the placed one with three calls", r)
	}
	if err := j.Abort(t.Context(), create()); err != nil {
		t.Errorf("Abort: %v", err)
	}
	if body, err := j.Body(t.Context(), main, o.Ref, 2); err != nil || len(body) == 0 {
		t.Errorf("Body = %q, %v; want what was sent again", body, err)
	}
	if _, call, err := j.Lookup(t.Context(), main, o.Key); err != nil || call != 2 {
		t.Errorf("Lookup = call %d, %v; want 2", call, err)
	}
	if got, err := j.Order(t.Context(), main, "766"); err != nil || got.Ref != placed.Ref {
		t.Errorf("Order = %s, %v; want %s", got.Ref, err, placed.Ref)
	}
	if got, err := j.Record(t.Context(), []string{"other", main}, adopted.Ref); err != nil || got.OrderID != "" {
		t.Errorf("Record of the adopted order = %q, %v; want no orderID any more", got.OrderID, err)
	}
	page, _, err := j.List(t.Context(), ordering.Query{Connections: []string{"other", main}, Limit: 10})
	if err != nil || len(page) != 2 {
		t.Errorf("List = %d records, %v; want 2", len(page), err)
	}
}

// TestClusterReplicas: in a cluster WAIT goes to the server that has the record.
func TestClusterReplicas(t *testing.T) {
	t.Parallel()
	cfg := ordering.DefaultConfig()
	cfg.WaitReplicas, cfg.WaitTimeout = 1, 50*time.Millisecond
	j := journal.NewOver(cluster(t), "larder", cfg, quiet())
	if _, err := j.Begin(t.Context(), create()); !errors.Is(err, journal.ErrReplicas) {
		t.Errorf("Begin in a cluster without replicas: %v, want ErrReplicas", err)
	}
}

// cluster starts a cluster of one server.
func cluster(t *testing.T) *redis.ClusterClient {
	t.Helper()
	server := redistest.Start(t, redistest.AppendOnly(), redistest.Config("cluster-enabled", "yes"))
	one := server.Client()
	if err := one.ClusterAddSlotsRange(t.Context(), 0, 16383).Err(); err != nil {
		t.Fatalf("give the server its slots: %v", err)
	}
	eventually(t, "the cluster is well", func() bool {
		return strings.Contains(one.ClusterInfo(t.Context()).Val(), "cluster_state:ok")
	})
	client := redis.NewClusterClient(&redis.ClusterOptions{Addrs: []string{server.Addr()}, MaxRetries: -1})
	t.Cleanup(func() {
		if err := client.Close(); err != nil {
			t.Errorf("close the cluster's client: %v", err)
		}
	})
	return client
}
