package httpapi

import (
	"github.com/prometheus/client_golang/prometheus"

	"larder/cache"
)

// memoryUse tells at each scrape what the ready bodies take of cache.memory.
type memoryUse struct {
	of          func() cache.Memory
	used, limit *prometheus.Desc
}

func newMemoryUse(of func() cache.Memory) *memoryUse {
	return &memoryUse{
		of:    of,
		used:  prometheus.NewDesc("larder_cache_bytes", "What the ready bodies of menus and dishes take in memory.", nil, nil),
		limit: prometheus.NewDesc("larder_cache_limit_bytes", "What they may take (cache.memory); the least used go beyond it.", nil, nil),
	}
}

// Describe implements prometheus.Collector.
func (m *memoryUse) Describe(ch chan<- *prometheus.Desc) {
	ch <- m.used
	ch <- m.limit
}

// Collect implements prometheus.Collector.
func (m *memoryUse) Collect(ch chan<- prometheus.Metric) {
	memory := m.of()
	ch <- prometheus.MustNewConstMetric(m.used, prometheus.GaugeValue, float64(memory.Used))
	ch <- prometheus.MustNewConstMetric(m.limit, prometheus.GaugeValue, float64(memory.Limit))
}
