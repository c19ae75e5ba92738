package redisdb_test

import (
	"testing"

	"github.com/redis/go-redis/v9"

	"larder.local/internal/redisdb"
)

// A connection in use counts only in the pool of its client. After it is returned, it
// is idle.
func TestPoolsCountConnectionsOfBothClients(t *testing.T) {
	t.Parallel()
	r := open(t, redisdb.Embedded)
	pools := r.Pools()
	if len(pools) != 2 || pools[0].Name != "default" || pools[1].Name != "no_retry" {
		t.Fatalf("pools %+v, want default and no_retry", pools)
	}
	for i, client := range []redis.UniversalClient{r.Client(), r.NoRetry()} {
		single, ok := client.(*redis.Client)
		if !ok {
			t.Fatalf("%s is a %T", pools[i].Name, client)
		}
		pool, other := pools[i], pools[1-i]
		idle, others := pool.Idle(), other.Idle()
		conn := single.Conn() // keeps one connection from its first command until Close
		if err := conn.Ping(t.Context()).Err(); err != nil {
			t.Fatal(err)
		}
		if pool.Used() != 1 || other.Used() != 0 {
			t.Errorf("%s: %d used, and %d of the other client; want 1 and 0", pool.Name, pool.Used(), other.Used())
		}
		if err := conn.Close(); err != nil {
			t.Fatal(err)
		}
		if pool.Used() != 0 || pool.Idle() != max(idle, 1) || other.Idle() != others || pool.Timeouts() != 0 {
			t.Errorf("%s, after it was returned: %d used, %d idle (before: %d), %d idle of the other client (before: %d), %d timeouts",
				pool.Name, pool.Used(), pool.Idle(), idle, other.Idle(), others, pool.Timeouts())
		}
	}
}
