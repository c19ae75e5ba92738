package sync_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"slices"
	"strconv"
	"testing"
	"time"

	logtest "github.com/sirupsen/logrus/hooks/test"

	"larder.local/cache"
	"larder.local/internal/directory"
	"larder.local/internal/menu"
	"larder.local/internal/redisdb"
	"larder.local/internal/sandbox"
	"larder.local/internal/testkit/redistest"
	menusync "larder.local/sync"
	"larder.local/sync/runlog"
)

// BenchmarkChanged is a run over a menu with one changed price, with a real Redis
// and a service without cost: from the body in memory to the published version.
// Values are medians. publish-cpu-us is this process's CPU time until then, with
// kernel and garbage collector, run-cpu-us that until the run has finished. The
// others are the run's own steps in wall-clock time.
func BenchmarkChanged(b *testing.B) {
	for _, dishes := range []int{60, 400, 5000} {
		b.Run(strconv.Itoa(dishes), func(b *testing.B) { benchmarkChanged(b, dishes) })
	}
}

// BenchmarkEncodingJSON decodes the same menus with encoding/json. The gates of a sync
// are multiples of its CPU time (tools/gate-sync), because machines differ.
func BenchmarkEncodingJSON(b *testing.B) {
	for _, dishes := range []int{400, 5000} {
		body := generatedAnswer(dishes)
		b.Run(strconv.Itoa(dishes), func(b *testing.B) {
			began := computed(b)
			for b.Loop() {
				var view any
				if err := json.Unmarshal(body, &view); err != nil {
					b.Fatal(err)
				}
			}
			b.ReportMetric(float64((computed(b)-began).Microseconds())/float64(b.N), "cpu-us")
		})
	}
}

func benchmarkChanged(b *testing.B, dishes int) {
	b.Helper()
	nolog, _ := logtest.NewNullLogger()
	server := redistest.Start(b)
	redis, err := redisdb.Open(redisdb.Config{URL: server.URL()}, nolog)
	if err != nil {
		b.Fatal(err)
	}
	b.Cleanup(func() { _ = redis.Close() })
	source, offered := &service{}, &publishClock{tb: b}
	runner, err := menusync.NewInstance(menusync.Deps{
		Restaurants: []menusync.Restaurant{{Restaurant: directory.Restaurant{ID: bistro, Connection: "main"}, Settings: menu.DefaultSettings()}},
		Connections: []menusync.Connection{{Name: "main", Source: source, Settings: menu.DefaultSettings()}},
		Redis:       redis,
		Store:       cache.NewStore(redis, cache.StoreConfig{}),
		Replica:     offered,
	})
	if err != nil {
		b.Fatal(err)
	}
	raw := generatedAnswer(dishes)
	var publish, total []time.Duration
	var steps [4][]time.Duration
	once := func(round int) {
		source.body = repriced(b, raw, round)
		began := computed(b)
		run, err := runner.OnceOf(b.Context(), bistro, runlog.TriggerCron)
		ended := computed(b)
		if err != nil || run.Outcome != runlog.OutcomeUpdated {
			b.Fatalf("%+v, %v", run, err)
		}
		publish, total = append(publish, offered.at-began), append(total, ended-began)
		for i, ms := range []float64{run.Steps.Decode, run.Steps.Lint, run.Steps.Compile, run.Steps.Publish} {
			steps[i] = append(steps[i], time.Duration(ms*float64(time.Millisecond)))
		}
	}
	once(0)
	publish, total, steps = nil, nil, [4][]time.Duration{} // of the warm-up
	b.SetBytes(int64(len(raw)))
	b.ReportAllocs()
	round := 0
	for b.Loop() {
		round++
		once(round)
	}
	report := func(what string, all []time.Duration) {
		slices.Sort(all)
		b.ReportMetric(float64(all[len(all)/2].Microseconds()), what)
	}
	report("publish-cpu-us", publish)
	report("run-cpu-us", total)
	for i, name := range []string{"decode-us", "lint-us", "compile-us", "publish-us"} {
		report(name, steps[i])
	}
}

// generatedAnswer is the ordering service's answer with a generated menu (docs/ordering-service.md, section 4.6).
func generatedAnswer(dishes int) []byte {
	return fmt.Appendf(nil, `{"result":%s}`, sandbox.Generate{Products: dishes, Seed: 1}.Menu(0))
}

// publishClock is a replica that records when a version was installed.
type publishClock struct {
	fakeReplica

	tb testing.TB
	at time.Duration // in the unit of computed
}

func (c *publishClock) Install(snapshot *cache.Snapshot) {
	c.at = computed(c.tb)
	c.fakeReplica.Install(snapshot)
}

// repriced returns the view with another price of its last dish in every round.
func repriced(tb testing.TB, raw []byte, round int) []byte {
	tb.Helper()
	const field = `"price":`
	products := bytes.Index(raw, []byte(`"ingredientsSchemes"`))
	at := bytes.LastIndex(raw[:max(products, 0)], []byte(field)) + len(field)
	end := at + bytes.IndexAny(raw[at:], ",}")
	if products < 0 || end <= at {
		tb.Fatal("the generated menu has no dish price at the expected place")
	}
	return slices.Concat(raw[:at], fmt.Appendf(nil, "%d.5", 100+round), raw[end:])
}
