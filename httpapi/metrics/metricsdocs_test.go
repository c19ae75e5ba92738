package metrics_test

import (
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/testutil/promlint"
	dto "github.com/prometheus/client_model/go"

	"larder.local/httpapi"
	"larder.local/httpapi/metrics"
	"larder.local/internal/testkit/apitest"
	"larder.local/internal/upstream"
	menusync "larder.local/sync"
	"larder.local/sync/runlog"
)

// described is a metric as a registry or docs/metrics.md describes it.
type described struct {
	kind   string // "" if nothing has been counted yet
	labels []string
}

// describedBy returns the registry's descriptions of all metrics, including those that have not
// been counted yet. Those that are only read at a scrape are described by their series.
func describedBy(t *testing.T, registry *prometheus.Registry) map[string]described {
	t.Helper()
	form := regexp.MustCompile(`^Desc\{fqName: "([a-z0-9_]+)", help: ".*", constLabels: \{(.*)\}, variableLabels: \{(.*)\}\}$`)
	descriptions := make(chan *prometheus.Desc, 1000)
	registry.Describe(descriptions)
	close(descriptions)
	all := map[string]described{}
	for description := range descriptions {
		parts := form.FindStringSubmatch(description.String())
		if parts == nil {
			t.Fatalf("a description that cannot be read: %s", description)
		}
		var labels []string
		for constant := range strings.SplitSeq(parts[2], ",") {
			if name, _, ok := strings.Cut(constant, "="); ok {
				labels = append(labels, name)
			}
		}
		labels = append(labels, strings.FieldsFunc(parts[3], func(r rune) bool { return r == ',' })...)
		slices.Sort(labels)
		all[parts[1]] = described{labels: labels}
	}
	for _, family := range gathered(t, registry) {
		one, counted := all[family.GetName()]
		if !counted {
			for _, label := range family.GetMetric()[0].GetLabel() {
				one.labels = append(one.labels, label.GetName())
			}
		}
		one.kind = strings.ToLower(family.GetType().String())
		all[family.GetName()] = one
	}
	return all
}

func gathered(t *testing.T, registry *prometheus.Registry) []*dto.MetricFamily {
	t.Helper()
	families, err := registry.Gather()
	if err != nil {
		t.Fatal(err)
	}
	return families
}

// counting is a fixture that has counted every series at least once.
func counting(t *testing.T) *prometheus.Registry {
	t.Helper()
	observer := metrics.New("1.2.3")
	w := apitest.New(t, func(p *apitest.Plan) {
		p.Deps = func(d *httpapi.Deps) {
			d.Metrics = observer
			for i := range d.Connections {
				d.Connections[i].Breaker = func() string { return "closed" }
				d.Connections[i].Load = func() upstream.Load { return upstream.Load{} }
			}
		}
	})
	observer.RunFinished(runlog.Run{
		Trigger:    runlog.TriggerCron,
		Outcome:    runlog.OutcomeUpdated,
		StartedAt:  time.Now(),
		FinishedAt: time.Now(),
		Steps: runlog.Steps{
			Fetch:   12,
			Decode:  1,
			Lint:    1,
			Compile: 1,
			Publish: 2,
		},
	})
	observer.TickSkipped(apitest.Bistro, menusync.SkipBusy)
	observer.Upstream(upstream.OpMenu, 200, time.Second)
	observer.Redis(time.Millisecond, nil)
	observer.OrderEvent("order.timed_out", "main")
	observer.StartConnection("main")
	w.Get(apitest.MenuPath)
	for range 2 { // the second request is a replay
		w.Post(apitest.OrdersPath, apitest.Order(), append(w.As(apitest.ClientShop), apitest.Key("k")...)...)
	}
	events := w.Follow(apitest.Bistro)
	events.Close()
	w.WaitMetric(`larder_event_streams_ended_total{kind="menu",reason="client"} 1`)
	return observer.Registry()
}

// /metrics follows Prometheus' rules for names, units and help texts.
func TestMetricsAreWellNamed(t *testing.T) {
	t.Parallel()
	problems, err := promlint.NewWithMetricFamilies(gathered(t, counting(t))).Lint()
	if err != nil {
		t.Fatal(err)
	}
	for _, problem := range problems {
		t.Errorf("%s: %s", problem.Metric, problem.Text)
	}
}

// docs/metrics.md lists every metric with its type and labels, and no other.
func TestMetricsAreDocumented(t *testing.T) {
	t.Parallel()
	page, err := os.ReadFile("../../docs/metrics.md")
	if err != nil {
		t.Fatal(err)
	}
	documented := map[string]described{}
	for _, row := range regexp.MustCompile("(?m)^\\| `(larder_[a-z_]+)` \\| (\\w+) \\|([^|]*)\\| .+ \\|$").FindAllStringSubmatch(string(page), -1) {
		var labels []string
		for _, label := range regexp.MustCompile("`([a-z]+)`").FindAllStringSubmatch(row[3], -1) {
			labels = append(labels, label[1])
		}
		slices.Sort(labels)
		documented[row[1]] = described{kind: row[2], labels: labels}
	}
	shown := describedBy(t, counting(t))
	for name, is := range shown {
		if !strings.HasPrefix(name, "larder_") {
			continue
		}
		said, ok := documented[name]
		switch {
		case !ok:
			t.Errorf("docs/metrics.md does not have %s", name)
		case is.kind == "":
			t.Errorf("%s has never been counted in this test, so that nothing checks its type", name)
		case said.kind != is.kind || !slices.Equal(said.labels, is.labels):
			t.Errorf("docs/metrics.md says %+v of %s, which is %+v", said, name, is)
		}
	}
	for name := range documented {
		if _, ok := shown[name]; !ok {
			t.Errorf("docs/metrics.md has %s, which larder does not show", name)
		}
	}
}
