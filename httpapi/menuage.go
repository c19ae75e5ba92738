package httpapi

import (
	"math"
	"slices"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	menusync "larder/sync"
)

// menuAge tells at each scrape how old the served menus are, and how their last
// syncs ended. No series has a restaurant's name: ten restaurants and ten
// thousand give the same few (docs/decisions/0037-what-is-counted.md).
type menuAge struct {
	server *Server

	oldest, ages, states, outcomes, success *prometheus.Desc
}

// ageQuantiles are the quantiles of the ages; the oldest has a gauge of its own.
var ageQuantiles = [...]struct { //nolint:gochecknoglobals // a table
	of   float64
	name string
}{{0.5, "0.5"}, {0.9, "0.9"}, {0.99, "0.99"}}

func newMenuAge(s *Server) *menuAge {
	return &menuAge{
		server: s,
		oldest: prometheus.NewDesc("larder_menu_age_seconds",
			"Time since the served menu that was confirmed longest ago was confirmed with the ordering service.", nil, nil),
		ages: prometheus.NewDesc("larder_menu_age_quantile_seconds",
			"The same of the menu that so large a share of the served ones is no older than: 0.5, 0.9 and 0.99.", []string{"share"}, nil),
		states: prometheus.NewDesc("larder_restaurants",
			"Restaurants by the state of their menu: fresh, stale or missing.", []string{"state"}, nil),
		outcomes: prometheus.NewDesc("larder_restaurants_last_sync",
			"Restaurants that have a menu, by how their last sync ended: updated, unchanged, quarantined, held, failed, or none.", []string{"outcome"}, nil),
		success: prometheus.NewDesc("larder_sync_last_success_timestamp_seconds",
			"When a menu was last confirmed with the ordering service of the connection, by any larder; Unix time.", []string{"connection"}, nil),
	}
}

// Describe implements prometheus.Collector.
func (a *menuAge) Describe(ch chan<- *prometheus.Desc) {
	for _, desc := range []*prometheus.Desc{a.oldest, a.ages, a.states, a.outcomes, a.success} {
		ch <- desc
	}
}

// Collect implements prometheus.Collector. It reads memory only.
func (a *menuAge) Collect(ch chan<- prometheus.Metric) {
	gauge := func(desc *prometheus.Desc, value float64, labels ...string) {
		ch <- prometheus.MustNewConstMetric(desc, prometheus.GaugeValue, value, labels...)
	}
	seen := a.look()
	gauge(a.oldest, seen.quantile(1))
	for _, quantile := range ageQuantiles {
		gauge(a.ages, seen.quantile(quantile.of), quantile.name)
	}
	for state, count := range seen.states {
		gauge(a.states, float64(count), state)
	}
	for outcome, count := range seen.outcomes {
		gauge(a.outcomes, float64(count), outcome)
	}
	for connection, at := range seen.success {
		gauge(a.success, float64(at.UnixMilli())/1000, connection)
	}
}

// menuAges is what one look at the served menus finds.
type menuAges struct {
	ages     []float64 // seconds, ascending
	states   map[string]int
	outcomes map[string]int
	success  map[string]time.Time
}

// look counts. Every state and outcome is there, with 0 too, so that a rule
// over one does not have to tell nothing from none.
func (a *menuAge) look() menuAges {
	seen := menuAges{
		states: map[string]int{"fresh": 0, "stale": 0, "missing": 0},
		outcomes: map[string]int{
			string(menusync.OutcomeUpdated): 0, string(menusync.OutcomeUnchanged): 0, string(menusync.OutcomeQuarantined): 0,
			string(menusync.OutcomeHeld): 0, string(menusync.OutcomeFailed): 0, "none": 0,
		},
		success: map[string]time.Time{},
	}
	now := a.server.clock()
	for _, restaurant := range a.server.runner.Restaurants() {
		version, known := a.server.replica.Version(restaurant.ID)
		if !known {
			seen.states["missing"]++
			continue
		}
		seen.ages = append(seen.ages, now.Sub(version.CheckedAt).Seconds())
		if a.server.runner.Stale(version) {
			seen.states["stale"]++
		} else {
			seen.states["fresh"]++
		}
		if _, listed := seen.outcomes[version.LastOutcome]; listed {
			seen.outcomes[version.LastOutcome]++
		} else {
			seen.outcomes["none"]++
		}
		if version.CheckedAt.After(seen.success[restaurant.Connection]) {
			seen.success[restaurant.Connection] = version.CheckedAt
		}
	}
	slices.Sort(seen.ages)
	return seen
}

// quantile gives the age that so large a share of the menus is no older than;
// 0 where there is none.
func (m menuAges) quantile(share float64) float64 {
	if len(m.ages) == 0 {
		return 0
	}
	return max(0, m.ages[int(math.Ceil(share*float64(len(m.ages))))-1])
}
