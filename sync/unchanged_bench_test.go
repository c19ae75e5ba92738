package sync_test

import (
	"syscall"
	"testing"
	"time"

	logtest "github.com/sirupsen/logrus/hooks/test"

	"larder/cache"
	"larder/internal/menu"
	"larder/internal/redistest"
	"larder/internal/sandbox"
	menusync "larder/sync"
)

// BenchmarkUnchanged is a pass that finds nothing changed, with a real Redis
// and a service that costs nothing: what larder itself adds to fetching. cpu-us
// counts this process alone.
func BenchmarkUnchanged(b *testing.B) {
	nolog, _ := logtest.NewNullLogger()
	for name, etag := range map[string]string{"the same body": "", "answered 304": `"1"`} {
		b.Run(name, func(b *testing.B) {
			server := redistest.Start(b)
			redis, err := cache.Open(b.Context(), cache.RedisConfig{URL: server.URL()}, nolog)
			if err != nil {
				b.Fatal(err)
			}
			b.Cleanup(func() { _ = redis.Close() })
			store := cache.NewStore(redis, cache.StoreConfig{})
			source := &service{body: sandbox.Generate{Products: 400, Seed: 1}.Menu(0), etag: etag}
			runner, err := menusync.NewRunner(menusync.Deps{
				Restaurants: []menusync.Restaurant{{ID: bistro, Connection: "main", Settings: menu.DefaultSettings()}},
				Connections: []menusync.Connection{{Name: "main", Source: source, Settings: menu.DefaultSettings()}},
				Redis:       redis, Store: store, Replica: cache.NewReplica(store, cache.ReplicaConfig{}),
			})
			if err != nil {
				b.Fatal(err)
			}
			once := func(want menusync.Outcome) {
				run, err := runner.Once(b.Context(), bistro, menusync.TriggerCron)
				if err != nil || run.Outcome != want {
					b.Fatalf("%+v, %v, want %s", run, err, want)
				}
			}
			once(menusync.OutcomeUpdated)
			began := computed(b)
			b.ReportAllocs()
			for b.Loop() {
				once(menusync.OutcomeUnchanged)
			}
			b.ReportMetric(float64((computed(b)-began).Microseconds())/float64(b.N), "cpu-us/op")
		})
	}
}

// computed is what this process has computed so far, its kernel's share too.
func computed(tb testing.TB) time.Duration {
	tb.Helper()
	var usage syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &usage); err != nil {
		tb.Fatal(err)
	}
	return time.Duration(usage.Utime.Nano() + usage.Stime.Nano())
}
