package metrics

import (
	"maps"
	"net/http"
	"runtime"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/collectors"

	"larder.local/internal/menu"
	"larder.local/internal/upstream"
	menusync "larder.local/sync"
	"larder.local/sync/runlog"
)

// Metrics are the metrics of /metrics, in a separate registry. It implements menusync.Observer. Its
// methods Upstream, Redis and OrderEvent are observers of upstream.Client, redisdb.DB and
// ordering.Orders. docs/metrics.md lists all series.
type Metrics struct {
	registry *prometheus.Registry
	requests *prometheus.CounterVec
	duration *prometheus.HistogramVec
	runs     *prometheus.CounterVec
	skipped  *prometheus.CounterVec
	orders   *prometheus.CounterVec
	replays  *prometheus.CounterVec
	events   *prometheus.CounterVec
	refused  *prometheus.CounterVec // failed attempts with a secret or token
	repeated *prometheus.CounterVec // orderIDs of other orders
	calls    *prometheus.CounterVec
	callTime *prometheus.HistogramVec
	streams  *prometheus.CounterVec
	steps    *prometheus.HistogramVec
	runTime  *prometheus.HistogramVec
	redis    *prometheus.HistogramVec
	reads    map[Path]map[bool]prometheus.Counter // by whether the encoded body was cached

	mu     sync.RWMutex
	series map[request]requestSeries // a lookup by labels takes as long as ten increments

	// LogLinesDropped returns the number of dropped log lines. Set it before the server runs; it may be nil.
	LogLinesDropped func() float64
}

var _ menusync.Observer = (*Metrics)(nil)

// New returns a registry with all metrics that do not depend on a Server. version is a label of larder_build_info.
func New(version string) *Metrics {
	registry := prometheus.NewRegistry()
	count := func(name, help string, labels ...string) *prometheus.CounterVec {
		vector := prometheus.NewCounterVec(prometheus.CounterOpts{Name: name, Help: help}, labels)
		registry.MustRegister(vector)
		return vector
	}
	observe := func(name, help string, buckets []float64, labels ...string) *prometheus.HistogramVec {
		vector := prometheus.NewHistogramVec(prometheus.HistogramOpts{Name: name, Help: help, Buckets: buckets}, labels)
		registry.MustRegister(vector)
		return vector
	}
	m := &Metrics{
		registry: registry,
		requests: count("larder_http_requests_total", "HTTP requests, by route, method and status class.", "route", "method", "status"),
		duration: observe("larder_http_request_duration_seconds", "Time to answer an HTTP request, by route.",
			[]float64{0.0001, 0.0005, 0.002, 0.01, 0.05, 0.25, 1, 5, 30}, "route"),
		runs:    count("larder_sync_runs_total", "Finished syncs, by trigger and outcome.", "trigger", "outcome"),
		skipped: count("larder_sync_ticks_skipped_total", "Scheduled syncs that were skipped, by reason.", "reason"),
		orders: count("larder_orders_total",
			"Requests to place, pay, complete or reject an order, by operation and outcome; without replays.", "operation", "outcome"),
		replays: count("larder_order_replays_total", "Responses repeated for an Idempotency-Key that was sent again, by operation.",
			"operation"),
		events:  count("larder_order_events_total", "Events of orders and of the journal outside requests, by event.", "event"),
		refused: count("larder_auth_failures_total", "Failed attempts with a secret or token, by route.", "route"),
		repeated: count("larder_order_id_repeated_total", "Responses to a new order with the orderID of another order, by connection.",
			"connection"),
		calls: count("larder_upstream_calls_total", "Calls to the ordering service, by operation and status class; each attempt counts.",
			"operation", "status"),
		callTime: observe("larder_upstream_call_duration_seconds", "Time of an attempt of a call to the ordering service, by operation.",
			[]float64{0.005, 0.02, 0.1, 0.5, 2, 10, 30}, "operation"),
		streams: count("larder_event_streams_ended_total", "Event streams that ended, by kind and reason.", "kind", "reason"),
		steps: observe("larder_sync_step_duration_seconds", "Time of a step of a sync, by step.",
			[]float64{0.0005, 0.002, 0.01, 0.05, 0.25, 1, 5, 30}, "step"),
		runTime: observe("larder_sync_run_duration_seconds", "Time of a sync, by outcome.",
			[]float64{0.002, 0.01, 0.05, 0.25, 1, 5, 15, 60}, "outcome"),
		redis: observe("larder_redis_call_duration_seconds", "Time of a Redis command or pipeline including its retries, by result.",
			[]float64{0.0002, 0.001, 0.005, 0.025, 0.1, 0.5, 2, 5}, "result"),
		reads:  map[Path]map[bool]prometheus.Counter{},
		series: map[request]requestSeries{},
	}
	reads := count("larder_menu_reads_total",
		"Reads of menus, dishes and menu views, by path (fast or standard) and cache (hit or miss of the encoded body).",
		"path", "cache")
	for _, path := range [...]Path{Standard, Fast} {
		miss, hit := reads.WithLabelValues(string(path), "miss"), reads.WithLabelValues(string(path), "hit")
		m.reads[path] = map[bool]prometheus.Counter{false: miss, true: hit}
	}
	registry.MustRegister(
		Collector(func(out Sink) { m.collect(version, out) }),
		collectors.NewGoCollector(), &everySecond{Collector: collectors.NewProcessCollector(collectors.ProcessCollectorOpts{})},
	)
	m.startAtZero()
	return m
}

// collect sends the version of the build and the number of dropped log lines.
func (m *Metrics) collect(version string, out Sink) {
	out.Gauge("larder_build_info", "Version of the running build; always 1.",
		1, "version", version, "goversion", runtime.Version())
	dropped := 0.0
	if m.LogLinesDropped != nil {
		dropped = m.LogLinesDropped()
	}
	out.Counter("larder_log_lines_dropped_total", "Log lines dropped because their reader stalled or closed.", dropped)
}

// startAtZero creates the series whose label values are known. Otherwise an alert rule would not see the first event as an increase.
func (m *Metrics) startAtZero() {
	outcomes := []string{"updated", "unchanged", "quarantined", "held", "failed", "waiting", "skipped"}
	start(m.runs.WithLabelValues, []string{"cron", "manual", "startup"}, outcomes)
	start(m.runTime.WithLabelValues, outcomes)
	start(m.skipped.WithLabelValues, []string{"busy", "taken", "redis"})
	start(m.steps.WithLabelValues, []string{"fetch", "decode", "lint", "compile", "publish"})
	changes := map[string]string{"create": "placed", "pay": "paid", "complete": "closed", "reject": "rejected"}
	operations := slices.Collect(maps.Keys(changes))
	start(m.replays.WithLabelValues, operations)
	start(m.orders.WithLabelValues, operations, []string{
		"refused", "not_sent", "unknown", "invalid", "conflict", "not_found", "unavailable", "busy", "cancelled", "failed",
	})
	for operation, done := range changes {
		m.orders.WithLabelValues(operation, done)
	}
	start(m.events.WithLabelValues, []string{
		"timed_out", "result_recorded_late", "outcome_conflict", "result_lost", "recreated", "unreplicated",
		"journal.format", "journal.restored", "journal.accepted", "journal.commits_lost",
	})
	calls := slices.Concat(operations, []string{"token", "menu", "reasons"})
	start(m.calls.WithLabelValues, calls, []string{"none", "2xx", "3xx", "4xx", "5xx"})
	start(m.callTime.WithLabelValues, calls)
	start(m.refused.WithLabelValues, []string{"/connect/token", "/ops/session", "bearer"})
	start(m.streams.WithLabelValues, []string{StreamMenu, StreamOrder, StreamOps}, []string{"client", "slow", "drain", "expired"})
	start(m.streams.WithLabelValues, []string{StreamMenu, StreamOrder}, []string{"removed"})
	m.streams.WithLabelValues(StreamOrder, "final")
	start(m.redis.WithLabelValues, []string{"answered", "failed"})
}

// start creates a series for each combination of label values.
func start[S any](series func(labels ...string) S, values ...[]string) {
	if len(values) == 0 {
		series()
		return
	}
	for _, value := range values[0] {
		start(func(others ...string) S { return series(append([]string{value}, others...)...) }, values[1:]...)
	}
}

// StartRoute creates the request counters of a route. The first request creates the histogram.
func (m *Metrics) StartRoute(route, method string) {
	for _, status := range [...]string{"2xx", "4xx", "5xx"} {
		m.requests.WithLabelValues(route, method, status)
	}
}

// StartConnection creates the counter of a connection, so that an alert sees its first increase.
func (m *Metrics) StartConnection(connection string) { m.repeated.WithLabelValues(connection) }

// Registry returns the registry, for collectors of other packages.
func (m *Metrics) Registry() *prometheus.Registry { return m.registry }

// RunFinished counts a sync and observes the time of its steps.
func (m *Metrics) RunFinished(run runlog.Run) {
	m.runs.WithLabelValues(string(run.Trigger), string(run.Outcome)).Inc()
	if took := run.FinishedAt.Sub(run.StartedAt); took >= 0 {
		m.runTime.WithLabelValues(string(run.Outcome)).Observe(took.Seconds())
	}
	steps := run.Steps
	for step, ms := range map[string]float64{
		"fetch": steps.Fetch, "decode": steps.Decode, "lint": steps.Lint, "compile": steps.Compile, "publish": steps.Publish,
	} {
		if ms > 0 {
			m.steps.WithLabelValues(step).Observe(ms / 1000)
		}
	}
}

// TickSkipped counts a scheduled sync that was skipped.
func (m *Metrics) TickSkipped(_ menu.RestaurantID, reason menusync.SkipReason) {
	m.skipped.WithLabelValues(string(reason)).Inc()
}

// Upstream counts an exchange with the ordering service; it is an upstream.Observer.
func (m *Metrics) Upstream(op upstream.Operation, status int, took time.Duration) {
	result := "none"
	if status != 0 {
		result = class(status)
	}
	m.calls.WithLabelValues(string(op), result).Inc()
	m.callTime.WithLabelValues(string(op)).Observe(took.Seconds())
}

// Redis observes a command or pipeline of Redis; it is an observer of redisdb.DB.
func (m *Metrics) Redis(took time.Duration, err error) {
	result := "answered"
	if err != nil {
		result = "failed"
	}
	m.redis.WithLabelValues(result).Observe(took.Seconds())
}

// OrderEvent counts an event of an order outside requests; it is an observer of ordering.Orders.
func (m *Metrics) OrderEvent(event, connection string) {
	if event == "order.id_repeated" {
		m.repeated.WithLabelValues(connection).Inc()
		return
	}
	m.events.WithLabelValues(strings.TrimPrefix(event, "order.")).Inc()
}

// The kinds of event streams, as label values.
const (
	StreamMenu  = "menu"
	StreamOrder = "order"
	StreamOps   = "ops"
)

// StreamEnded counts an event stream that has ended.
func (m *Metrics) StreamEnded(kind, reason string) {
	m.streams.WithLabelValues(kind, reason).Inc()
}

// Order counts a request to place or change an order by its outcome.
func (m *Metrics) Order(operation, outcome string) {
	m.orders.WithLabelValues(operation, outcome).Inc()
}

// AuthFailed counts a failed attempt with a secret or token.
func (m *Metrics) AuthFailed(route string) { m.refused.WithLabelValues(route).Inc() }

// Replay counts a response that was repeated for an Idempotency-Key.
func (m *Metrics) Replay(operation string) { m.replays.WithLabelValues(operation).Inc() }

// Request counts a request. If streamed, it does not observe the duration, which depends only on the client.
func (m *Metrics) Request(route, method string, status int, took time.Duration, streamed bool) {
	labels := request{route, Method(method), class(status), streamed}
	m.mu.RLock()
	series, known := m.series[labels]
	m.mu.RUnlock()
	if !known {
		series.count = m.requests.WithLabelValues(route, labels.method, labels.class)
		if !streamed {
			series.duration = m.duration.WithLabelValues(route)
		}
		m.mu.Lock()
		m.series[labels] = series
		m.mu.Unlock()
	}
	series.count.Inc()
	if !streamed {
		series.duration.Observe(took.Seconds())
	}
}

// request has the labels of a request's series; their number is bounded by the label values.
type request struct {
	route, method, class string
	streamed             bool
}

type requestSeries struct {
	count    prometheus.Counter
	duration prometheus.Observer // nil for streams
}

// Read counts a read of a menu, dish or menu view. hit means that the encoded body was cached.
func (m *Metrics) Read(path Path, hit bool) {
	m.reads[path][hit].Inc()
}

// class returns the label value of a status: 2xx, 3xx, 4xx, 5xx or other.
func class(status int) string {
	if status < 100 || status > 599 {
		return "other"
	}
	return [...]string{"1xx", "2xx", "3xx", "4xx", "5xx"}[status/100-1]
}

// Method returns the method, or "other" so that the number of label values is bounded.
func Method(method string) string {
	switch method {
	case http.MethodGet, http.MethodHead, http.MethodPost, http.MethodPut, http.MethodDelete, http.MethodOptions:
		return method
	default:
		return "other"
	}
}

// Path is the path that answered a read.
type Path string

// The two paths of reads.
const (
	Standard Path = "standard" // a handler behind net/http
	Fast     Path = "fast"     // before net/http (docs/decisions/0023-fast-path-before-net-http.md)
)
