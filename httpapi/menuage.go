package httpapi

import (
	"github.com/prometheus/client_golang/prometheus"
)

// menuAge tells at each scrape how old the served menus are. One gauge for the
// oldest and one count by state serve ten restaurants and ten thousand alike.
type menuAge struct {
	server *Server
	oldest *prometheus.Desc
	states *prometheus.Desc
}

func newMenuAge(s *Server) *menuAge {
	return &menuAge{
		server: s,
		oldest: prometheus.NewDesc("larder_menu_age_seconds",
			"Time since the served menu that was confirmed longest ago was confirmed with the ordering service.", nil, nil),
		states: prometheus.NewDesc("larder_restaurants",
			"Restaurants by the state of their menu: fresh, stale or missing.", []string{"state"}, nil),
	}
}

// Describe implements prometheus.Collector.
func (a *menuAge) Describe(ch chan<- *prometheus.Desc) {
	ch <- a.oldest
	ch <- a.states
}

// Collect implements prometheus.Collector. It reads memory only.
func (a *menuAge) Collect(ch chan<- prometheus.Metric) {
	now := a.server.clock()
	oldest, fresh, stale, missing := 0.0, 0, 0, 0
	for _, restaurant := range a.server.runner.Restaurants() {
		version, known := a.server.replica.Version(restaurant.ID)
		if !known {
			missing++
			continue
		}
		oldest = max(oldest, now.Sub(version.CheckedAt).Seconds())
		if a.server.runner.Stale(version) {
			stale++
		} else {
			fresh++
		}
	}
	ch <- prometheus.MustNewConstMetric(a.oldest, prometheus.GaugeValue, oldest)
	for state, count := range map[string]int{"fresh": fresh, "stale": stale, "missing": missing} {
		ch <- prometheus.MustNewConstMetric(a.states, prometheus.GaugeValue, float64(count), state)
	}
}
