package ordering_test

import (
	"context"
	"errors"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"larder.local/internal/testkit/journaltest"
	"larder.local/internal/testkit/menutest"
	"larder.local/internal/upstream"
	"larder.local/ordering"
	"larder.local/ordering/violation"
)

// unknown returns a harness with an order. The outcome of its last operation is unknown.
func unknown(tb testing.TB, op ordering.Operation) (*harness, ordering.Result) {
	tb.Helper()
	h := newHarness(tb, ordering.DefaultConfig())
	if op != upstream.OpCreate {
		h.placed(tb)
	}
	h.service.fails(lostAnswer())
	defer h.service.answers(nil)
	if op == upstream.OpCreate {
		got, err := h.Place(tb.Context(), placing())
		if err != nil || got.Record.State != ordering.StateUnknown {
			tb.Fatalf("Place() = %+v, %v; want it unknown", got, err)
		}
		return h, got
	}
	return h, h.changed(tb, ordering.OutcomeUnknown, changing(op, bodyOf(op)))
}

func bodyOf(op ordering.Operation) string {
	switch op {
	case upstream.OpPay:
		return fullPayment
	case upstream.OpReject:
		return noReason
	default:
		return ""
	}
}

// resolution returns a resolution for an order of connection main.
func resolution(ref string, op ordering.Operation, how ordering.Resolution) ordering.ResolveRequest {
	r := ordering.ResolveRequest{
		Connections: []string{"second", "main"},
		Ref:         ref,
		Operation:   op,
		Resolution:  how,
		By:          "ops",
		Note:        "asked",
		RequestID:   "request-3",
	}
	if op == upstream.OpCreate && how == ordering.ResolvedDone {
		r.OrderID = "900"
	}
	return r
}

func TestResolve(t *testing.T) {
	t.Parallel()
	for _, tc := range []struct {
		op    ordering.Operation
		how   ordering.Resolution
		want  ordering.Outcome
		state ordering.State
		paid  bool
	}{
		{upstream.OpCreate, ordering.ResolvedDone, ordering.OutcomeDone, ordering.StatePlaced, false},
		{upstream.OpCreate, ordering.ResolvedNotDone, ordering.OutcomeRefused, ordering.StateRefused, false},
		{upstream.OpPay, ordering.ResolvedDone, ordering.OutcomeDone, ordering.StatePlaced, true},
		{upstream.OpPay, ordering.ResolvedNotDone, ordering.OutcomeRefused, ordering.StatePlaced, false},
		{upstream.OpComplete, ordering.ResolvedDone, ordering.OutcomeDone, ordering.StateClosed, false},
		{upstream.OpReject, ordering.ResolvedDone, ordering.OutcomeDone, ordering.StateRejected, false},
		{upstream.OpReject, ordering.ResolvedNotDone, ordering.OutcomeRefused, ordering.StatePlaced, false},
	} {
		t.Run(string(tc.op)+" "+string(tc.how), func(t *testing.T) {
			t.Parallel()
			h, was := unknown(t, tc.op)
			got, err := h.Resolve(t.Context(), resolution(was.Record.Ref, tc.op, tc.how))
			if err != nil || got.Call.Outcome != tc.want || got.Record.State != tc.state || got.Record.Paid != tc.paid ||
				got.Call.Number != was.Call.Number {
				t.Fatalf("Resolve() = %+v, %v; want %s, %s", got, err, tc.want, tc.state)
			}
			if s := got.Call.Resolved; s == nil || s.By != "ops" || s.Note != "asked" || s.Resolution != tc.how {
				t.Errorf("resolved %+v", s)
			}
			h.wantSent(t, len(was.Record.Calls))
			if tc.op == upstream.OpCreate {
				again, err := h.Place(t.Context(), placing())
				if err != nil || !again.Replayed || again.Call.Outcome != tc.want {
					t.Errorf("the same order again = %+v, %v; want the resolution", again, err)
				}
				return
			}
			again, err := h.Change(t.Context(), changing(tc.op, bodyOf(tc.op)))
			if err != nil || again.Replayed != (tc.how == ordering.ResolvedDone) {
				t.Errorf("the same request again = %+v, %v; want it replayed only if it was done", again, err)
			}
		})
	}
}

func TestRetryOfAnUnknownCall(t *testing.T) {
	t.Parallel()
	for _, op := range []ordering.Operation{upstream.OpCreate, upstream.OpPay, upstream.OpComplete, upstream.OpReject} {
		t.Run(string(op), func(t *testing.T) {
			t.Parallel()
			h, was := unknown(t, op)
			h.service.fails(certainRefusal(t))
			want := ordering.OutcomeUnknown // the first copy may be why the service refuses the second one (policy O8b)
			if op == upstream.OpCreate {
				want = ordering.OutcomeRefused
			}
			got, err := h.Resolve(t.Context(), resolution(was.Record.Ref, op, ordering.ResolvedRetry))
			if err != nil || got.Call.Outcome != want || got.Call.Number != was.Call.Number+1 ||
				got.Call.RequestID != "request-3" || got.Call.Answer == nil || got.Call.Answer.Code != "pos_close_order" {
				t.Fatalf("Resolve() = %+v, %v; want a new call, %s, with the service's code", got, err, want)
			}
			sent := h.service.calls()
			if diff := cmp.Diff(sent[len(sent)-2], sent[len(sent)-1], cmp.AllowUnexported(exchange{})); diff != "" {
				t.Errorf("sent again (-first +second):\n%s", diff)
			}
			if first, _ := got.Record.Call(was.Call.Number); first.Resolved == nil || first.Resolved.Resolution != ordering.ResolvedRetry {
				t.Errorf("the first call %+v, want it resolved", first)
			}
			h.service.answers(nil)
			if op == upstream.OpCreate {
				again, err := h.Place(t.Context(), placing())
				if err != nil || !again.Replayed || again.Call.Number != got.Call.Number {
					t.Errorf("the same order again = %+v, %v; want the new call's refusal", again, err)
				}
				return
			}
			again := h.changed(t, ordering.OutcomeUnknown, changing(op, bodyOf(op)))
			if !again.Replayed || again.Call.Number != got.Call.Number {
				t.Errorf("the same change again = %+v; want the new call", again)
			}
			if _, err := h.Resolve(t.Context(), resolution(got.Record.Ref, op, ordering.ResolvedDone)); err != nil {
				t.Errorf("Resolve() after a look = %v", err)
			}
		})
	}
}

func TestSuccessfulRetry(t *testing.T) {
	t.Parallel()
	h, was := unknown(t, upstream.OpCreate)
	got, err := h.Resolve(t.Context(), resolution(was.Record.Ref, upstream.OpCreate, ordering.ResolvedRetry))
	if err != nil || got.Record.State != ordering.StatePlaced || got.Record.OrderID != "766" || got.Replayed {
		t.Fatalf("Resolve() = %+v, %v; want it placed", got, err)
	}
	if again, err := h.Place(t.Context(), placing()); err != nil || again.Record.OrderID != "766" || !again.Replayed {
		t.Errorf("the same order again = %+v, %v; want it placed", again, err)
	}
	h.wantSent(t, 2)
	if _, err := h.Resolve(t.Context(), resolution(was.Record.Ref, upstream.OpCreate,
		ordering.ResolvedRetry)); !is[*ordering.StateError](err) {
		t.Errorf("Resolve() once more = %v, want nothing to resolve", err)
	}
	h.wantSent(t, 2)
}

func TestRejectedResolutionsChangeNothing(t *testing.T) {
	t.Parallel()
	h, was := unknown(t, upstream.OpCreate)
	for name, tc := range map[string]struct {
		change func(*ordering.ResolveRequest)
		want   []menutest.Broken
	}{
		"an orderID that is a path": {func(r *ordering.ResolveRequest) { r.OrderID = "../1" }, []menutest.Broken{{"/orderID", violation.ValueNotAllowed, `{"allowed":["an orderID that is valid in a URL path"]}`}}},
		"no orderID":                {func(r *ordering.ResolveRequest) { r.OrderID = "" }, []menutest.Broken{{"/orderID", violation.FieldRequired, `{"field":"orderID"}`}}},
		"an unknown outcome and operation": {func(r *ordering.ResolveRequest) { r.Resolution, r.Operation = "maybe", upstream.OpMenu }, []menutest.Broken{
			{"/operation", violation.ValueNotAllowed, `{"allowed":["create","pay","complete","reject"]}`},
			{"/outcome", violation.ValueNotAllowed, `{"allowed":["done","not_done","send_again"]}`},
		}},
	} {
		r := resolution(was.Record.Ref, upstream.OpCreate, ordering.ResolvedDone)
		tc.change(&r)
		_, err := h.Resolve(t.Context(), r)
		if diff := cmp.Diff(tc.want, refusedFor(t, err)); diff != "" {
			t.Errorf("%s (-want +got):\n%s", name, diff)
		}
	}
	left, leave := context.WithCancel(t.Context())
	leave()
	again := resolution(was.Record.Ref, upstream.OpCreate, ordering.ResolvedRetry)
	for name, tc := range map[string]struct {
		resolution ordering.ResolveRequest
		fails      journaltest.Method
		want       func(error) bool
	}{
		"an order of another connection": {func() ordering.ResolveRequest { w := again; w.Connections = []string{"second"}; return w }(), "", noOrder},
		"an operation without a call":    {resolution(was.Record.Ref, upstream.OpPay, ordering.ResolvedRetry), "", is[*ordering.StateError]},
		"not resolved":                   {resolution(was.Record.Ref, upstream.OpCreate, ordering.ResolvedDone), journaltest.MethodResolve, is[*ordering.JournalError]},
		"no body":                        {again, journaltest.MethodBody, is[*ordering.JournalError]},
		"not ready":                      {again, journaltest.MethodReady, is[*ordering.JournalError]},
		"the retry is not recorded":      {again, journaltest.MethodResolve, is[*ordering.JournalError]},
	} {
		h.failing(journaltest.FailBefore, tc.fails)
		if _, err := h.Resolve(t.Context(), tc.resolution); !tc.want(err) {
			t.Errorf("%s: Resolve() = %v", name, err)
		}
	}
	h.journal.Fail(nil)
	gone := ordering.NewOrders(ordering.DefaultConfig(), ordering.Deps{
		Journal: h.journal,
	})
	if _, err := gone.Resolve(t.Context(), again); !errors.Is(err, ordering.ErrUnknownConnection) {
		t.Errorf("a removed connection: Resolve() = %v", err)
	}
	staying := newHarness(t, ordering.DefaultConfig(), func(_ *harness, d *ordering.Deps) { d.Journal = deaf{h.journal} })
	if _, err := staying.Resolve(left, again); !is[*ordering.NotSentError](err) {
		t.Errorf("an operator who has disconnected: Resolve() = %v", err)
	}
	h.wantSent(t, 1)
	if r := h.record(t, was.Record.Ref); r.State != ordering.StateUnknown || r.Calls[0].Resolved != nil {
		t.Errorf("record %+v, want it unchanged", r)
	}
}

// deaf is a journal whose reads ignore the end of their context.
type deaf struct{ ordering.Journal }

func (d deaf) Record(ctx context.Context, connections []string, ref string) (ordering.Record, error) {
	return d.Journal.Record(context.WithoutCancel(ctx), connections, ref)
}

func (d deaf) Body(ctx context.Context, connection, ref string, call int) ([]byte, error) {
	return d.Journal.Body(context.WithoutCancel(ctx), connection, ref, call)
}

func (d deaf) Ready(context.Context, string) error { return nil }

// A client still waits for a call that an operator sends again. It gets the result of the
// new call, not a refusal.
func TestRetryWhileAClientWaits(t *testing.T) {
	t.Parallel()
	for _, tc := range []struct {
		name   string
		second func() (upstream.Answer, error)
		want   ordering.Outcome
	}{
		{"the retry is accepted", func() (upstream.Answer, error) { return done("765") }, ordering.OutcomeDone},
		{"the response to the retry is lost", func() (upstream.Answer, error) { return upstream.Answer{}, lostAnswer() }, ordering.OutcomeUnknown},
	} {
		t.Run(tc.name, func(t *testing.T) {
			t.Parallel()
			h := newHarness(t, ordering.DefaultConfig())
			h.service.answers(func(ctx context.Context, _ exchange) (upstream.Answer, error) {
				if len(h.service.calls()) > 1 {
					return tc.second()
				}
				h.pass(2 * time.Minute)
				if err := h.Sweep(ctx); err != nil {
					t.Errorf("Sweep: %v", err)
				}
				record, err := h.ByKey(ctx, []string{"main"}, "storefront", soupKey)
				if err != nil {
					t.Errorf("ByKey: %v", err)
				}
				if _, err := h.Resolve(ctx, resolution(record.Ref, upstream.OpCreate, ordering.ResolvedRetry)); err != nil {
					t.Errorf("Resolve: %v", err)
				}
				return upstream.Answer{}, lostAnswer()
			})
			got, err := h.Place(t.Context(), placing())
			if err != nil || got.Call.Outcome != tc.want || got.Call.Number != 2 || got.Record.Calls[0].Outcome != ordering.OutcomeRefused {
				t.Errorf("Place() = %+v, %v; want call 2, %s", got, err, tc.want)
			}
		})
	}
}

// early is a journal whose Record returns the record that it has, if any, as if the order was changed just afterwards.
type early struct {
	ordering.Journal

	record *ordering.Record
}

func (e *early) Record(ctx context.Context, connections []string, ref string) (ordering.Record, error) {
	if e.record != nil {
		return *e.record, nil
	}
	return e.Journal.Record(ctx, connections, ref)
}

// A person resolves a payment, and it becomes unknown only after its record was read: it is not resolved.
func TestResolveWhatBecomesUnknownLater_O12(t *testing.T) {
	t.Parallel()
	journal := &early{}
	h := newHarness(t, ordering.DefaultConfig(), func(_ *harness, d *ordering.Deps) {
		journal.Journal = d.Journal
		d.Journal = journal
	})
	placed := h.placed(t)
	h.service.fails(lostAnswer())
	paid := h.changed(t, ordering.OutcomeUnknown, changing(upstream.OpPay, fullPayment))
	journal.record = &placed.Record // as it was before the payment
	for _, how := range []ordering.Resolution{ordering.ResolvedDone, ordering.ResolvedNotDone, ordering.ResolvedRetry} {
		for _, call := range []int{0, paid.Call.Number} {
			r := resolution(placed.Record.Ref, upstream.OpPay, how)
			r.Call = call
			if got, err := h.Resolve(t.Context(), r); !is[*ordering.StateError](err) {
				t.Errorf("Resolve() of call %d as %s = %+v, %v; want a StateError", call, how, got.Call, err)
			}
		}
	}
	record := h.record(t, placed.Record.Ref)
	if call, _ := record.Last(upstream.OpPay); call.Outcome != ordering.OutcomeUnknown || call.Resolved != nil {
		t.Errorf("the payment is %s, resolved %v; want it unknown", call.Outcome, call.Resolved)
	}
	h.wantSent(t, 2)
}
