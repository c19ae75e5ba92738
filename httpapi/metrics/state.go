package metrics

import (
	"sync"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"larder.local/internal/redisdb"
	"larder.local/internal/upstream"
)

// newDesc returns the description of a series that a collector reads.
func newDesc(name, help string, labels ...string) *prometheus.Desc {
	return prometheus.NewDesc(name, help, labels, nil)
}

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

// Collectors returns the collectors of all values.
func (s State) Collectors() []prometheus.Collector {
	spans := func(result string, value func() uint64) prometheus.Collector {
		return counter("larder_trace_spans_total", "Trace spans, by result: sent or dropped.", prometheus.Labels{"result": result}, value)
	}
	all := []prometheus.Collector{
		gauge("larder_cache_bytes", "Bytes used by cached response bodies.", nil, func() int64 { used, _ := s.Memory(); return used }),
		gauge("larder_cache_limit_bytes", "Limit of larder_cache_bytes (cache.memory).",
			nil, func() int64 { _, limit := s.Memory(); return limit }),
		spans("sent", func() uint64 { sent, _ := s.Spans(); return sent }),
		spans("dropped", func() uint64 { _, dropped := s.Spans(); return dropped }),
		gauge("larder_http_connections", "Open connections of the public listener.", nil, s.Listener.Open),
		gauge("larder_http_connections_limit", "Limit of larder_http_connections; 0: no limit.",
			nil, func() int { return s.Listener.Limit }),
		counter("larder_http_connections_full_total", "Number of times the connection limit was reached.", nil, s.Listener.Filled),
		counter("larder_http_connections_refused_total", "Connections closed because their address had reached its limit.",
			nil, s.Listener.Refused),
		gauge("larder_redis_up", "0 if Redis did not answer the last ping, else 1.",
			nil, func() float64 { return boolGauge(!s.RedisDown()) }),
		gauge("larder_redis_writable", "0 if Redis answers but rejects writes, else 1.",
			nil, func() float64 { return boolGauge(!s.RedisReadOnly()) }),
	}
	for _, kind := range [...]string{StreamMenu, StreamOrder, StreamOps} {
		all = append(all, gauge("larder_event_streams", "Open event streams, by kind: menu, order or ops.",
			prometheus.Labels{"kind": kind}, func() int { return s.Streams(kind) }))
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

// tokenValues are the values of larder_upstream_token_state. Those above 1 are problems.
var tokenValues = map[upstream.TokenState]int{ //nolint:gochecknoglobals // constant
	upstream.TokenNone: 0, upstream.TokenValid: 1, upstream.TokenWaiting: 2, upstream.TokenRefused: 3, upstream.TokenFailing: 4,
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
				"1 for the current state of the connection's circuit breaker for reads, 0 for the other states.", with("state", state),
				func() float64 { return boolGauge(u.Breaker() == state) }))
		}
	}
	all = append(all, gauge("larder_upstream_token_state",
		"State of the connection's token: 0 none was needed, 1 valid, 2 the token endpoint asked to wait, 3 it refused, 4 it failed.",
		labels, func() int { return tokenValues[u.TokenStatus().State] }))
	load := u.Load
	if load == nil {
		return all
	}
	rejections := func(when string, value func() uint64) prometheus.Collector {
		return counter("larder_upstream_rejections_total",
			"Order calls rejected with 503 upstream_busy because no slot was free, on arrival or after waiting.", with("when", when), value)
	}
	return append(
		all,
		gauge("larder_upstream_calls_waiting", "Calls waiting for a slot of the connection.", labels, func() int { return load().Waiting }),
		gauge("larder_upstream_calls_in_flight", "Calls that use a slot of the connection.", labels, func() int { return load().InFlight }),
		gauge("larder_upstream_order_slots",
			"Current limit of order calls in flight; it shrinks while calls take more than a third of timeouts.write.",
			labels, func() int { return load().OrderSlots }),
		gauge("larder_upstream_slot_time_seconds", "Mean time that order calls used a slot, over the last minute.",
			labels, func() float64 { return load().SlotTime.Seconds() }),
		rejections("arrival", func() uint64 { return load().Rejected.OnArrival }),
		rejections("waited", func() uint64 { return load().Rejected.AfterWaiting }),
	)
}
