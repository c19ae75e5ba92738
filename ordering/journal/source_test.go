package journal_test

import (
	"errors"
	"slices"
	"strings"
	"testing"
	"time"

	"larder.local/internal/upstream"
	"larder.local/ordering"
	"larder.local/ordering/journal"
)

// of returns another instance whose connection has this service, and former ones.
func (e *env) of(t *testing.T, address string, former ...string) *journal.Journal {
	t.Helper()
	cfg := ordering.DefaultConfig()
	j := journal.New(open(t, e.server.URL(), ""), cfg, quiet())
	j.UseSources(upstream.NewSources([]upstream.Config{{Name: main, BaseURL: "https://" + address, ClientID: "c", FormerURLs: former}}))
	return j
}

// placeAt places an order that gets an orderID.
func placeAt(t *testing.T, j ordering.Journal, orderID string) ordering.Record {
	t.Helper()
	return ended(t, j, begun(t, j, create()), ordering.OutcomeDone, orderID)
}

// Policy O16: a record of another source cannot be changed or sent again; its key still finds it; an unknown outcome can
// be resolved.
func TestRecordsOfAnotherSource(t *testing.T) {
	t.Parallel()
	w := start(t, nil)
	old, next := w.of(t, "old"), w.of(t, "next")
	spec := create()
	placed := ended(t, old, begun(t, old, spec), ordering.OutcomeDone, "765")
	if placed.Source != "old c" || placed.Foreign {
		t.Errorf("the record has the source %q, foreign %v", placed.Source, placed.Foreign)
	}
	found, err := next.Order(t.Context(), main, "765")
	if err != nil || !found.Foreign || found.Source != "old c" {
		t.Errorf("Order at the other source: %q, foreign %v, %v", found.Source, found.Foreign, err)
	}
	for _, op := range []ordering.Operation{upstream.OpPay, upstream.OpComplete, upstream.OpReject} {
		for _, adopt := range []bool{false, true} {
			change := pay("765")
			change.Operation, change.Adopt = op, adopt
			if _, err := next.Begin(t.Context(), change); !errors.As(err, new(*ordering.SourceError)) {
				t.Errorf("%s (adopt %v): %v, want a SourceError", op, adopt, err)
			}
		}
	}
	got, call, err := next.Lookup(t.Context(), main, spec.Key)
	if err != nil || got.Ref != placed.Ref || call != 1 {
		t.Errorf("the key finds %s, %d, %v", got.Ref, call, err)
	}

	unknown := ended(t, old, begun(t, old, create()), ordering.OutcomeUnknown, "")
	again := ordering.ResolveCall{
		ID: "01ARZ3NDEKTSV4RRFFQ69G5FAV", Connection: main, Ref: unknown.Ref, Operation: upstream.OpCreate, Resolution: ordering.ResolvedRetry, By: "ops",
	}
	if _, err := next.Resolve(t.Context(), again); !errors.As(err, new(*ordering.SourceError)) {
		t.Errorf("send again: %v, want a SourceError", err)
	}
	if still, err := next.Record(t.Context(), []string{main}, unknown.Ref); err != nil || still.State != ordering.StateUnknown {
		t.Errorf("the unknown order is %s, %v", still.State, err)
	}
	if resolved, err := next.Resolve(t.Context(), ordering.ResolveCall{
		Connection: main, Ref: unknown.Ref, Operation: upstream.OpCreate, Resolution: ordering.ResolvedNotDone, By: "ops",
	}); err != nil || resolved.State != ordering.StateRefused {
		t.Errorf("not done: %s, %v", resolved.State, err)
	}
	if change := begun(t, w.of(t, "new", "https://old"), pay("765")); change.Ref != placed.Ref {
		t.Errorf("with former_urls, the payment is of %s", change.Ref)
	}
}

// An orderID is looked up among the orders of the current source first, whichever came last.
func TestOneOrderIDAtTwoSources(t *testing.T) {
	t.Parallel()
	w := start(t, nil)
	a, b := w.of(t, "a"), w.of(t, "b")
	want := func(j *journal.Journal, r ordering.Record) {
		t.Helper()
		if got, err := j.Order(t.Context(), main, "765"); err != nil || got.Ref != r.Ref || got.Foreign {
			t.Errorf("Order gives %s (foreign %v), %v; want %s", got.Ref, got.Foreign, err, r.Ref)
		}
	}
	onA := placeAt(t, a, "765")
	onB := placeAt(t, b, "765") // the same restaurant within a minute: not a repetition (policy O17)
	want(a, onA)
	want(b, onB)
	begun(t, a, pay("765"))
	if got := begun(t, b, pay("765")); got.Ref != onB.Ref {
		t.Errorf("the payment at b is of %s", got.Ref)
	}
	// A person finds out that an unknown order of a exists there, with a number that b has used too.
	unknown := ended(t, a, begun(t, a, create()), ordering.OutcomeUnknown, "")
	placeAt(t, b, "766")
	done := ordering.ResolveCall{
		Connection: main, Ref: unknown.Ref, Operation: upstream.OpCreate, Resolution: ordering.ResolvedDone, OrderID: "766", By: "ops",
	}
	if _, err := b.Resolve(t.Context(), done); err != nil {
		t.Fatal(err)
	}
	if got, err := a.Order(t.Context(), main, "766"); err != nil || got.Ref != unknown.Ref {
		t.Errorf("Order at a gives %s, %v", got.Ref, err)
	}
	if got, err := b.Order(t.Context(), main, "766"); err != nil || got.Ref == unknown.Ref {
		t.Errorf("Order at b gives the order of a, %v", err)
	}
}

func TestForeignOrders(t *testing.T) {
	t.Parallel()
	w := start(t, nil)
	old, next := w.of(t, "old"), w.of(t, "next")
	if found, err := old.ForeignOrders(t.Context(), []string{main}); err != nil || len(found) != 0 {
		t.Errorf("at the start: %+v, %v", found, err)
	}
	placeAt(t, old, "1")
	placeAt(t, old, "2")
	ended(t, old, begun(t, old, create()), ordering.OutcomeUnknown, "")
	ended(t, old, begun(t, old, pay("2")), ordering.OutcomeUnknown, "")
	ended(t, old, begun(t, old, create()), ordering.OutcomeRefused, "")
	placeAt(t, next, "1")
	want := journal.ForeignOrders{Connection: main, Source: "old c", Current: "next c", Open: 1, Unknown: 2}
	if found, err := next.ForeignOrders(t.Context(), []string{main}); err != nil || !slices.Equal(found, []journal.ForeignOrders{want}) {
		t.Errorf("at the other service: %+v, %v; want %+v", found, err, want)
	}
	gone := journal.New(open(t, w.server.URL(), ""), ordering.DefaultConfig(), quiet())
	gone.UseSources(upstream.NewSources(nil))
	if found, err := gone.ForeignOrders(t.Context(), nil); err != nil || len(found) != 2 || found[0].Current != "" {
		t.Errorf("without the connection: %+v, %v", found, err)
	}
}

// Policy O16: the restaurants with an order in the last hour, of any source.
func TestRecentRestaurants(t *testing.T) {
	t.Parallel()
	w := start(t, nil)
	old := w.of(t, "old")
	placeAt(t, old, "1")
	other := create()
	other.Restaurant = "café"
	ended(t, old, begun(t, old, other), ordering.OutcomeDone, "2")
	got, err := w.of(t, "next").RecentRestaurants(t.Context(), []string{main}, time.Now().Add(-time.Hour))
	if err != nil || len(got) != 2 || !got["bistro"] || !got["café"] {
		t.Errorf("RecentRestaurants = %v, %v", got, err)
	}
	if got, err := old.RecentRestaurants(t.Context(), []string{main}, time.Now().Add(time.Hour)); err != nil || len(got) != 0 {
		t.Errorf("RecentRestaurants since later = %v, %v", got, err)
	}
}

// An instance without orders stores no connections. It reads the names of all keys once, not for each question (policy O20).
func TestFormerConnectionsAreSearchedOnce_O20(t *testing.T) {
	t.Parallel()
	w := start(t, nil)
	for range 3 {
		if former, err := w.Former(t.Context(), []string{main}); err != nil || len(former) != 0 {
			t.Fatalf("Former = %v, %v", former, err)
		}
	}
	if stats := w.client.Info(t.Context(), "commandstats").Val(); !strings.Contains(stats, "cmdstat_scan:calls=1,") {
		t.Errorf("want one SCAN: %s", stats)
	}
}
