package metrics_test

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	dto "github.com/prometheus/client_model/go"

	"larder.local/httpapi/metrics"
)

// Every series whose label values are known exists from the start with value 0.
func TestSeriesStartAtZero(t *testing.T) {
	t.Parallel()
	families, err := metrics.New("test").Registry().Gather()
	if err != nil {
		t.Fatal(err)
	}
	got := map[string]map[string]bool{}
	for _, family := range families {
		if name := family.GetName(); strings.HasPrefix(name, "larder_") && name != "larder_build_info" {
			got[name] = map[string]bool{}
			for _, series := range family.GetMetric() {
				got[name][values(series)] = true
				if series.GetCounter().GetValue() != 0 || series.GetHistogram().GetSampleCount() != 0 {
					t.Errorf("%s %s does not start at 0", name, values(series))
				}
			}
		}
	}
	if diff := cmp.Diff(startSeries(), got); diff != "" {
		t.Error(diff)
	}
}

// values returns the label values of a series, sorted by label name.
func values(series *dto.Metric) string {
	var texts []string
	for _, label := range series.GetLabel() {
		texts = append(texts, label.GetValue())
	}
	return strings.Join(texts, " ")
}

func startSeries() map[string]map[string]bool {
	const (
		outcomes   = "updated unchanged quarantined held failed waiting skipped"
		operations = "create pay complete reject"
		calls      = "token menu reasons create pay complete reject"
		notDone    = "refused not_sent unknown invalid conflict not_found unavailable busy cancelled failed"
	)
	return map[string]map[string]bool{
		"larder_auth_failures_total": {"/connect/token": true, "/ops/session": true, "bearer": true},
		"larder_event_streams_ended_total": set(
			product("menu", "client slow drain expired removed"),
			product("order", "client slow drain expired removed final"), product("ops", "client slow drain expired")),
		"larder_log_lines_dropped_total": {"": true},
		"larder_menu_reads_total":        set(product("hit miss", "fast standard")),
		"larder_order_events_total": set(strings.Fields("timed_out result_recorded_late outcome_conflict result_lost " +
			"recreated unreplicated journal.format journal.restored journal.accepted journal.commits_lost")),
		"larder_order_replays_total": set(strings.Fields(operations)),
		"larder_orders_total": set(product("create", "placed "+notDone), product("pay", "paid "+notDone),
			product("complete", "closed "+notDone), product("reject", "rejected "+notDone)),
		"larder_redis_call_duration_seconds":    set(strings.Fields("answered failed")),
		"larder_sync_run_duration_seconds":      set(strings.Fields(outcomes)),
		"larder_sync_runs_total":                set(product(outcomes, "cron manual startup")),
		"larder_sync_step_duration_seconds":     set(strings.Fields("fetch decode lint compile publish")),
		"larder_sync_ticks_skipped_total":       set(strings.Fields("busy taken redis")),
		"larder_upstream_call_duration_seconds": set(strings.Fields(calls)),
		"larder_upstream_calls_total":           set(product(calls, "none 2xx 3xx 4xx 5xx")),
	}
}

// product returns the combinations of the words of first and second.
func product(first, second string) []string {
	var all []string
	for a := range strings.FieldsSeq(first) {
		for b := range strings.FieldsSeq(second) {
			all = append(all, a+" "+b)
		}
	}
	return all
}

func set(lists ...[]string) map[string]bool {
	all := map[string]bool{}
	for _, list := range lists {
		for _, text := range list {
			all[text] = true
		}
	}
	return all
}
