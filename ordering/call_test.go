package ordering_test

import (
	"context"
	"testing"
	"testing/synctest"
	"time"

	"larder.local/internal/upstream"
	"larder.local/ordering"
)

// slowJournal blocks after it has opened or resolved a call, before it returns.
type slowJournal struct {
	ordering.Journal
	pause time.Duration
}

func (j slowJournal) Begin(ctx context.Context, o ordering.CallSpec) (ordering.Record, error) {
	defer func() { <-time.After(j.pause) }() //testwaits:allow in the synctest bubble
	return j.Journal.Begin(ctx, o)
}

func (j slowJournal) Resolve(ctx context.Context, s ordering.ResolveCall) (ordering.Record, error) {
	defer func() { <-time.After(j.pause) }() //testwaits:allow in the synctest bubble
	return j.Journal.Resolve(ctx, s)
}

// A call is not sent if opening it in the journal took longer than a call may take,
// because it may have been swept, resolved and sent again.
func TestTooLateToSend(t *testing.T) {
	t.Parallel()
	for _, tc := range []struct {
		name  string
		pause time.Duration
		want  ordering.Outcome
		sent  int
	}{
		{"in time", 19 * time.Second, ordering.OutcomeDone, 1},
		{"too late", 20 * time.Second, ordering.OutcomeNotSent, 0},
	} {
		t.Run("opened "+tc.name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				h := newHarness(t, ordering.DefaultConfig(), func(h *harness, d *ordering.Deps) { d.Journal = slowJournal{h.journal, tc.pause} })
				got, err := h.Place(t.Context(), placing())
				if err != nil || got.Call.Outcome != tc.want {
					t.Errorf("Place() = %+v, %v; want it %s", got.Call, err, tc.want)
				}
				h.wantSent(t, tc.sent)
			})
		})
		t.Run("sent again "+tc.name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				var slow *slowJournal
				h := newHarness(t, ordering.DefaultConfig(), func(h *harness, d *ordering.Deps) {
					slow = &slowJournal{Journal: h.journal}
					d.Journal = slow
				})
				h.service.fails(lostAnswer())
				was, err := h.Place(t.Context(), placing())
				if err != nil {
					t.Fatal(err)
				}
				h.service.answers(nil)
				slow.pause = tc.pause
				got, err := h.Resolve(t.Context(), resolution(was.Record.Ref, upstream.OpCreate, ordering.ResolvedRetry))
				if err != nil || got.Call.Outcome != tc.want {
					t.Errorf("Resolve() = %+v, %v; want it %s", got.Call, err, tc.want)
				}
				h.wantSent(t, 1+tc.sent)
			})
		})
	}
}
