package httpapi

import (
	"github.com/prometheus/client_golang/prometheus"

	"larder/internal/upstream"
)

// upstreamLoad shows at each scrape how busy the connections to the ordering
// services are (policy O8a).
type upstreamLoad struct {
	connections                                  []Connection
	waiting, inFlight, slots, slotTime, rejected *prometheus.Desc
}

func newUpstreamLoad(connections []Connection) *upstreamLoad {
	desc := func(name, help string, labels ...string) *prometheus.Desc {
		return prometheus.NewDesc(name, help, append([]string{"connection"}, labels...), nil)
	}
	return &upstreamLoad{
		connections: connections,
		waiting:     desc("larder_upstream_calls_waiting", "Calls that wait for a slot of the connection."),
		inFlight:    desc("larder_upstream_calls_in_flight", "Calls that have a slot of the connection."),
		slots: desc("larder_upstream_order_slots",
			"The most order calls in flight at the moment: it shrinks while calls take more than a third of timeouts.write."),
		slotTime: desc("larder_upstream_slot_time_seconds", "Mean time that an order call of the last minute held its slot."),
		rejected: desc("larder_upstream_rejections_total",
			"Order calls that got no slot and were answered 503 upstream_busy: on arrival, or after waiting.", "when"),
	}
}

// Describe implements prometheus.Collector.
func (l *upstreamLoad) Describe(ch chan<- *prometheus.Desc) {
	for _, desc := range []*prometheus.Desc{l.waiting, l.inFlight, l.slots, l.slotTime, l.rejected} {
		ch <- desc
	}
}

// Collect implements prometheus.Collector.
func (l *upstreamLoad) Collect(ch chan<- prometheus.Metric) {
	for _, connection := range l.connections {
		if connection.Load != nil {
			l.collect(ch, connection.Name, connection.Load())
		}
	}
}

func (l *upstreamLoad) collect(ch chan<- prometheus.Metric, name string, load upstream.Load) {
	gauge := func(desc *prometheus.Desc, value float64) {
		ch <- prometheus.MustNewConstMetric(desc, prometheus.GaugeValue, value, name)
	}
	gauge(l.waiting, float64(load.Waiting))
	gauge(l.inFlight, float64(load.InFlight))
	gauge(l.slots, float64(load.OrderSlots))
	gauge(l.slotTime, load.SlotTime.Seconds())
	rejections := func(when string, count uint64) {
		ch <- prometheus.MustNewConstMetric(l.rejected, prometheus.CounterValue, float64(count), name, when)
	}
	rejections("arrival", load.Rejected.OnArrival)
	rejections("waited", load.Rejected.AfterWaiting)
}
