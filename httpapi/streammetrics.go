package httpapi

import "github.com/prometheus/client_golang/prometheus"

// The kinds of event streams, as metrics label them.
const (
	kindMenu = "menu"
	kindOps  = "ops"
)

// openStreams tells at each scrape how many event streams are open.
type openStreams struct {
	streams *streams
	open    *prometheus.Desc
}

func newOpenStreams(s *streams) *openStreams {
	return &openStreams{s, prometheus.NewDesc("larder_event_streams", "Event streams that are open, by kind: menu or ops.", []string{"kind"}, nil)}
}

// Describe implements prometheus.Collector.
func (o *openStreams) Describe(ch chan<- *prometheus.Desc) { ch <- o.open }

// Collect implements prometheus.Collector.
func (o *openStreams) Collect(ch chan<- prometheus.Metric) {
	menus, ops := o.streams.open()
	ch <- prometheus.MustNewConstMetric(o.open, prometheus.GaugeValue, float64(menus), kindMenu)
	ch <- prometheus.MustNewConstMetric(o.open, prometheus.GaugeValue, float64(ops), kindOps)
}

// newStreamsEnded counts the streams that are over.
func newStreamsEnded() *prometheus.CounterVec {
	return prometheus.NewCounterVec(prometheus.CounterOpts{
		Name: "larder_event_streams_ended_total",
		Help: "Event streams that have ended, by kind and reason: client, slow, drain, expired or removed.",
	}, []string{"kind", "reason"})
}

// streamEnded counts one.
func (m *Metrics) streamEnded(kind string, why ending) {
	m.streams.WithLabelValues(kind, string(why)).Inc()
}
