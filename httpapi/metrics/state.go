package metrics

import (
	"github.com/prometheus/client_golang/prometheus"

	"larder/internal/redisdb"
	"larder/internal/upstream"
)

type number interface {
	~int | ~int64 | ~uint32 | ~uint64 | ~float64
}

func gauge[N number](name, help string, labels prometheus.Labels, value func() N) prometheus.Collector {
	return prometheus.NewGaugeFunc(prometheus.GaugeOpts{Name: name, Help: help, ConstLabels: labels},
		func() float64 { return float64(value()) })
}

func counter[N number](name, help string, labels prometheus.Labels, value func() N) prometheus.Collector {
	return prometheus.NewCounterFunc(prometheus.CounterOpts{Name: name, Help: help, ConstLabels: labels},
		func() float64 { return float64(value()) })
}

// boolGauge returns 1 for true and 0 for false.
func boolGauge(b bool) float64 {
	if b {
		return 1
	}
	return 0
}

// collector collects several series with one read.
type collector struct {
	descs   []*prometheus.Desc
	collect func(ch chan<- prometheus.Metric)
}

// Describe implements prometheus.Collector.
func (c collector) Describe(ch chan<- *prometheus.Desc) {
	for _, desc := range c.descs {
		ch <- desc
	}
}

// Collect implements prometheus.Collector.
func (c collector) Collect(ch chan<- prometheus.Metric) { c.collect(ch) }

// State has the functions that a scrape reads from memory.
type State struct {
	Memory        func() (used, limit int64) // of the encoded bodies
	Streams       func() (menus, ops int)    // open streams
	Spans         func() (sent, dropped uint64)
	Listener      Listener
	RedisDown     func() bool
	RedisReadOnly func() bool // Redis answers but rejects writes
	RedisPools    []redisdb.Pool
	Connections   []Connection
}

// Listener has the connection counts of the public listener.
type Listener struct {
	Open    func() int64
	Limit   int // 0 means no limit
	Filled  func() uint64
	Refused func() uint64
}

// Connection is a connection to an ordering service.
type Connection struct {
	Name    string
	Breaker func() string        // state of the breaker for reads: closed, open or half-open; nil: no series
	Load    func() upstream.Load // load of the connection; nil: no series
}

// Collectors returns the collectors of all values.
func (s State) Collectors() []prometheus.Collector {
	spans := func(result string, value func() uint64) prometheus.Collector {
		return counter("larder_trace_spans_total", "Trace spans, by result: sent or dropped.",
			prometheus.Labels{"result": result}, value)
	}
	streams := func(kind string, value func() int) prometheus.Collector {
		return gauge("larder_event_streams", "Open event streams, by kind: menu or ops.", prometheus.Labels{"kind": kind}, value)
	}
	all := []prometheus.Collector{
		gauge("larder_cache_bytes", "Bytes used by cached response bodies.", nil,
			func() int64 { used, _ := s.Memory(); return used }),
		gauge("larder_cache_limit_bytes", "Limit of larder_cache_bytes (cache.memory).", nil,
			func() int64 { _, limit := s.Memory(); return limit }),
		streams(StreamMenu, func() int { menus, _ := s.Streams(); return menus }),
		streams(StreamOps, func() int { _, ops := s.Streams(); return ops }),
		spans("sent", func() uint64 { sent, _ := s.Spans(); return sent }),
		spans("dropped", func() uint64 { _, dropped := s.Spans(); return dropped }),
		gauge("larder_http_connections", "Open connections of the public listener.", nil, s.Listener.Open),
		gauge("larder_http_connections_limit", "Limit of larder_http_connections; 0: no limit.", nil, func() int { return s.Listener.Limit }),
		counter("larder_http_connections_full_total",
			"Number of times the connection limit was reached.", nil, s.Listener.Filled),
		counter("larder_http_connections_refused_total",
			"Connections closed because their address had reached its limit.", nil, s.Listener.Refused),
		gauge("larder_redis_up", "0 if Redis did not answer the last ping, else 1.", nil,
			func() float64 { return boolGauge(!s.RedisDown()) }),
		gauge("larder_redis_writable", "0 if Redis answers but rejects writes, else 1.", nil,
			func() float64 { return boolGauge(!s.RedisReadOnly()) }),
	}
	for _, pool := range s.RedisPools {
		all = append(all, poolCollectors(pool)...)
	}
	for _, connection := range s.Connections {
		all = append(all, connection.collectors()...)
	}
	return all
}

// poolCollectors returns the series of one Redis client.
func poolCollectors(p redisdb.Pool) []prometheus.Collector {
	connections := func(state string, value func() uint32) prometheus.Collector {
		return gauge("larder_redis_connections", "Connections to Redis, by client and state (idle or used).",
			prometheus.Labels{"client": p.Name, "state": state}, value)
	}
	return []prometheus.Collector{
		connections("idle", p.Idle),
		connections("used", p.Used),
		counter("larder_redis_pool_timeouts_total", "Redis commands that got no connection in time, by client.",
			prometheus.Labels{"client": p.Name}, p.Timeouts),
	}
}

// collectors returns the series of one connection: its circuit breaker and its load (policy O8a).
func (u Connection) collectors() []prometheus.Collector {
	var all []prometheus.Collector
	labels := prometheus.Labels{"connection": u.Name}
	with := func(name, value string) prometheus.Labels {
		return prometheus.Labels{"connection": u.Name, name: value}
	}
	if u.Breaker != nil {
		for _, state := range [...]string{"closed", "open", "half-open"} {
			all = append(all, gauge("larder_upstream_breaker",
				"1 for the current state of the connection's circuit breaker for reads, 0 for the other states.",
				with("state", state), func() float64 { return boolGauge(u.Breaker() == state) }))
		}
	}
	load := u.Load
	if load == nil {
		return all
	}
	const rejections = "Order calls rejected with 503 upstream_busy because no slot was free, on arrival or after waiting."
	return append(
		all,
		gauge("larder_upstream_calls_waiting", "Calls waiting for a slot of the connection.", labels,
			func() int { return load().Waiting }),
		gauge("larder_upstream_calls_in_flight", "Calls that use a slot of the connection.", labels,
			func() int { return load().InFlight }),
		gauge("larder_upstream_order_slots",
			"Current limit of order calls in flight; it shrinks while calls take more than a third of timeouts.write.", labels,
			func() int { return load().OrderSlots }),
		gauge("larder_upstream_slot_time_seconds", "Mean time that order calls used a slot, over the last minute.", labels,
			func() float64 { return load().SlotTime.Seconds() }),
		counter("larder_upstream_rejections_total", rejections, with("when", "arrival"),
			func() uint64 { return load().Rejected.OnArrival }),
		counter("larder_upstream_rejections_total", rejections, with("when", "waited"),
			func() uint64 { return load().Rejected.AfterWaiting }),
	)
}
