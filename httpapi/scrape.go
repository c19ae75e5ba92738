package httpapi

import "larder.local/httpapi/metrics"

// observe registers the metrics that are read at a scrape.
func (s *Server) observe() {
	var connections []string
	for _, c := range s.deps.Connections {
		connections = append(connections, c.Name)
	}
	s.scrape = metrics.NewScrape(s.deps.Metrics.Registry())
	counts := &metrics.OrderCounts{
		Connections: connections,
		Orders:      s.deps.Orders,
		Journal:     s.deps.Journal,
		Unknown:     s.deps.UnknownOrders,
		TakesOrders: s.auth.TakesOrders,
		Log:         s.deps.Log,
	}
	served := metrics.Menus{Replica: s.deps.Replica, Directory: s.deps.Directory, Runner: s.deps.Runner, Clock: s.deps.Clock}
	s.deps.Metrics.Registry().MustRegister(metrics.Collector(s.collect), served.Collector(), counts.Collector())
}

// collect sends the values that a scrape reads from memory.
func (s *Server) collect(out metrics.Sink) {
	used, limit := s.deps.Replica.Memory()
	out.Gauge("larder_cache_bytes", "Bytes used by cached response bodies.", float64(used))
	out.Gauge("larder_cache_limit_bytes", "Limit of larder_cache_bytes (cache.memory).", float64(limit))
	sent, dropped := s.deps.Tracing.Spans()
	const spans = "Trace spans, by result: sent or dropped."
	out.Counter("larder_trace_spans_total", spans, float64(sent), "result", "sent")
	out.Counter("larder_trace_spans_total", spans, float64(dropped), "result", "dropped")
	out.Gauge("larder_http_connections", "Open connections of the public listener.", float64(s.open.open.Load()))
	out.Gauge("larder_http_connections_limit", "Limit of larder_http_connections; 0: no limit.", float64(s.open.limit))
	out.Counter("larder_http_connections_full_total", "Number of times the connection limit was reached.",
		float64(s.open.filled.Load()))
	out.Counter("larder_http_connections_refused_total",
		"Connections closed because their address had reached its limit.", float64(s.open.each.refused.Load()))
	out.Gauge("larder_redis_up", "0 if Redis did not answer the last ping, else 1.", metrics.BoolGauge(!s.deps.Scheduler.RedisDown()))
	out.Gauge("larder_redis_writable", "0 if Redis answers but rejects writes, else 1.",
		metrics.BoolGauge(s.deps.Scheduler.RedisRefusesWrites() == nil))
	for _, kind := range [...]string{metrics.StreamMenu, metrics.StreamOrder, metrics.StreamOps} {
		out.Gauge("larder_event_streams", "Open event streams, by kind: menu, order or ops.",
			float64(s.events.Open(kind)), "kind", kind)
	}
	for _, pool := range s.deps.Redis.Pools() {
		const connections = "Connections to Redis, by client and state (idle or used)."
		out.Gauge("larder_redis_connections", connections, float64(pool.Idle()), "client", pool.Name, "state", "idle")
		out.Gauge("larder_redis_connections", connections, float64(pool.Used()), "client", pool.Name, "state", "used")
		out.Counter("larder_redis_pool_timeouts_total", "Redis commands that got no connection in time, by client.",
			float64(pool.Timeouts()), "client", pool.Name)
	}
	for _, connection := range s.deps.Connections {
		connection.Collect(out)
	}
}
