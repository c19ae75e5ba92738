package ordering_test

import (
	"context"
	"errors"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/shopspring/decimal"

	"larder.local/internal/jsontext"
	"larder.local/internal/testkit/journaltest"
	"larder.local/internal/upstream"
	"larder.local/ordering"
)

const (
	fullPayment  = `[{"code":"c-1","amount":199.9,"paidAt":"2026-05-01T12:00:00+03:00","name":""}]`
	otherPayment = `[{"code":"c-2","amount":200,"paidAt":"2026-05-01T12:05:00+03:00","name":""}]`
	noReason     = `{"rejectionReasonID":"","rejectionReasonText":""}`
)

func compat(c *ordering.ChangeRequest) { c.V1 = false }

func underKey(key string) func(*ordering.ChangeRequest) {
	return func(c *ordering.ChangeRequest) { c.Key = key }
}

func TestPayAndComplete(t *testing.T) {
	t.Parallel()
	h := newHarness(t, ordering.DefaultConfig())
	ref := h.placed(t).Record.Ref
	paid := h.changed(t, ordering.OutcomeDone, changing(upstream.OpPay, fullPayment))
	want := []ordering.Payment{{Code: "c-1", Amount: decimal.RequireFromString("199.9"), PaidAt: "2026-05-01T12:00:00+03:00"}}
	if diff := cmp.Diff(want, paid.Record.Payments()); diff != "" || !paid.Record.Paid || paid.Record.State != ordering.StatePlaced {
		t.Errorf("paid: %+v, payments (-want +got):\n%s", paid.Record, diff)
	}
	if c := paid.Call; !c.Derived || c.RequestID != "request-2" || c.Answer == nil || string(c.Answer.Body) != `{"result":{}}` {
		t.Errorf("call %+v", c)
	}
	closed := h.changed(t, ordering.OutcomeDone, changing(upstream.OpComplete, "ignored"))
	if closed.Record.State != ordering.StateClosed || closed.Record.Ref != ref {
		t.Errorf("closed: %+v", closed.Record)
	}
	if diff := cmp.Diff(closed.Record, h.record(t, ref)); diff != "" {
		t.Errorf("the record in the journal (-returned +read):\n%s", diff)
	}
	sent := h.service.calls()[1:]
	if diff := cmp.Diff([]exchange{{upstream.OpPay, "765", fullPayment}, {upstream.OpComplete, "765", ""}}, sent,
		cmp.AllowUnexported(exchange{})); diff != "" {
		t.Errorf("sent (-want +got):\n%s", diff)
	}
	_, err := h.Change(t.Context(), changing(upstream.OpReject, noReason))
	if e, ok := errors.AsType[*ordering.StateError](err); !ok || e.Record.State != ordering.StateClosed {
		t.Errorf("reject of a closed order: %v", err)
	}
}

func TestRejected(t *testing.T) {
	t.Parallel()
	h := newHarness(t, ordering.DefaultConfig())
	h.placed(t)
	got := h.changed(t, ordering.OutcomeDone, changing(upstream.OpReject, noReason))
	if got.Record.State != ordering.StateRejected {
		t.Errorf("rejected: %+v", got.Record)
	}
	if _, err := h.Change(t.Context(), changing(upstream.OpPay, fullPayment)); !is[*ordering.StateError](err) {
		t.Errorf("pay of a rejected order: %v", err)
	}
}

func TestChangesThatAreNotSent(t *testing.T) {
	t.Parallel()
	for _, tc := range []struct {
		name   string
		change ordering.ChangeRequest
		fails  journaltest.Method
		want   func(error) bool
	}{
		{"malformed", changing(upstream.OpPay, `[`), "", is[*jsontext.SyntaxError]},
		{"a rejection without a body", changing(upstream.OpReject, ``), "", is[*jsontext.SyntaxError]},
		{"no change", changing(upstream.OpCreate, `{}`), "", func(err error) bool { return err != nil }},
		{"unknown order", changing(upstream.OpPay, `[]`, func(c *ordering.ChangeRequest) { c.OrderID = "766" }), "", noOrder},
		{"order of another connection", changing(upstream.OpPay, fullPayment, func(c *ordering.ChangeRequest) { c.Connection = "second" }), "", noOrder},
		{"no orderID", changing(upstream.OpComplete, ``, compat, func(c *ordering.ChangeRequest) { c.OrderID = "" }), "", noOrder},
		{"an orderID that is a path to the parent", changing(upstream.OpComplete, ``, compat, func(c *ordering.ChangeRequest) { c.OrderID = ".." }), "", noOrder},
		{"an orderID that contains a path to the parent", changing(upstream.OpPay, fullPayment, compat, func(c *ordering.ChangeRequest) { c.OrderID = "765/../../menu" }), "", noOrder},
		{"unknown connection", changing(upstream.OpPay, fullPayment, func(c *ordering.ChangeRequest) { c.Connection = "third" }), "", func(err error) bool {
			return errors.Is(err, ordering.ErrUnknownConnection)
		}},
		{"violations", changing(upstream.OpPay, `[]`), "", is[*ordering.InvalidError]},
		{"no lookup", changing(upstream.OpPay, fullPayment), journaltest.MethodLookup, is[*ordering.JournalError]},
		{"no order", changing(upstream.OpPay, fullPayment), journaltest.MethodOrder, is[*ordering.JournalError]},
		{"no order on the compatible API", changing(upstream.OpPay, fullPayment, compat), journaltest.MethodOrder, is[*ordering.JournalError]},
		{"not ready", changing(upstream.OpPay, fullPayment), journaltest.MethodReady, is[*ordering.JournalError]},
		{"not recorded", changing(upstream.OpPay, fullPayment), journaltest.MethodBegin, is[*ordering.JournalError]},
	} {
		t.Run(tc.name, func(t *testing.T) {
			t.Parallel()
			h := newHarness(t, ordering.DefaultConfig())
			h.placed(t)
			h.failing(journaltest.FailBefore, tc.fails)
			got, err := h.Change(t.Context(), tc.change)
			if !tc.want(err) || err.Error() == "" || got.Record.Ref != "" {
				t.Errorf("Change() = %+v, error %T %v", got, err, err)
			}
			h.journal.Fail(nil)
			h.wantSent(t, 1)
			h.changed(t, ordering.OutcomeDone, changing(upstream.OpPay, fullPayment))
		})
	}
}

func noOrder(err error) bool { return errors.Is(err, ordering.ErrNoOrder) }

func TestOnePaymentPerOrder_O9(t *testing.T) {
	t.Parallel()
	h := newHarness(t, ordering.DefaultConfig())
	h.placed(t)
	first := h.changed(t, ordering.OutcomeDone, changing(upstream.OpPay, fullPayment, underKey("k-1")))
	for name, c := range map[string]ordering.ChangeRequest{
		"another key":  changing(upstream.OpPay, fullPayment, underKey("k-2")),
		"no key":       changing(upstream.OpPay, fullPayment),
		"another body": changing(upstream.OpPay, `[{"code":"c-2","amount":"500","paidAt":"2026-05-01T12:00:00Z"}]`),
	} {
		_, err := h.Change(t.Context(), c)
		if e, ok := errors.AsType[*ordering.StateError](err); !ok || !e.Record.Paid || e.Operation != upstream.OpPay {
			t.Errorf("%s: Change() = %v, want a conflict with the payment", name, err)
		}
	}
	again := h.changed(t, ordering.OutcomeDone, changing(upstream.OpPay, fullPayment, underKey("k-1")))
	if diff := cmp.Diff(first.Call, again.Call); !again.Replayed || diff != "" {
		t.Errorf("the same key: replayed %t (-first +again):\n%s", again.Replayed, diff)
	}
	h.wantSent(t, 2)
}

func TestBusy_O9(t *testing.T) {
	t.Parallel()
	h := newHarness(t, ordering.DefaultConfig())
	h.placed(t)
	busy := func(when string, want ordering.Outcome) {
		t.Helper()
		for name, c := range map[string]ordering.ChangeRequest{
			"another operation": changing(upstream.OpComplete, ""),
			"another key":       changing(upstream.OpPay, fullPayment, underKey("k-2")),
			"on the other API":  changing(upstream.OpReject, noReason, compat),
		} {
			_, err := h.Change(t.Context(), c)
			if e, ok := errors.AsType[*ordering.BusyError](err); !ok || e.Call.Outcome != want || e.Call.Operation != upstream.OpPay {
				t.Errorf("%s, %s: Change() = %v, want it busy, %s", when, name, err, want)
			}
		}
	}
	h.service.answers(func(ctx context.Context, _ exchange) (upstream.Answer, error) {
		busy("while the payment is open", ordering.OutcomeOpen)
		_, err := h.Change(ctx, changing(upstream.OpPay, fullPayment, underKey("k-1")))
		if !is[*ordering.InFlightError](err) {
			t.Errorf("the same payment while it is open: %v", err)
		}
		return upstream.Answer{}, lostAnswer()
	})
	h.changed(t, ordering.OutcomeUnknown, changing(upstream.OpPay, fullPayment, underKey("k-1")))
	h.service.answers(nil)
	busy("when the payment is unknown", ordering.OutcomeUnknown)
	if again := h.changed(t, ordering.OutcomeUnknown, changing(upstream.OpPay, fullPayment, underKey("k-1"))); !again.Replayed {
		t.Errorf("the same again = %+v, want it replayed", again)
	}
	h.wantSent(t, 2)
}

// A completion that was refused because the order was not paid is not replayed after the
// payment.
func TestRefusalFreesADerivedKey(t *testing.T) {
	t.Parallel()
	h := newHarness(t, ordering.DefaultConfig())
	h.placed(t)
	h.service.fails(certainRefusal(t))
	refused := h.changed(t, ordering.OutcomeRefused, changing(upstream.OpComplete, ""))
	if refused.Call.Answer.Code != "pos_close_order" || refused.Record.State != ordering.StatePlaced {
		t.Errorf("refused %+v", refused)
	}
	own := h.changed(t, ordering.OutcomeRefused, changing(upstream.OpComplete, "", underKey("k-1")))
	h.service.answers(nil)
	h.changed(t, ordering.OutcomeDone, changing(upstream.OpPay, fullPayment))
	if again := h.changed(t, ordering.OutcomeRefused, changing(upstream.OpComplete, "", underKey("k-1"))); !again.Replayed ||
		again.Call.Number != own.Call.Number {
		t.Errorf("under its own key again = %+v, want the refusal", again)
	}
	if closed := h.changed(t, ordering.OutcomeDone, changing(upstream.OpComplete, "")); closed.Replayed ||
		closed.Record.State != ordering.StateClosed {
		t.Errorf("without key after the payment = %+v, want it closed", closed)
	}
	if again := h.changed(t, ordering.OutcomeDone, changing(upstream.OpComplete, "")); !again.Replayed {
		t.Errorf("without key again = %+v, want it replayed", again)
	}
	_, err := h.Change(t.Context(), changing(upstream.OpComplete, "", func(c *ordering.ChangeRequest) { c.Client = "other" }))
	if !is[*ordering.StateError](err) {
		t.Errorf("without key, another client: %v; want no replay of another client's request", err)
	}
}

// O16: a change without a key is repeated after an upgrade from a version without sources, or after its service got another
// address. It is answered with the first result, and is not sent again.
func TestAChangeIsRepeatedAfterItsServiceMoved_O16(t *testing.T) {
	t.Parallel()
	service := func(url string, former ...string) *upstream.Sources {
		return upstream.NewSources([]upstream.Config{{Name: "main", BaseURL: url, ClientID: "c", FormerURLs: former}})
	}
	for name, tc := range map[string]struct{ before, after *upstream.Sources }{
		"an upgrade":      {nil, service("https://a.example")},
		"another address": {service("https://a.example"), service("https://b.example", "https://z.example", "https://a.example")},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			h := newHarness(t, ordering.DefaultConfig(), func(_ *harness, d *ordering.Deps) { d.Sources = tc.before })
			h.placed(t)
			paid := h.changed(t, ordering.OutcomeDone, changing(upstream.OpPay, fullPayment))
			moved := newHarness(t, ordering.DefaultConfig(), func(_ *harness, d *ordering.Deps) {
				d.Journal, d.Clock, d.Sources = h.journal, h.clock, tc.after
			})
			again := moved.changed(t, ordering.OutcomeDone, changing(upstream.OpPay, fullPayment))
			if !again.Replayed || again.Call.Number != paid.Call.Number {
				t.Errorf("repeated = %+v, want the first payment", again)
			}
			if _, err := moved.Change(t.Context(), changing(upstream.OpPay, otherPayment)); !is[*ordering.StateError](err) {
				t.Errorf("another payment: %v, want a StateError", err)
			}
			moved.wantSent(t, 0)
		})
	}
}

// TestAdoptedOrders_O9a tests policy O9a.
func TestAdoptedOrders_O9a(t *testing.T) {
	t.Parallel()
	h := newHarness(t, ordering.DefaultConfig())
	got := h.changed(t, ordering.OutcomeDone, changing(upstream.OpPay, `[{"code":1,"amount":"0.01","paidAt":"2026-05-01T12:00:00Z"}]`, compat))
	r := got.Record
	if !r.Adopted || r.OrderID != "765" || r.Total.Valid || r.State != ordering.StatePlaced || !r.Paid || len(r.Ref) != 26 {
		t.Errorf("adopted %+v", r)
	}
	if closed := h.changed(t, ordering.OutcomeDone, changing(upstream.OpComplete, "")); closed.Record.Ref != r.Ref {
		t.Errorf("the same order on the v1 API: %+v", closed.Record)
	}
	if _, err := h.Change(t.Context(), changing(upstream.OpPay, fullPayment, compat,
		func(c *ordering.ChangeRequest) { c.Connection = "second" })); err != nil {
		t.Errorf("the same orderID of another connection: %v", err)
	}
	if _, err := h.ByOrderID(t.Context(), []string{"main", "second"}, "765"); !is[*ordering.AmbiguousError](err) {
		t.Errorf("ByOrderID on both = %v, want it ambiguous", err)
	}
}

func TestReads(t *testing.T) {
	t.Parallel()
	h := newHarness(t, ordering.DefaultConfig())
	ref := h.placed(t).Record.Ref
	both := []string{"main", "second"}
	byKey := func(connections []string, client, key string) (ordering.Record, error) {
		return h.ByKey(t.Context(), connections, client, key)
	}
	for name, tc := range map[string]struct {
		got  func() (ordering.Record, error)
		want bool
	}{
		"by ref":                         {func() (ordering.Record, error) { return h.journal.Record(t.Context(), both, ref) }, true},
		"by ref, another connection":     {func() (ordering.Record, error) { return h.journal.Record(t.Context(), []string{"second"}, ref) }, false},
		"by orderID":                     {func() (ordering.Record, error) { return h.ByOrderID(t.Context(), both, "765") }, true},
		"by orderID, another connection": {func() (ordering.Record, error) { return h.ByOrderID(t.Context(), []string{"second"}, "765") }, false},
		"by another orderID":             {func() (ordering.Record, error) { return h.ByOrderID(t.Context(), both, "766") }, false},
		"by key":                         {func() (ordering.Record, error) { return byKey(both, "storefront", soupKey) }, true},
		"by key of another client":       {func() (ordering.Record, error) { return byKey(both, "other", soupKey) }, false},
		"by key of another connection":   {func() (ordering.Record, error) { return byKey([]string{"second"}, "storefront", soupKey) }, false},
		"by another key":                 {func() (ordering.Record, error) { return byKey(both, "storefront", "x") }, false},
	} {
		got, err := tc.got()
		if tc.want && (err != nil || got.Ref != ref) {
			t.Errorf("%s: %s, %v; want %s", name, got.Ref, err, ref)
		}
		if !tc.want && !noOrder(err) {
			t.Errorf("%s: %s, %v; want no order", name, got.Ref, err)
		}
	}
	h.placed(t, func(p *placeRequest) { p.Connection = "second" })
	if _, err := byKey(both, "storefront", soupKey); !is[*ordering.AmbiguousError](err) ||
		err.Error() != "ordering: orders of several connections match: main, second" {
		t.Errorf("by a key used on both = %v, want it ambiguous", err)
	}
	page, next, err := h.journal.List(t.Context(), ordering.Query{Connections: both, Limit: 1})
	if err != nil || len(page) != 1 || next == "" {
		t.Errorf("List() = %d records, next %q, %v", len(page), next, err)
	}
	if err := h.journal.Ready(t.Context(), "main"); err != nil {
		t.Errorf("Ready() = %v", err)
	}
	h.failing(journaltest.FailBefore, journaltest.MethodOrder, journaltest.MethodLookup)
	if _, err := h.ByOrderID(t.Context(), both, "765"); !is[*ordering.JournalError](err) {
		t.Errorf("ByOrderID without journal: %v", err)
	}
	if _, err := byKey(both, "storefront", soupKey); !is[*ordering.JournalError](err) {
		t.Errorf("ByKey without journal: %v", err)
	}
}
