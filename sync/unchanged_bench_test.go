package sync_test

import (
	"slices"
	"syscall"
	"testing"
	"time"

	logtest "github.com/sirupsen/logrus/hooks/test"

	"larder.local/cache"
	"larder.local/cache/replica"
	"larder.local/internal/directory"
	"larder.local/internal/menu"
	"larder.local/internal/redisdb"
	"larder.local/internal/testkit/redistest"
	menusync "larder.local/sync"
	"larder.local/sync/runlog"
)

// BenchmarkUnchanged is a run that finds nothing changed, with a real Redis and a
// service without cost: larder's own share of a sync. cpu-us counts only this
// process.
func BenchmarkUnchanged(b *testing.B) {
	for name, etag := range map[string]string{"the same body": "", "answered 304": `"1"`} {
		b.Run(name, func(b *testing.B) {
			once := unchanged(b, etag)
			began := computed(b)
			b.ReportAllocs()
			for b.Loop() {
				once()
			}
			b.ReportMetric(float64((computed(b)-began).Microseconds())/float64(b.N), "cpu-us/op")
		})
	}
}

// BenchmarkUnchangedBody measures the share of the body of 400 dishes in such a
// run: body-cpu-us is the difference of the two medians, of alternating runs.
func BenchmarkUnchangedBody(b *testing.B) {
	same, answered := unchanged(b, ""), unchanged(b, `"1"`)
	var passes [2][]time.Duration
	b.ReportAllocs()
	for b.Loop() {
		for i, once := range []func(){same, answered} {
			began := computed(b)
			once()
			passes[i] = append(passes[i], computed(b)-began)
		}
	}
	var medians [2]time.Duration
	for i, all := range passes {
		slices.Sort(all)
		medians[i] = all[len(all)/2]
	}
	b.ReportMetric(float64((medians[0] - medians[1]).Microseconds()), "body-cpu-us")
}

// unchanged returns a function that syncs a menu of 400 dishes that is already
// served.
func unchanged(b *testing.B, etag string) (once func()) {
	b.Helper()
	nolog, _ := logtest.NewNullLogger()
	redis, err := redisdb.Open(redisdb.Config{URL: redistest.Start(b).URL()}, nolog)
	if err != nil {
		b.Fatal(err)
	}
	b.Cleanup(func() { _ = redis.Close() })
	store := cache.NewStore(redis, cache.StoreConfig{})
	source := &service{body: generatedAnswer(400), etag: etag}
	runner, err := menusync.NewInstance(menusync.Deps{
		Restaurants: []menusync.Restaurant{{Restaurant: directory.Restaurant{ID: bistro, Connection: "main"}, Settings: menu.DefaultSettings()}},
		Connections: []menusync.Connection{{Name: "main", Source: source, Settings: menu.DefaultSettings()}},
		Redis:       redis,
		Store:       store,
		Replica:     replica.New(store, replica.Config{}),
	})
	if err != nil {
		b.Fatal(err)
	}
	pass := func(want runlog.Outcome) {
		run, err := runner.OnceOf(b.Context(), bistro, runlog.TriggerCron)
		if err != nil || run.Outcome != want {
			b.Fatalf("%+v, %v, want %s", run, err, want)
		}
	}
	pass(runlog.OutcomeUpdated)
	return func() { pass(runlog.OutcomeUnchanged) }
}

// computed returns the CPU time of this process, with the kernel's share.
func computed(tb testing.TB) time.Duration {
	tb.Helper()
	var usage syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &usage); err != nil {
		tb.Fatal(err)
	}
	return time.Duration(usage.Utime.Nano() + usage.Stime.Nano())
}
