package journal_test

import (
	"context"
	"runtime"
	"strconv"
	"sync/atomic"
	"testing"
	"time"

	"larder.local/internal/redisdb"
	"larder.local/ordering"
	"larder.local/ordering/journal"
)

// BenchmarkJournal measures the part of the journal in the latency of an order: look up the key, begin and
// finish the call. It uses a Redis with an append-only file, and the embedded one.
func BenchmarkJournal(b *testing.B) {
	cfg := ordering.DefaultConfig()
	cfg.AllowNonDurable = true
	journals := []struct {
		name string
		open func(b *testing.B) *journal.Journal
	}{
		{"redis", func(b *testing.B) *journal.Journal { b.Helper(); return start(b, nil).Journal }},
		{"embedded", func(b *testing.B) *journal.Journal {
			b.Helper()
			return journal.New(open(b, redisdb.Embedded, ""), cfg, quiet())
		}},
	}
	for _, over := range journals {
		b.Run("order/"+over.name, func(b *testing.B) {
			j := over.open(b)
			b.ReportAllocs()
			n := 0
			for b.Loop() {
				n++
				placed(b, j, strconv.Itoa(n))
			}
		})
		b.Run("orders of 64 callers/"+over.name, func(b *testing.B) {
			j := over.open(b)
			var n atomic.Int64
			b.ReportAllocs()
			b.SetParallelism(64 / runtime.GOMAXPROCS(0))
			b.RunParallel(func(pb *testing.PB) {
				for pb.Next() {
					placed(b, j, strconv.FormatInt(n.Add(1), 10))
				}
			})
			b.ReportMetric(float64(b.N)/b.Elapsed().Seconds(), "orders/s")
		})
		b.Run("replay/"+over.name, func(b *testing.B) {
			j := over.open(b)
			o := create()
			ended(b, j, begun(b, j, o), ordering.OutcomeDone, "765")
			b.ReportAllocs()
			for b.Loop() {
				if _, _, err := j.Lookup(b.Context(), main, o.Key); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}

// placed places an order as ordering.Orders does.
func placed(tb testing.TB, j *journal.Journal, orderID string) {
	tb.Helper()
	o := create()
	r := begun(tb, j, o)
	ctx, cancel := context.WithTimeout(tb.Context(), patience)
	defer cancel()
	_, err := j.Finish(ctx, ordering.CallResult{
		Connection: main,
		Ref:        r.Ref,
		Call:       1,
		SpecID:     o.ID,
		Outcome:    ordering.OutcomeDone,
		OrderID:    orderID,
		Attempts:   []ordering.Attempt{{At: r.CreatedAt, Duration: time.Millisecond, Status: 201, Outcome: ordering.OutcomeDone}},
		Answer:     &ordering.Answer{Status: 201, ContentType: "application/json", Body: []byte(`{"orderID":"1"}`)},
		Known:      &r,
	})
	if err != nil {
		tb.Error(err)
	}
}

// TestCostOfPlacingAnOrder limits what the journal adds to an order.
func TestCostOfPlacingAnOrder(t *testing.T) { //nolint:paralleltest // it counts allocations of the whole process
	w := start(t, nil)
	n := 0
	place := func() {
		n++
		placed(t, w.Journal, strconv.Itoa(n))
	}
	place()
	scripts, reads := asked(t, w, "evalsha"), asked(t, w, "hget")
	all := testing.AllocsPerRun(100, place)
	scripts, reads = asked(t, w, "evalsha")-scripts, asked(t, w, "hget")-reads
	if scripts != 202 || reads != 0 {
		t.Errorf("101 orders ran %d scripts and %d reads of answers, want two scripts each and no read", scripts, reads)
	}
	if allocations := all - testing.AllocsPerRun(100, func() { create() }); allocations > 220 {
		t.Errorf("beginning and finishing an order allocates %.0f times, want at most 220", allocations)
	} else {
		t.Logf("beginning and finishing an order: %.0f allocations; with the test itself: %.0f", allocations, all)
	}
}
