package httpapi

import (
	"github.com/prometheus/client_golang/prometheus"

	"larder/internal/tracing"
)

// traceCounts tells at each scrape what became of the spans.
type traceCounts struct {
	count func() tracing.Spans
	desc  *prometheus.Desc
}

func newTraceCounts(count func() tracing.Spans) *traceCounts {
	return &traceCounts{count, prometheus.NewDesc("larder_trace_spans_total",
		"Spans of traces by result: sent to tracing.endpoint, or dropped.", []string{"result"}, nil)}
}

// Describe implements prometheus.Collector.
func (t *traceCounts) Describe(ch chan<- *prometheus.Desc) { ch <- t.desc }

// Collect implements prometheus.Collector.
func (t *traceCounts) Collect(ch chan<- prometheus.Metric) {
	count := t.count()
	ch <- prometheus.MustNewConstMetric(t.desc, prometheus.CounterValue, float64(count.Sent), "sent")
	ch <- prometheus.MustNewConstMetric(t.desc, prometheus.CounterValue, float64(count.Dropped), "dropped")
}
