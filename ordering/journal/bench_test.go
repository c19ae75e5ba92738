package journal_test

import (
	"strconv"
	"testing"

	"larder/internal/redisdb"
	"larder/ordering"
	"larder/ordering/journal"
)

// BenchmarkJournal measures what an order waits for: its key looked up, its
// call begun and finished, over a Redis that writes to disk and over the
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
				if _, _, err := j.Lookup(b.Context(), main, o.Key); err == nil {
					b.Fatal("the key is taken")
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
				if _, _, err := j.Lookup(b.Context(), main, o.Key); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}
