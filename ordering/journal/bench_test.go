package journal_test

import (
	"strconv"
	"testing"

	"larder/internal/redisdb"
	"larder/internal/testkit/journaltest"
	"larder/ordering"
	"larder/ordering/journal"
)

// BenchmarkJournal measures the part of the journal in the latency of an order: look up the
// key, begin and finish the call. It uses a Redis with an append-only file, and the
// embedded one.
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
				o := create()
				if _, _, err := j.Lookup(b.Context(), main, journaltest.Hashed(o.Key)); err == nil {
					b.Fatal("the key is in use")
				}
				ended(b, j, begun(b, j, o), ordering.OutcomeDone, strconv.Itoa(n))
			}
		})
		b.Run("replay/"+over.name, func(b *testing.B) {
			j := over.open(b)
			o := create()
			ended(b, j, begun(b, j, o), ordering.OutcomeDone, "765")
			b.ReportAllocs()
			for b.Loop() {
				if _, _, err := j.Lookup(b.Context(), main, journaltest.Hashed(o.Key)); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}
