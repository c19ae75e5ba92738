package metrics

import (
	"slices"
	"sync"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"larder.local/internal/redisdb"
	"larder.local/internal/upstream"
)

// sink receives the series of one scrape.
type sink chan<- prometheus.Metric

// gauge sends a series. labels are names and values by turns.
func (out sink) gauge(name, help string, value float64, labels ...string) {
	out.send(prometheus.GaugeValue, name, help, value, labels)
}

// counter sends a series that only grows. labels are names and values by turns.
func (out sink) counter(name, help string, value float64, labels ...string) {
	out.send(prometheus.CounterValue, name, help, value, labels)
}

func (out sink) send(kind prometheus.ValueType, name, help string, value float64, labels []string) {
	pairs := prometheus.Labels{}
	for pair := range slices.Chunk(labels, 2) {
		pairs[pair[0]] = pair[1]
	}
	out <- prometheus.MustNewConstMetric(prometheus.NewDesc(name, help, nil, pairs), kind, value)
}

// boolGauge returns 1 for true and 0 for false.
func boolGauge(b bool) float64 {
	if b {
		return 1
	}
	return 0
}

// collector sends series that a scrape reads. It describes none of them: the registry checks them when they
// are collected.
type collector func(out sink)

// Describe implements prometheus.Collector.
func (collector) Describe(chan<- *prometheus.Desc) {}

// Collect implements prometheus.Collector.
func (c collector) Collect(ch chan<- prometheus.Metric) { c(ch) }

// everySecond is a collector whose values are up to a second old, however many scrapers there are.
type everySecond struct {
	prometheus.Collector

	mu    sync.Mutex
	at    time.Time
	known []prometheus.Metric
}

// Collect implements prometheus.Collector.
func (e *everySecond) Collect(ch chan<- prometheus.Metric) {
	e.mu.Lock()
	defer e.mu.Unlock()
	if now := time.Now(); now.Sub(e.at) >= time.Second {
		e.at, e.known = now, nil
		collected := make(chan prometheus.Metric)
		go func() { e.Collector.Collect(collected); close(collected) }()
		for metric := range collected {
			e.known = append(e.known, metric)
		}
	}
	for _, metric := range e.known {
		ch <- metric
	}
}

// State has the functions that a scrape reads from memory.
type State struct {
	Memory        func() (used, limit int64) // of the encoded bodies
	Streams       func(kind string) int      // open streams
	Spans         func() (sent, dropped uint64)
	Connected     func() int64 // open connections of the public listener
	MaxConnected  int          // 0 means no limit
	LimitReached  func() uint64
	RefusedByIP   func() uint64 // connections of addresses above their limit
	RedisDown     func() bool
	RedisReadOnly func() bool // Redis answers but rejects writes
	RedisPools    []redisdb.Pool
	Connections   []Connection
}

// Connection is a connection to an ordering service.
type Connection struct {
	Name    string
	Breaker func() string               // state of the breaker for reads: closed, open or half-open; nil: no series
	Load    func() upstream.Load        // load of the connection; nil: no series
	Token   func() upstream.TokenStatus // state of the token; nil: none was needed
}

// TokenStatus returns the state of the connection's token.
func (u Connection) TokenStatus() upstream.TokenStatus {
	if u.Token == nil {
		return upstream.TokenStatus{State: upstream.TokenNone, OK: true}
	}
	return u.Token()
}

// Collector returns the collector of all values.
func (s State) Collector() prometheus.Collector {
	return collector(func(out sink) {
		used, limit := s.Memory()
		out.gauge("larder_cache_bytes", "Bytes used by cached response bodies.", float64(used))
		out.gauge("larder_cache_limit_bytes", "Limit of larder_cache_bytes (cache.memory).", float64(limit))
		sent, dropped := s.Spans()
		const spans = "Trace spans, by result: sent or dropped."
		out.counter("larder_trace_spans_total", spans, float64(sent), "result", "sent")
		out.counter("larder_trace_spans_total", spans, float64(dropped), "result", "dropped")
		out.gauge("larder_http_connections", "Open connections of the public listener.", float64(s.Connected()))
		out.gauge("larder_http_connections_limit", "Limit of larder_http_connections; 0: no limit.", float64(s.MaxConnected))
		out.counter("larder_http_connections_full_total", "Number of times the connection limit was reached.",
			float64(s.LimitReached()))
		out.counter("larder_http_connections_refused_total",
			"Connections closed because their address had reached its limit.", float64(s.RefusedByIP()))
		out.gauge("larder_redis_up", "0 if Redis did not answer the last ping, else 1.", boolGauge(!s.RedisDown()))
		out.gauge("larder_redis_writable", "0 if Redis answers but rejects writes, else 1.", boolGauge(!s.RedisReadOnly()))
		for _, kind := range [...]string{StreamMenu, StreamOrder, StreamOps} {
			out.gauge("larder_event_streams", "Open event streams, by kind: menu, order or ops.",
				float64(s.Streams(kind)), "kind", kind)
		}
		for _, pool := range s.RedisPools {
			const connections = "Connections to Redis, by client and state (idle or used)."
			out.gauge("larder_redis_connections", connections, float64(pool.Idle()), "client", pool.Name, "state", "idle")
			out.gauge("larder_redis_connections", connections, float64(pool.Used()), "client", pool.Name, "state", "used")
			out.counter("larder_redis_pool_timeouts_total", "Redis commands that got no connection in time, by client.",
				float64(pool.Timeouts()), "client", pool.Name)
		}
		for _, connection := range s.Connections {
			connection.collect(out)
		}
	})
}

// tokenValues are the values of larder_upstream_token_state. Those above 1 are problems.
var tokenValues = map[upstream.TokenState]float64{ //nolint:gochecknoglobals // constant
	upstream.TokenNone: 0, upstream.TokenValid: 1, upstream.TokenWaiting: 2, upstream.TokenRefused: 3, upstream.TokenFailing: 4,
}

// collect sends the series of one connection: its circuit breaker, its token and its load (policy O8a).
func (u Connection) collect(out sink) {
	if u.Breaker != nil {
		current := u.Breaker()
		for _, state := range [...]string{"closed", "open", "half-open"} {
			out.gauge("larder_upstream_breaker",
				"1 for the current state of the connection's circuit breaker for reads, 0 for the other states.",
				boolGauge(state == current), "connection", u.Name, "state", state)
		}
	}
	out.gauge("larder_upstream_token_state",
		"State of the connection's token: 0 none was needed, 1 valid, 2 the token endpoint asked to wait, 3 it refused, 4 it failed.",
		tokenValues[u.TokenStatus().State], "connection", u.Name)
	if u.Load == nil {
		return
	}
	load := u.Load()
	out.gauge("larder_upstream_calls_waiting", "Calls waiting for a slot of the connection.",
		float64(load.Waiting), "connection", u.Name)
	out.gauge("larder_upstream_calls_in_flight", "Calls that use a slot of the connection.",
		float64(load.InFlight), "connection", u.Name)
	out.gauge("larder_upstream_order_slots",
		"Current limit of order calls in flight; it shrinks while calls take more than a third of timeouts.write.",
		float64(load.OrderSlots), "connection", u.Name)
	out.gauge("larder_upstream_slot_time_seconds", "Mean time that order calls used a slot, over the last minute.",
		load.SlotTime.Seconds(), "connection", u.Name)
	const rejections = "Order calls rejected with 503 upstream_busy because no slot was free, on arrival or after waiting."
	out.counter("larder_upstream_rejections_total", rejections,
		float64(load.Rejected.OnArrival), "connection", u.Name, "when", "arrival")
	out.counter("larder_upstream_rejections_total", rejections,
		float64(load.Rejected.AfterWaiting), "connection", u.Name, "when", "waited")
}
