package httpapi

import (
	"context"

	"github.com/redis/go-redis/v9"

	"larder/httpapi/metrics"
)

// observe registers what a scrape reads of the server.
func (s *Server) observe(unknownOrders func(ctx context.Context, connection string) (int64, error)) error {
	s.orderCounts = metrics.NewOrderCounts(metrics.OrderSource{
		Connections: connectionNames(s.connections), Orders: s.orders, Journal: s.journal, Unknown: unknownOrders,
		TakesOrders: s.auth.TakesOrders, Log: s.log,
	})
	state := metrics.State{
		Memory:  func() (used, limit int64) { memory := s.replica.Memory(); return memory.Used, memory.Limit },
		Streams: s.events.Open,
		Spans:   func() (sent, dropped uint64) { spans := s.tracing.Spans(); return spans.Sent, spans.Dropped },
		Listener: metrics.Listener{
			Open: s.open.open.Load, Limit: s.open.limit, Filled: s.open.filled.Load, Refused: s.open.each.refused.Load,
		},
		RedisDown: s.runner.RedisDown, RedisReadOnly: func() bool { return s.runner.RedisRefusesWrites() != nil },
		RedisPools: []metrics.Pool{newRedisPool("default", s.redis.Client()), newRedisPool("no_retry", s.redis.NoRetry())},
	}
	for _, connection := range s.connections {
		state.Connections = append(state.Connections, metrics.Connection{Name: connection.Name, Breaker: connection.Breaker, Load: connection.Load})
	}
	for _, collector := range append(state.Collectors(), metrics.NewMenus(s.replica, s.directory, s.runner, s.clock).Collector(), s.orderCounts.Collector()) {
		if err := s.metrics.Registry().Register(collector); err != nil {
			return err
		}
	}
	return nil
}

// newRedisPool shows the connections of a client of Redis.
func newRedisPool(name string, client redis.UniversalClient) metrics.Pool {
	return metrics.Pool{
		Name: name,
		Idle: func() uint32 { return client.PoolStats().IdleConns },
		Used: func() uint32 {
			pool := client.PoolStats()
			return pool.TotalConns - min(pool.IdleConns, pool.TotalConns)
		},
		Timeouts: func() uint32 { return client.PoolStats().Timeouts },
	}
}

// connectionNames are the names of the connections, in their order.
func connectionNames(connections []Connection) []string {
	names := make([]string, len(connections))
	for i, connection := range connections {
		names[i] = connection.Name
	}
	return names
}
