package ordering_test

import (
	"context"
	"errors"
	"slices"
	"testing"
	"time"

	"larder.local/internal/upstream"
	"larder.local/ordering"
)

// A call waits for its slot before it is recorded in the journal. A call that gets no slot
// leaves no record, and its key is free. If the slot was for a retry of an unknown call, the
// call stays unknown (policy O8a).
func TestSlotIsReservedBeforeTheJournal_O8a(t *testing.T) {
	t.Parallel()
	h := newHarness(t, ordering.DefaultConfig())
	placed := h.placed(t)
	h.service.fails(lostAnswer())
	unknown, err := h.Place(t.Context(), placing(func(p *placeRequest) { p.Key = "unknown" }))
	if err != nil || unknown.Call.Outcome != ordering.OutcomeUnknown {
		t.Fatalf("Place() = %+v, %v; want unknown", unknown, err)
	}
	h.service.answers(nil)
	sent := len(h.service.calls())
	var clients []string
	h.service.reserve = func(client string) error {
		clients = append(clients, client)
		return upstream.ErrBusy
	}
	records := func() int {
		list, _, err := h.journal.List(t.Context(), ordering.Query{Connections: []string{"main"}, Limit: 100})
		if err != nil {
			t.Fatal(err)
		}
		return len(list)
	}
	before := records()
	busy := func(what string, err error) {
		t.Helper()
		if !is[*ordering.NotSentError](err) || !errors.Is(err, upstream.ErrBusy) {
			t.Errorf("%s = %v, want not sent, because there is no slot", what, err)
		}
	}
	next := func(p *placeRequest) { p.Key = "next" }
	_, err = h.Place(t.Context(), placing(next))
	busy("Place()", err)
	_, err = h.Place(t.Context(), placing(func(p *placeRequest) { p.Key, p.CapacityKey = "guest", "a guest" }))
	busy("Place()", err)
	complete := changing(upstream.OpComplete, "")
	complete.OrderID = placed.Record.OrderID
	_, err = h.Change(t.Context(), complete)
	busy("Change()", err)
	again := resolution(unknown.Record.Ref, upstream.OpCreate, ordering.ResolvedRetry)
	_, err = h.Resolve(t.Context(), again)
	busy("Resolve()", err)

	if got := records(); got != before {
		t.Errorf("%d new records", got-before)
	}
	if r := h.record(t, unknown.Record.Ref); r.State != ordering.StateUnknown || r.Calls[0].Resolved != nil || len(r.Calls) != 1 {
		t.Errorf("the order whose retry got no slot: %+v", r)
	}
	if r := h.record(t, placed.Record.Ref); len(r.Calls) != 1 {
		t.Errorf("the order whose completion got no slot: %+v", r)
	}
	if want := []string{"storefront", "a guest", "storefront", again.By}; !slices.Equal(clients, want) {
		t.Errorf("slots were reserved for %q, want %q", clients, want)
	}
	h.wantSent(t, sent)
	h.service.reserve = nil
	h.placed(t, next) // the key is free
}

// The time limit starts when the request arrives, even if validation is slow.
func TestTimeLimitStartsOnArrival_O8a(t *testing.T) {
	t.Parallel()
	var asked, arrived time.Time
	h := newHarness(t, ordering.DefaultConfig(), func(_ *harness, d *ordering.Deps) {
		d.Journal = leaving{d.Journal, func() { time.Sleep(5 * time.Millisecond); asked = time.Now() }} //testwaits:allow so that the two times differ
		d.Services["main"] = arriving{d.Services["main"], &arrived}
	})
	h.placed(t)
	if arrived.IsZero() || !arrived.Before(asked) {
		t.Errorf("the limit started at %s, want before the call of the journal at %s", arrived, asked)
	}
}

// arriving records the arrival times that Reserve gets.
type arriving struct {
	ordering.Service
	at *time.Time
}

func (a arriving) Reserve(ctx context.Context, op ordering.Operation, client string, arrived time.Time) (*upstream.Slot, error) {
	*a.at = arrived
	return a.Service.Reserve(ctx, op, client, arrived)
}
