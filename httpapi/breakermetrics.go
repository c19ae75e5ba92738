package httpapi

import "github.com/prometheus/client_golang/prometheus"

// breakers tells at each scrape whether reads of the ordering services are
// tried at all.
type breakers struct {
	connections []Connection
	desc        *prometheus.Desc
}

func newBreakers(connections []Connection) *breakers {
	return &breakers{connections, prometheus.NewDesc("larder_upstream_breaker",
		"1 for the state that the circuit breaker of a connection's reads is in: closed (they are tried), open (they are not), or half-open (one is).",
		[]string{"connection", "state"}, nil)}
}

// Describe implements prometheus.Collector.
func (b *breakers) Describe(ch chan<- *prometheus.Desc) { ch <- b.desc }

// Collect implements prometheus.Collector.
func (b *breakers) Collect(ch chan<- prometheus.Metric) {
	for _, connection := range b.connections {
		if connection.Breaker == nil {
			continue
		}
		now := connection.Breaker()
		for _, state := range [...]string{"closed", "open", "half-open"} {
			ch <- prometheus.MustNewConstMetric(b.desc, prometheus.GaugeValue, boolGauge(state == now), connection.Name, state)
		}
	}
}
