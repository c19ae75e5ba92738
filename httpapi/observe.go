package httpapi

import (
	"context"

	"larder/httpapi/metrics"
)

// observe registers what a scrape reads of the server.
func (s *Server) observe(unknownOrders func(ctx context.Context, connection string) (int64, error)) error {
	connections := make([]string, len(s.deps.Connections))
	for i, connection := range s.deps.Connections {
		connections[i] = connection.Name
	}
	s.orderCounts = metrics.NewOrderCounts(metrics.OrderSource{
		Connections: connections, Orders: s.deps.Orders, Journal: s.deps.Journal, Unknown: unknownOrders,
		TakesOrders: s.auth.TakesOrders, Log: s.deps.Log,
	})
	state := metrics.State{
		Memory:  func() (used, limit int64) { memory := s.deps.Replica.Memory(); return memory.Used, memory.Limit },
		Streams: s.events.Open,
		Spans:   func() (sent, dropped uint64) { spans := s.deps.Tracing.Spans(); return spans.Sent, spans.Dropped },
		Listener: metrics.Listener{
			Open: s.open.open.Load, Limit: s.open.limit, Filled: s.open.filled.Load, Refused: s.open.each.refused.Load,
		},
		RedisDown: s.deps.Runner.RedisDown, RedisReadOnly: func() bool { return s.deps.Runner.RedisRefusesWrites() != nil },
		RedisPools: s.deps.Redis.Pools(),
	}
	for _, connection := range s.deps.Connections {
		shown := metrics.Connection{Name: connection.Name, Breaker: connection.Breaker, Load: connection.Load}
		state.Connections = append(state.Connections, shown)
	}
	menus := metrics.Menus{Replica: s.deps.Replica, Directory: s.deps.Directory, Runner: s.deps.Runner, Clock: s.deps.Clock}
	for _, collector := range append(state.Collectors(), menus.Collector(), s.orderCounts.Collector()) {
		if err := s.deps.Metrics.Registry().Register(collector); err != nil {
			return err
		}
	}
	return nil
}
