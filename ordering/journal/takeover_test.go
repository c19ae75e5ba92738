package journal_test

import (
	"crypto/rand"
	"testing"

	"larder.local/cache"
	"larder.local/internal/redisdb"
	"larder.local/internal/testkit/redistest"
	"larder.local/ordering"
	"larder.local/ordering/journal"
)

// Another version takes over while larder runs and has just read the records: from then on, nothing is said not to exist,
// and nothing is written. On a server, on a cluster, and on the embedded Redis.
func TestTakeover_O20(t *testing.T) {
	t.Parallel()
	for name, at := range map[string]func(*testing.T) string{
		"server":   func(t *testing.T) string { t.Helper(); return redistest.Start(t, redistest.AppendOnly()).URL() },
		"cluster":  func(t *testing.T) string { t.Helper(); return servers.Cluster(t).URL() },
		"embedded": func(*testing.T) string { return redisdb.Embedded },
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			cfg := ordering.DefaultConfig()
			cfg.AllowNonDurable = name == "embedded"
			db := open(t, at(t), rand.Text())
			j := journal.New(db, cfg, quiet())
			placed := create()
			record := ended(t, j, begun(t, j, placed), ordering.OutcomeDone, "765")
			if _, _, err := j.Lookup(t.Context(), main, placed.Key); err != nil {
				t.Fatal(err)
			}
			state := cache.NewKeys(db.Prefix()).JournalState(main)
			if err := db.Client().HSet(t.Context(), state, "format", "4").Err(); err != nil {
				t.Fatal(err)
			}
			before := db.Client().Dump(t.Context(), state).Val()
			lookup := func(key string) func() error {
				return func() error { _, _, err := j.Lookup(t.Context(), main, key); return err }
			}
			unknown := pay("no such")
			unknown.Key = ""
			for what, call := range map[string]func() error{
				"the key of an order": lookup(placed.Key),
				"an unknown key":      lookup("no such key"),
				"an order":            func() error { _, err := j.Order(t.Context(), main, "765"); return err },
				"an unknown orderID":  func() error { _, err := j.Order(t.Context(), main, "no such"); return err },
				"an order by ref":     func() error { _, err := j.Record(t.Context(), []string{main}, record.Ref); return err },
				"an unknown ref":      func() error { _, err := j.Record(t.Context(), []string{main}, "NOSUCH"); return err },
				"a list": func() error {
					_, _, err := j.List(t.Context(), ordering.Query{Connections: []string{main}})
					return err
				},
				"a count":                      func() error { _, err := j.Unknown(t.Context(), main); return err },
				"a new order":                  func() error { _, err := j.Begin(t.Context(), create()); return err },
				"a payment":                    func() error { _, err := j.Begin(t.Context(), pay("765")); return err },
				"a payment of an unknown one":  func() error { _, err := j.Begin(t.Context(), pay("no such")); return err },
				"the same without a key":       func() error { _, err := j.Begin(t.Context(), unknown); return err },
				"a recheck of an unknown one":  func() error { return j.EndRecheck(t.Context(), main, "NOSUCH", 1, false) },
				"a sweep":                      func() error { _, err := j.Sweep(t.Context(), main); return err },
				"a watch":                      func() error { _, err := j.Watch(t.Context(), main); return err },
				"an acceptance":                func() error { _, err := j.Accept(t.Context(), main); return err },
				"open orders of other sources": func() error { _, err := j.ForeignOrders(t.Context(), []string{main}); return err },
				"a resolution of an unknown one": func() error {
					_, err := j.Resolve(t.Context(), ordering.ResolveCall{
						Connection: main, Ref: "NOSUCH", Operation: "create", Resolution: ordering.ResolvedNotDone, By: "ops",
					})
					return err
				},
			} {
				if err := call(); !isFormat(err) {
					t.Errorf("%s: %v, want a *FormatError", what, err)
				}
			}
			if got := db.Client().Dump(t.Context(), state).Val(); got != before {
				t.Errorf("the state of the connection has changed")
			}
		})
	}
}
