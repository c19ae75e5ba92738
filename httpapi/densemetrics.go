package httpapi

import (
	"github.com/prometheus/client_golang/prometheus"

	"larder/cache"
)

// denseBodies tells at each scrape how many dense bodies were compressed here,
// and how many another larder had compressed.
type denseBodies struct {
	count func() cache.DenseBodies
	desc  *prometheus.Desc
}

func newDenseBodies(count func() cache.DenseBodies) *denseBodies {
	return &denseBodies{count, prometheus.NewDesc("larder_dense_bodies_total",
		"Dense bodies that came into memory, by where from: compressed here, or redis, where another larder put them.", []string{"from"}, nil)}
}

// Describe implements prometheus.Collector.
func (d *denseBodies) Describe(ch chan<- *prometheus.Desc) { ch <- d.desc }

// Collect implements prometheus.Collector.
func (d *denseBodies) Collect(ch chan<- prometheus.Metric) {
	count := d.count()
	ch <- prometheus.MustNewConstMetric(d.desc, prometheus.CounterValue, float64(count.Made), "compressed")
	ch <- prometheus.MustNewConstMetric(d.desc, prometheus.CounterValue, float64(count.Taken), "redis")
}
