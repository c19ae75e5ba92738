package metrics

import (
	"slices"
	"sync"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"larder.local/internal/upstream"
)

// Sink receives the series of one scrape.
type Sink chan<- prometheus.Metric

// Gauge sends a series. labels are names and values by turns.
func (out Sink) Gauge(name, help string, value float64, labels ...string) {
	out.send(prometheus.GaugeValue, name, help, value, labels)
}

// Counter sends a series that only grows. labels are names and values by turns.
func (out Sink) Counter(name, help string, value float64, labels ...string) {
	out.send(prometheus.CounterValue, name, help, value, labels)
}

func (out Sink) send(kind prometheus.ValueType, name, help string, value float64, labels []string) {
	pairs := prometheus.Labels{}
	for pair := range slices.Chunk(labels, 2) {
		pairs[pair[0]] = pair[1]
	}
	out <- prometheus.MustNewConstMetric(prometheus.NewDesc(name, help, nil, pairs), kind, value)
}

// BoolGauge returns 1 for true and 0 for false.
func BoolGauge(b bool) float64 {
	if b {
		return 1
	}
	return 0
}

// Collector sends series that a scrape reads. It describes none of them: the registry checks them when they
// are collected.
type Collector func(out Sink)

// Describe implements prometheus.Collector.
func (Collector) Describe(chan<- *prometheus.Desc) {}

// Collect implements prometheus.Collector.
func (c Collector) Collect(ch chan<- prometheus.Metric) { c(ch) }

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

// Connection is a connection to an ordering service.
type Connection struct {
	Name    string
	Breaker func() string               // state of the breaker for reads: closed, open or half-open
	Load    func() upstream.Load        // load of the connection
	Token   func() upstream.TokenStatus // state of the token
}

// tokenValues are the values of larder_upstream_token_state. Those above 1 are problems.
var tokenValues = map[upstream.TokenState]float64{ //nolint:gochecknoglobals // constant
	upstream.TokenNone: 0, upstream.TokenValid: 1, upstream.TokenWaiting: 2, upstream.TokenRefused: 3, upstream.TokenFailing: 4,
}

// Collect sends the series of one connection: its circuit breaker, its token and its load (policy O8a).
func (u Connection) Collect(out Sink) {
	current := u.Breaker()
	for _, state := range [...]string{"closed", "open", "half-open"} {
		out.Gauge("larder_upstream_breaker",
			"1 for the current state of the connection's circuit breaker for reads, 0 for the other states.",
			BoolGauge(state == current), "connection", u.Name, "state", state)
	}
	out.Gauge("larder_upstream_token_state",
		"State of the connection's token: 0 none was needed, 1 valid, 2 the token endpoint asked to wait, 3 it refused, 4 it failed.",
		tokenValues[u.Token().State], "connection", u.Name)
	load := u.Load()
	out.Gauge("larder_upstream_calls_waiting", "Calls waiting for a slot of the connection.",
		float64(load.Waiting), "connection", u.Name)
	out.Gauge("larder_upstream_calls_in_flight", "Calls that use a slot of the connection.",
		float64(load.InFlight), "connection", u.Name)
	out.Gauge("larder_upstream_order_slots",
		"Current limit of order calls in flight; it shrinks while calls take more than a third of timeouts.write.",
		float64(load.OrderSlots), "connection", u.Name)
	out.Gauge("larder_upstream_slot_time_seconds", "Mean time that order calls used a slot, over the last minute.",
		load.SlotTime.Seconds(), "connection", u.Name)
	const rejections = "Order calls rejected with 503 upstream_busy because no slot was free, on arrival or after waiting."
	out.Counter("larder_upstream_rejections_total", rejections,
		float64(load.Rejected.OnArrival), "connection", u.Name, "when", "arrival")
	out.Counter("larder_upstream_rejections_total", rejections,
		float64(load.Rejected.AfterWaiting), "connection", u.Name, "when", "waited")
}
