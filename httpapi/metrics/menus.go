package metrics

import (
	"math"
	"slices"
	"strconv"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"larder.local/cache/replica"
	"larder.local/internal/directory"
	menusync "larder.local/sync"
	"larder.local/sync/runlog"
)

// Menus are the metrics of the age of the served menus and the outcomes of their last syncs. It
// reads only memory. There is no label for restaurants, so the number of series does not grow
// with their number (docs/decisions/0037-metric-labels-and-cardinality.md).
type Menus struct {
	Replica   *replica.Replica
	Directory *directory.Directory
	Runner    *menusync.Runner
	Clock     func() time.Time
}

// Collector returns the collector of the series.
func (s Menus) Collector() prometheus.Collector { return &everySecond{Collector: Collector(s.collect)} }

// collect sends the current values. States and outcomes without restaurants are 0, so that
// alerting rules need not handle missing series.
func (s Menus) collect(out Sink) {
	var ages []float64 // seconds
	states := map[string]int{"fresh": 0, "stale": 0, "missing": 0}
	outcomes := map[string]int{
		string(runlog.OutcomeUpdated): 0, string(runlog.OutcomeUnchanged): 0, string(runlog.OutcomeQuarantined): 0,
		string(runlog.OutcomeHeld): 0, string(runlog.OutcomeFailed): 0, string(runlog.OutcomeWaiting): 0, "none": 0,
	}
	success := map[string]time.Time{} // by connection
	now := s.Clock()
	for _, restaurant := range s.Directory.Restaurants() {
		version, known := s.Replica.Version(restaurant.ID)
		if !known {
			states["missing"]++
			continue
		}
		ages = append(ages, now.Sub(version.CheckedAt).Seconds())
		state, outcome := "fresh", version.LastOutcome
		if s.Runner.Stale(version) {
			state = "stale"
		}
		if _, listed := outcomes[outcome]; !listed {
			outcome = "none"
		}
		states[state]++
		outcomes[outcome]++
		if version.CheckedAt.After(success[restaurant.Connection]) {
			success[restaurant.Connection] = version.CheckedAt
		}
	}
	slices.Sort(ages)
	out.Gauge("larder_menu_age_seconds", "Age of the oldest served menu: time since a sync last confirmed it.",
		quantile(ages, 1))
	for _, share := range [...]float64{0.5, 0.9, 0.99} {
		out.Gauge("larder_menu_age_quantile_seconds", "Quantiles (0.5, 0.9, 0.99) of the age of the served menus.",
			quantile(ages, share), "share", strconv.FormatFloat(share, 'g', -1, 64))
	}
	for state, count := range states {
		out.Gauge("larder_restaurants", "Restaurants, by the state of their menu: fresh, stale or missing.",
			float64(count), "state", state)
	}
	for outcome, count := range outcomes {
		out.Gauge("larder_restaurants_by_last_outcome", "Restaurants with a menu, by the outcome of their last sync.",
			float64(count), "outcome", outcome)
	}
	for connection, at := range success {
		out.Gauge("larder_sync_last_success_timestamp_seconds",
			"Unix time at which a sync last confirmed a menu of the connection, on any instance.",
			float64(at.UnixMilli())/1000, "connection", connection)
	}
}

// quantile returns the age of the given share of the menus, or 0 without menus.
func quantile(ascending []float64, share float64) float64 {
	if len(ascending) == 0 {
		return 0
	}
	return max(0, ascending[int(math.Ceil(share*float64(len(ascending))))-1])
}
