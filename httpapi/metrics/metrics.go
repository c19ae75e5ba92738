package metrics

import (
	"maps"
	"net/http"
	"runtime"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/collectors"

	"larder/internal/menu"
	"larder/internal/upstream"
	"larder/ordering"
	menusync "larder/sync"
	"larder/sync/runlog"
)

// Metrics is what /metrics shows, in a registry of its own. Every label comes
// from a closed list (routes, outcomes, operations), never from a request.
//
// It is a menusync.Observer; its methods Upstream, Redis and OrderEvent are
// observers of upstream.Client, redisdb.DB and ordering.Orders. cmd hands it to
// all of them and to Deps. docs/metrics.md lists every series.
type Metrics struct {
	registry *prometheus.Registry
	requests *prometheus.CounterVec
	duration *prometheus.HistogramVec
	runs     *prometheus.CounterVec
	skipped  *prometheus.CounterVec
	orders   *prometheus.CounterVec
	replays  *prometheus.CounterVec
	events   *prometheus.CounterVec
	calls    *prometheus.CounterVec
	callTime *prometheus.HistogramVec
	streams  *prometheus.CounterVec
	steps    *prometheus.HistogramVec
	runTime  *prometheus.HistogramVec
	redis    *prometheus.HistogramVec
	reads    [pathNames][2]prometheus.Counter // by path, and whether the body was in memory
	series   seriesCache

	// LogLinesDropped counts lines of the log that its reader did not get. Set it
	// before the server runs; nil: none.
	LogLinesDropped func() float64
}

var _ menusync.Observer = (*Metrics)(nil)

// New makes the registry with everything that does not depend on a
// Server; version goes into larder_build_info.
func New(version string) *Metrics {
	registry := prometheus.NewRegistry()
	count := func(name, help string, labels ...string) *prometheus.CounterVec {
		vector := prometheus.NewCounterVec(prometheus.CounterOpts{Name: name, Help: help}, labels)
		registry.MustRegister(vector)
		return vector
	}
	observe := func(name, label, help string, buckets ...float64) *prometheus.HistogramVec {
		vector := prometheus.NewHistogramVec(prometheus.HistogramOpts{Name: name, Help: help, Buckets: buckets}, []string{label})
		registry.MustRegister(vector)
		return vector
	}
	m := &Metrics{
		registry: registry,
		requests: count("larder_http_requests_total", "HTTP requests, by route, method and status class.", "route", "method", "status"),
		duration: observe("larder_http_request_duration_seconds", "route", "Time to answer an HTTP request, by route.",
			0.0001, 0.0005, 0.002, 0.01, 0.05, 0.25, 1, 5, 30),
		runs:    count("larder_sync_runs_total", "Finished syncs, by trigger and outcome.", "trigger", "outcome"),
		skipped: count("larder_sync_ticks_skipped_total", "Scheduled syncs that were skipped, by reason.", "reason"),
		orders: count("larder_orders_total",
			"Requests to place, pay, complete or reject an order, by operation and outcome; without replays.", "operation", "outcome"),
		replays: count("larder_order_replays_total",
			"Responses repeated for an Idempotency-Key that was sent again, by operation.", "operation"),
		events: count("larder_order_events_total", "Events of orders and of the journal outside requests, by event.", "event"),
		calls:  count("larder_upstream_calls_total", "Calls to the ordering service, by operation and status class; each attempt counts.", "operation", "status"),
		callTime: observe("larder_upstream_call_duration_seconds", "operation", "Time of an attempt of a call to the ordering service, by operation.",
			0.005, 0.02, 0.1, 0.5, 2, 10, 30),
		streams: count("larder_event_streams_ended_total",
			"Event streams that ended, by kind and reason.", "kind", "reason"),
		steps: observe("larder_sync_step_duration_seconds", "step",
			"Time of a step of a sync, by step.", 0.0005, 0.002, 0.01, 0.05, 0.25, 1, 5, 30),
		runTime: observe("larder_sync_run_duration_seconds", "outcome", "Time of a sync, by outcome.",
			0.002, 0.01, 0.05, 0.25, 1, 5, 15, 60),
		redis: observe("larder_redis_call_duration_seconds", "result",
			"Time of a Redis command or pipeline including its retries, by result.",
			0.0002, 0.001, 0.005, 0.025, 0.1, 0.5, 2, 5),
	}
	reads := count("larder_menu_reads_total",
		"Reads of menus, dishes and menu views, by path (fast or standard) and cache (hit or miss of the encoded body).",
		"path", "cache")
	for path, name := range [pathNames]string{"standard", "fast"} {
		m.reads[path] = [2]prometheus.Counter{reads.WithLabelValues(name, "miss"), reads.WithLabelValues(name, "hit")}
	}
	for _, event := range [...]string{"timed_out", "result_recorded_late", "outcome_conflict", "result_lost"} {
		m.events.WithLabelValues(event) // from 0 on: a rule must see the first one as an increase
	}
	registry.MustRegister(
		gauge("larder_build_info", "Version of the running build; always 1.",
			prometheus.Labels{"version": version, "goversion": runtime.Version()}, func() int { return 1 }),
		counter("larder_log_lines_dropped_total", "Log lines dropped because their reader stalled or closed.", nil,
			func() float64 {
				if m.LogLinesDropped == nil {
					return 0
				}
				return m.LogLinesDropped()
			}),
		collectors.NewGoCollector(), collectors.NewProcessCollector(collectors.ProcessCollectorOpts{}),
	)
	return m
}

// Registry is where other rooms' collectors may be added.
func (m *Metrics) Registry() *prometheus.Registry { return m.registry }

// RunFinished counts a sync, and the time of the steps that it reached.
func (m *Metrics) RunFinished(run runlog.Run) {
	m.runs.WithLabelValues(string(run.Trigger), string(run.Outcome)).Inc()
	if took := run.FinishedAt.Sub(run.StartedAt); took >= 0 {
		m.runTime.WithLabelValues(string(run.Outcome)).Observe(took.Seconds())
	}
	for step, ms := range run.Steps.All() {
		m.steps.WithLabelValues(step).Observe(ms / 1000)
	}
}

// TickSkipped counts a tick without a run.
func (m *Metrics) TickSkipped(_ menu.RestaurantID, reason menusync.SkipReason) {
	m.skipped.WithLabelValues(string(reason)).Inc()
}

// Upstream counts a call of the ordering service.
func (m *Metrics) Upstream(call upstream.Call) {
	status := "none"
	if call.Status != 0 {
		status = class(call.Status)
	}
	m.calls.WithLabelValues(string(call.Operation), status).Inc()
	m.callTime.WithLabelValues(string(call.Operation)).Observe(call.Duration.Seconds())
}

// Redis counts a command or a pipeline of Redis; it is an observer of
// redisdb.DB.
func (m *Metrics) Redis(took time.Duration, err error) {
	result := "answered"
	if err != nil {
		result = "failed"
	}
	m.redis.WithLabelValues(result).Observe(took.Seconds())
}

// OrderEvent counts what happened to an order without a request to answer; it
// is an observer of ordering.Orders.
func (m *Metrics) OrderEvent(event ordering.Event) {
	m.events.WithLabelValues(strings.TrimPrefix(event.Name, "order.")).Inc()
}

// The kinds of event streams, as metrics label them.
const (
	StreamMenu = "menu"
	StreamOps  = "ops"
)

// StreamEnded counts an event stream that is over.
func (m *Metrics) StreamEnded(kind, reason string) {
	m.streams.WithLabelValues(kind, reason).Inc()
}

// Order counts an order that was asked to be placed or changed, by what came of it.
func (m *Metrics) Order(operation, outcome string) {
	m.orders.WithLabelValues(operation, outcome).Inc()
}

// Replay counts an answer that was given again for an Idempotency-Key.
func (m *Metrics) Replay(operation string) { m.replays.WithLabelValues(operation).Inc() }

// Request counts a request; streamed is one whose answer took as long as its
// reader stayed, which says nothing of larder.
func (m *Metrics) Request(route, method string, status int, took time.Duration, streamed bool) {
	series := m.series.of(m, seriesLabels{route: route, method: Method(method), class: status / 100, streamed: streamed})
	series.requests.Inc()
	if series.duration != nil {
		series.duration.Observe(took.Seconds())
	}
}

// Read counts a read of a menu, dish or menu view; hit: its body was in memory.
func (m *Metrics) Read(path Path, hit bool) {
	if hit {
		m.reads[path][1].Inc()
	} else {
		m.reads[path][0].Inc()
	}
}

// class is a status as a label: 2xx, 3xx, 4xx, 5xx.
func class(status int) string {
	if status < 100 || status > 599 {
		return "other"
	}
	return strconv.Itoa(status/100) + "xx"
}

// Method keeps made-up methods out of the labels.
func Method(method string) string {
	switch method {
	case http.MethodGet, http.MethodHead, http.MethodPost, http.MethodPut, http.MethodDelete, http.MethodOptions:
		return method
	default:
		return "other"
	}
}

// seriesCache has the series that requests have been counted in: looking one up
// by its labels takes as long as counting ten times. They are as few as the
// labels are (Metrics).
type seriesCache struct {
	all atomic.Pointer[map[seriesLabels]requestSeries] // never changed: replaced
	mu  sync.Mutex                                     // held to replace it
}

// seriesLabels are what the series of a request are found by.
type seriesLabels struct {
	route, method string
	class         int // status / 100
	streamed      bool
}

// requestSeries are what a request is counted in.
type requestSeries struct {
	requests prometheus.Counter
	duration prometheus.Observer // nil of a stream
}

// of returns the series of the labels.
func (k *seriesCache) of(m *Metrics, labels seriesLabels) requestSeries {
	if all := k.all.Load(); all != nil {
		if series, ok := (*all)[labels]; ok {
			return series
		}
	}
	series := requestSeries{requests: m.requests.WithLabelValues(labels.route, labels.method, class(labels.class*100))}
	if !labels.streamed {
		series.duration = m.duration.WithLabelValues(labels.route)
	}
	k.mu.Lock()
	defer k.mu.Unlock()
	all := map[seriesLabels]requestSeries{labels: series}
	if known := k.all.Load(); known != nil {
		maps.Copy(all, *known)
	}
	k.all.Store(&all)
	return series
}

// Path says what answered a read.
type Path uint8

// The two paths of reads.
const (
	Standard Path = iota // a handler behind net/http
	Fast                 // before it (docs/decisions/0023-fast-path-before-net-http.md)
	pathNames
)
