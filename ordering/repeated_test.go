package ordering_test

import (
	"cmp"
	"context"
	"net/http"
	"slices"
	"testing"
	"time"

	"larder.local/internal/menu"
	"larder.local/internal/testkit/menutest"
	"larder.local/internal/upstream"
	"larder.local/ordering"
)

// O17: the response to a new order has the orderID of another order. Its outcome is unknown, an event names both, and
// the instance reuses no connection. Orders of two restaurants may have the same number, except on one connection.
func TestARepeatedOrderID_O17(t *testing.T) {
	t.Parallel()
	onTheConnection := &upstream.Error{Status: http.StatusCreated, Effect: upstream.EffectUnknown, Err: &upstream.IDRepeatedError{OrderID: "765"}}
	for name, tc := range map[string]struct {
		restaurant menu.RestaurantID // of the second order; empty: the same
		err        error
		repeated   bool
		hint       bool
	}{
		"found in the journal":                {repeated: true},
		"found on the connection":             {err: onTheConnection, repeated: true},
		"another restaurant":                  {restaurant: "r2"},
		"another restaurant, same connection": {restaurant: "r2", err: onTheConnection, repeated: true, hint: true},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			h := newHarness(t, ordering.DefaultConfig())
			first := h.placed(t)
			h.service.answers(func(context.Context, exchange) (upstream.Answer, error) {
				if tc.err != nil {
					return upstream.Answer{}, tc.err
				}
				return done("765")
			})
			second := placing(func(p *placeRequest) {
				p.Key, p.Restaurant = "second-key", cmp.Or(tc.restaurant, p.Restaurant)
			})
			got, err := h.Place(t.Context(), second)
			if err != nil {
				t.Fatal(err)
			}
			repeated := slices.Contains(h.happened(), "order.id_repeated create unknown")
			if repeated != tc.repeated || (h.service.doubts == 1) != tc.repeated || (got.Call.Outcome == ordering.OutcomeUnknown) != tc.repeated {
				t.Fatalf("outcome %s, events %v, %d doubts", got.Call.Outcome, h.happened(), h.service.doubts)
			}
			if !tc.repeated {
				return
			}
			if record := h.record(t, got.Record.Ref); record.State != ordering.StateUnknown || record.OrderID != "" {
				t.Errorf("the record is %s with orderID %q, want unknown without one", record.State, record.OrderID)
			}
			if owner, err := h.journal.Order(t.Context(), "main", "765"); err != nil || owner.Ref != first.Record.Ref {
				t.Errorf("the orderID is that of %s, %v; want the first order", owner.Ref, err)
			}
			for _, entry := range h.log.AllEntries() {
				if entry.Data["event"] != "order.id_repeated" {
					continue
				}
				if _, hint := entry.Data["hint"]; hint != tc.hint || entry.Data["otherRef"] != first.Record.Ref || entry.Data["ref"] != got.Record.Ref {
					t.Errorf("logged %v, want both refs, and a hint: %v", entry.Data, tc.hint)
				}
			}
			again, err := h.Place(t.Context(), second)
			if err != nil || !again.Replayed || again.Call.Outcome != ordering.OutcomeUnknown {
				t.Errorf("sent again: %+v, %v; want the same", again.Call, err)
			}
			h.wantSent(t, 2)
		})
	}
}

func TestGotIDBefore_O17(t *testing.T) {
	t.Parallel()
	began := menutest.Noon()
	create := func(ended time.Time) []ordering.Call {
		return []ordering.Call{{Operation: upstream.OpCreate, Outcome: ordering.OutcomeDone, EndedAt: ended}}
	}
	recent := create(began.Add(-time.Minute + time.Nanosecond))
	resolved, refused := slices.Clone(recent), slices.Clone(recent)
	resolved[0].Resolved, refused[0].Outcome = new(ordering.ResolvedBy), ordering.OutcomeRefused
	for name, tc := range map[string]struct {
		record ordering.Record
		want   bool
	}{
		"less than a minute before":     {ordering.Record{Restaurant: "r", Calls: recent}, true},
		"while the call ran":            {ordering.Record{Restaurant: "r", Calls: create(began.Add(time.Second))}, true},
		"a minute before":               {ordering.Record{Restaurant: "r", Calls: create(began.Add(-time.Minute))}, false},
		"another restaurant":            {ordering.Record{Restaurant: "s", Calls: recent}, false},
		"not placed by larder":          {ordering.Record{Restaurant: "r", Adopted: true, Calls: recent}, false},
		"the orderID named by a person": {ordering.Record{Restaurant: "r", Calls: resolved}, false},
		"refused":                       {ordering.Record{Restaurant: "r", Calls: refused}, false},
	} {
		if got := tc.record.GotIDBefore("r", began); got != tc.want {
			t.Errorf("%s: %v, want %v", name, got, tc.want)
		}
	}
}
