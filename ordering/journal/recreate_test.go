package journal_test

import (
	"errors"
	"testing"

	"larder.local/ordering"
)

// Policy O17: a record that Redis has lost, or that has lost its create, does not take the orderID that the service gave
// another order meanwhile. A person may have named it (policy O12).
func TestARecreatedOrderDoesNotTakeAnothersOrderID(t *testing.T) {
	t.Parallel()
	for name, lost := range map[string]bool{"the record is lost": true, "the record is there": false} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := start(t, nil)
			begins := w
			if lost {
				begins = start(t, nil)
			}
			spec := create()
			known := begun(t, begins, spec)
			result := ordering.CallResult{
				Connection: main, Ref: known.Ref, Call: 1, SpecID: spec.ID, Outcome: ordering.OutcomeDone, OrderID: "765",
			}
			known.State, known.OrderID, known.Calls[0].Outcome = ordering.StatePlaced, "765", ordering.OutcomeDone
			known.Calls[0].EndedAt = known.Calls[0].StartedAt
			owner := placeAt(t, w, "765")
			if lost {
				got, number, err := w.Recreate(t.Context(), known, 1, spec.Body)
				if err != nil || number != 1 || got.OrderID != "" || got.State != ordering.StateUnknown ||
					got.Calls[0].Outcome != ordering.OutcomeUnknown {
					t.Fatalf("Recreate: call %d of a %s order with orderID %q, %v; want an unknown one without", number, got.State, got.OrderID, err)
				}
			}
			if _, err := w.Finish(t.Context(), result); !errors.As(err, new(*ordering.IDRepeatedError)) {
				t.Errorf("Finish: %v, want an IDRepeatedError", err)
			}
			if got, err := w.Order(t.Context(), main, "765"); err != nil || got.Ref != owner.Ref {
				t.Errorf("the orderID is that of %s, %v; want the first order", got.Ref, err)
			}
			page, _, err := w.List(t.Context(), ordering.Query{Connections: []string{main}, State: ordering.StateUnknown, Limit: 10})
			if err != nil || len(page) != 1 || page[0].Ref != known.Ref {
				t.Errorf("%d unknown orders, %v; want this one", len(page), err)
			}
			if !lost {
				return
			}
			known.Ref, known.Calls[0].Key, known.Calls[0].SpecID = known.Ref+"2", "", "named"
			known.Calls[0].Resolved = &ordering.ResolvedBy{By: "ops", At: known.CreatedAt, Resolution: ordering.ResolvedDone}
			if got, _, err := w.Recreate(t.Context(), known, 1, nil); err != nil || got.OrderID != "765" || got.State != ordering.StatePlaced {
				t.Errorf("with the orderID of a person: %s with orderID %q, %v", got.State, got.OrderID, err)
			}
		})
	}
}
