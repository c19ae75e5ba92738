package ordering_test

import (
	"context"
	"errors"
	"net/http"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"larder.local/internal/jsontext"
	"larder.local/internal/menu"
	"larder.local/internal/testkit/journaltest"
	"larder.local/internal/testkit/menutest"
	"larder.local/internal/upstream"
	"larder.local/ordering"
	"larder.local/ordering/validate"
)

func TestPlace(t *testing.T) {
	t.Parallel()
	h := newHarness(t, ordering.DefaultConfig())
	got := h.placed(t)
	order, err := validate.DecodeOrder(placing().Input, nil)
	if err != nil {
		t.Fatal(err)
	}
	validator := validate.New(validate.DefaultConfig(), menutest.Noon)
	checked, err := validator.Check(order, validate.Request{Restaurant: menutest.Restaurant, Catalogue: h.card})
	if err != nil {
		t.Fatal(err)
	}
	want := string(checked.Order)
	if calls := h.service.calls(); len(calls) != 1 || calls[0].body != want {
		t.Errorf("sent %+v; want one call, with the body of validate: %s", calls, want)
	}
	r := got.Record
	if len(r.Ref) != 26 || r.OrderID != "765" || r.State != ordering.StatePlaced || r.Total.Decimal.String() != "199.9" ||
		r.MenuVersion != 42 || r.Client != "storefront" || r.Restaurant != menutest.Restaurant || r.Connection != "main" ||
		!r.ExpectedAt.Equal(menutest.Noon().Add(3*time.Hour+30*time.Minute)) {
		t.Errorf("record %+v", r)
	}
	c := got.Call
	if c.RequestID != "request-1" || c.Derived || c.Answer == nil || c.Answer.Status != http.StatusCreated ||
		string(c.Answer.Body) != `{"result":{"orderID":"765"}}` || c.Answer.ContentType != "application/json" {
		t.Errorf("call %+v", c)
	}
	if got.Replayed {
		t.Error("replayed")
	}
	if diff := cmp.Diff(r, h.record(t, r.Ref)); diff != "" {
		t.Errorf("the record in the journal (-returned +read):\n%s", diff)
	}
	body, err := h.journal.Body(t.Context(), r.Connection, r.Ref, c.Number)
	if err != nil || string(body) != want {
		t.Errorf("Body() = %s, %v; want the sent body", body, err)
	}
}

func TestOrdersThatAreNotSent(t *testing.T) {
	t.Parallel()
	other := errors.New("other")
	for _, tc := range []struct {
		name  string
		order placeRequest
		given func(*harness)
		want  func(error) bool
	}{
		{"malformed", placing(func(p *placeRequest) { p.Body = []byte(`{`) }), nil, is[*jsontext.SyntaxError]},
		{"violations", placing(func(p *placeRequest) { p.Body = []byte(menutest.Order(`[]`)) }), nil, func(err error) bool {
			e, ok := errors.AsType[*ordering.InvalidError](err)
			return ok && len(e.Violations) == 1 && strings.Contains(e.Error(), "violations in the order: 1")
		}},
		{"unknown connection", placing(func(p *placeRequest) { p.Connection = "third" }), nil, func(err error) bool {
			return errors.Is(err, ordering.ErrUnknownConnection)
		}},
		{"no catalogue", placing(), func(h *harness) { h.noCard = other }, func(err error) bool { return errors.Is(err, other) }},
		{"no secret", placing(), func(h *harness) { h.failing(journaltest.FailBefore, journaltest.MethodSecret) }, is[*ordering.JournalError]},
		{"not ready", placing(), func(h *harness) { h.failing(journaltest.FailBefore, journaltest.MethodReady) }, is[*ordering.JournalError]},
		{"not recorded", placing(), func(h *harness) { h.failing(journaltest.FailBefore, journaltest.MethodBegin) }, is[*ordering.JournalError]},
		{"recorded, and the response is lost", placing(), func(h *harness) { h.failing(journaltest.FailAfter, journaltest.MethodBegin) }, is[*ordering.JournalError]},
	} {
		t.Run(tc.name, func(t *testing.T) {
			t.Parallel()
			h := newHarness(t, ordering.DefaultConfig())
			if tc.given != nil {
				tc.given(h)
			}
			got, err := h.Place(t.Context(), tc.order)
			if !tc.want(err) || got.Record.Ref != "" {
				t.Errorf("Place() = %+v, error %T %v", got, err, err)
			}
			h.wantSent(t, 0)
			if open, _, err := h.journal.List(t.Context(), ordering.Query{
				Connections: []string{"main"}, State: ordering.StatePlacing,
				Limit: 9,
			}); err != nil || len(open) != 0 {
				t.Errorf("records left open: %+v, %v", open, err)
			}
			h.journal.Fail(nil)
			h.noCard = nil
			h.placed(t) // the key is free
		})
	}
}

func TestNothingIsSentAfterTheClientDisconnected(t *testing.T) {
	t.Parallel()
	ctx, hangUp := context.WithCancel(t.Context())
	h := newHarness(t, ordering.DefaultConfig(), func(_ *harness, d *ordering.Deps) { d.Journal = leaving{d.Journal, hangUp} })
	_, err := h.Place(ctx, placing())
	e, ok := errors.AsType[*ordering.NotSentError](err)
	if !ok || !errors.Is(e, context.Canceled) || e.Error() == "" {
		t.Errorf("Place() = %v, want not sent", err)
	}
	h.wantSent(t, 0)
}

// leaving is a journal whose client disconnects after Ready.
type leaving struct {
	ordering.Journal
	hangUp func()
}

func (l leaving) Ready(context.Context, string) error { l.hangUp(); return nil }

func TestDisconnectDoesNotEndACall(t *testing.T) {
	t.Parallel()
	ctx, hangUp := context.WithCancel(t.Context())
	h := newHarness(t, ordering.DefaultConfig())
	h.service.answers(func(call context.Context, _ exchange) (upstream.Answer, error) {
		hangUp()
		if call.Err() != nil {
			t.Errorf("the call ended when its client disconnected: %v", call.Err())
		}
		if limit, ok := call.Deadline(); !ok || time.Until(limit) > 20*time.Second {
			t.Errorf("the call's limit is %v, %t; want 20 s", limit, ok)
		}
		return done("765")
	})
	got, err := h.Place(ctx, placing())
	if err != nil || got.Record.State != ordering.StatePlaced || h.record(t, got.Record.Ref).State != ordering.StatePlaced {
		t.Errorf("Place() = %+v, %v; want it placed and recorded", got.Record, err)
	}
}

func TestOutcomes(t *testing.T) {
	t.Parallel()
	for _, tc := range []struct {
		name   string
		err    error
		want   ordering.Outcome
		state  ordering.State
		answer *ordering.Answer
		free   bool
	}{
		{"refused", certainRefusal(t), ordering.OutcomeRefused, ordering.StateRefused, &ordering.Answer{
			Status:      422,
			ContentType: "application/json",
			Code:        "pos_close_order",
			Msg:         "not paid",
			RequestID:   "r-9",
			Body:        []byte(`{"code":"pos_close_order","msg":"not paid","requestId":"r-9","errors":null}`),
		}, false},
		{"not reached", notSent(), ordering.OutcomeNotSent, ordering.StateNotSent, nil, true},
		{"rejected before execution", turnedAway(), ordering.OutcomeNotSent, ordering.StateNotSent, &ordering.Answer{
			Status:     503,
			Code:       "busy",
			RetryAfter: 7 * time.Second,
			Body:       []byte("later"),
		}, true},
		{"may have been executed", lostAnswer(), ordering.OutcomeUnknown, ordering.StateUnknown, nil, false},
		{"an error without an effect", errors.New("other"), ordering.OutcomeUnknown, ordering.StateUnknown, nil, false},
		{"a response without orderID", nil, ordering.OutcomeUnknown, ordering.StateUnknown, &ordering.Answer{Status: 201, Cut: true}, false},
	} {
		t.Run(tc.name, func(t *testing.T) {
			t.Parallel()
			h := newHarness(t, ordering.DefaultConfig())
			h.service.answers(func(context.Context, exchange) (upstream.Answer, error) {
				if tc.err != nil {
					return upstream.Answer{}, tc.err
				}
				return upstream.Answer{Status: 201, Cut: true}, nil
			})
			got, err := h.Place(t.Context(), placing())
			if err != nil || got.Call.Outcome != tc.want || got.Record.State != tc.state || got.Record.OrderID != "" {
				t.Fatalf("Place() = %+v, %v; want %s, %s", got, err, tc.want, tc.state)
			}
			if diff := cmp.Diff(tc.answer, got.Call.Answer); diff != "" {
				t.Errorf("answer (-want +got):\n%s", diff)
			}
			if wait := map[bool]time.Duration{true: 7 * time.Second}[tc.free]; got.RetryAfter != wait {
				t.Errorf("retry after %v, want %v", got.RetryAfter, wait)
			}
			h.service.answers(nil)
			again, err := h.Place(t.Context(), placing())
			if err != nil || again.Replayed == tc.free {
				t.Errorf("the same request again = %+v, %v; want it replayed: %t", again, err, !tc.free)
			}
		})
	}
}

// The record contains each attempt of the call and the service's response.
func TestAttemptsAreRecorded(t *testing.T) {
	t.Parallel()
	for _, tc := range []struct {
		name, answer string
		status       int
		want         ordering.Outcome
		code         string
	}{
		{"done", `{"result":{"orderId":12345678901234567890}}`, 201, ordering.OutcomeDone, ""},
		{"refused", `{"code":"order_validation","msg":"no","requestId":"1","errors":null}`, 400, ordering.OutcomeRefused, "order_validation"},
		{"may have been executed", `oops`, 502, ordering.OutcomeUnknown, ""},
		{"a success without the orderID", `{"result":{}}`, 201, ordering.OutcomeUnknown, ""},
		{"rejected before execution", ``, 401, ordering.OutcomeNotSent, ""},
	} {
		t.Run(tc.name, func(t *testing.T) {
			t.Parallel()
			client := scripted(t, tc.status, tc.answer)
			h := newHarness(t, ordering.DefaultConfig(), through(client))
			got, err := h.Place(t.Context(), placing())
			if err != nil || got.Call.Outcome != tc.want || got.Call.Answer == nil || string(got.Call.Answer.Body) != tc.answer {
				t.Fatalf("Place() = %+v, %v; want %s with the answer", got.Call, err, tc.want)
			}
			tries := got.Call.Attempts
			if len(tries) == 0 {
				t.Fatal("no attempt is recorded")
			}
			if last := tries[len(tries)-1]; last.Status != tc.status || last.Outcome != tc.want || last.Code != tc.code || last.At.IsZero() {
				t.Errorf("last attempt %+v, want status %d, %s, code %q", last, tc.status, tc.want, tc.code)
			}
			if tc.want == ordering.OutcomeDone && got.Record.OrderID != "12345678901234567890" {
				t.Errorf("orderID %q", got.Record.OrderID)
			}
		})
	}
}

func TestReplay(t *testing.T) {
	t.Parallel()
	for _, tc := range []struct {
		name string
		err  error
	}{{"done", nil}, {"refused", certainRefusal(t)}, {"unknown", lostAnswer()}} {
		t.Run(tc.name, func(t *testing.T) {
			t.Parallel()
			h := newHarness(t, ordering.DefaultConfig())
			if tc.err != nil {
				h.service.fails(tc.err)
			}
			first, err := h.Place(t.Context(), placing())
			if err != nil {
				t.Fatal(err)
			}
			// Much later, the dish was removed, its expected time has passed, the journal rejects new
			// orders, and the body has another spelling.
			h.service.answers(nil)
			h.pass(23 * time.Hour)
			h.noCard = errors.New("no catalogue")
			h.failing(journaltest.FailBefore, journaltest.MethodReady)
			again, err := h.Place(t.Context(), placing(func(p *placeRequest) {
				p.RequestID = "request-9"
				p.Body = []byte(`{"paymentTypeID":"cash", "expectedAt":"2026-05-01T18:30:00+03:00", "expeditionType":"pickup", "dishList":[{"quantity":1.0,"ID":"soup"}]}`)
			}))
			if err != nil || !again.Replayed {
				t.Fatalf("Place() again = %+v, %v; want it replayed", again, err)
			}
			if diff := cmp.Diff(first.Record, again.Record); diff != "" || again.Call.RequestID != "request-1" {
				t.Errorf("the record of the replay (-first +replay):\n%s\ncall %+v", diff, again.Call)
			}
			if diff := cmp.Diff(first.Call, again.Call); diff != "" {
				t.Errorf("the call of the replay (-first +replay):\n%s", diff)
			}
			h.wantSent(t, 1)
		})
	}
}

func TestReusedKey_O7(t *testing.T) {
	t.Parallel()
	h := newHarness(t, ordering.DefaultConfig())
	first := h.placed(t)
	for name, p := range map[string]placeRequest{
		"another body":       placing(func(p *placeRequest) { p.Body = []byte(menutest.Order(`[{"ID":"soup","quantity":2}]`)) }),
		"another restaurant": placing(func(p *placeRequest) { p.Restaurant = "r-2" }),
	} {
		_, err := h.Place(t.Context(), p)
		if e, ok := errors.AsType[*ordering.KeyReusedError](err); !ok || e.Ref != first.Record.Ref || !strings.Contains(e.Error(), e.Ref) {
			t.Errorf("%s: Place() = %v, want the key reused", name, err)
		}
	}
	_, err := h.Change(t.Context(), changing(upstream.OpComplete, "", func(c *ordering.ChangeRequest) { c.Key = soupKey }))
	if !is[*ordering.KeyReusedError](err) {
		t.Errorf("another operation: Change() = %v, want the key reused", err)
	}
	h.wantSent(t, 1)
	for name, p := range map[string]placeRequest{
		"another client":     placing(func(p *placeRequest) { p.Client = "other" }),
		"another connection": placing(func(p *placeRequest) { p.Connection = "second" }),
		"no key":             placing(func(p *placeRequest) { p.Key = "" }),
		"no key, again":      placing(func(p *placeRequest) { p.Key = "" }),
	} {
		if got, err := h.Place(t.Context(), p); err != nil || got.Replayed || got.Record.Ref == first.Record.Ref {
			t.Errorf("%s: Place() = %+v, %v; want another order", name, got, err)
		}
	}
	h.wantSent(t, 5)
}

func TestConcurrentRequestsWithOneKey(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		h := newHarness(t, ordering.DefaultConfig())
		h.service.answers(func(context.Context, exchange) (upstream.Answer, error) {
			synctest.Wait() // all others have sent their requests
			return done("765")
		})
		var (
			group  sync.WaitGroup
			mu     sync.Mutex
			placed int
			busy   int
		)
		for range 100 {
			group.Go(func() {
				got, err := h.Place(t.Context(), placing())
				mu.Lock()
				defer mu.Unlock()
				switch e, inFlight := errors.AsType[*ordering.InFlightError](err); {
				case err == nil && !got.Replayed && got.Record.OrderID == "765":
					placed++
				case inFlight && len(e.Ref) == 26 && strings.Contains(e.Error(), e.Ref):
					busy++
				default:
					t.Errorf("Place() = %+v, %v", got, err)
				}
			})
		}
		group.Wait()
		if placed != 1 || busy != 99 {
			t.Errorf("%d placed and %d in flight, want 1 and 99", placed, busy)
		}
		h.wantSent(t, 1)
	})
}

// blind is a journal whose Lookup finds no key, as if the key was used just afterwards.
type blind struct{ ordering.Journal }

func (b blind) Lookup(ctx context.Context, connection, key string) (ordering.Record, int, error) {
	_, _, _ = b.Journal.Lookup(ctx, connection, key)
	return ordering.Record{}, 0, ordering.ErrKeyFree
}

func TestKeyUsedAfterLookup(t *testing.T) {
	t.Parallel()
	h := newHarness(t, ordering.DefaultConfig(), func(_ *harness, d *ordering.Deps) { d.Journal = blind{d.Journal} })
	first := h.placed(t)
	again, err := h.Place(t.Context(), placing())
	if err != nil || !again.Replayed || again.Record.Ref != first.Record.Ref {
		t.Errorf("Place() = %+v, %v; want it replayed", again, err)
	}
	_, err = h.Place(t.Context(), placing(func(p *placeRequest) { p.Body = []byte(menutest.Order(`[{"ID":"soup","quantity":2}]`)) }))
	if !is[*ordering.KeyReusedError](err) {
		t.Errorf("Place() of another body = %v, want the key reused", err)
	}
	h.wantSent(t, 1)
}

// counted is a journal that counts lookups.
type counted struct {
	ordering.Journal

	lookups  atomic.Int64
	notReady error // of Ready
}

func (c *counted) Ready(context.Context, string) error { return c.notReady }

func (c *counted) Lookup(ctx context.Context, connection, key string) (ordering.Record, int, error) {
	c.lookups.Add(1)
	return c.Journal.Lookup(ctx, connection, key)
}

// The key of a new order is not looked up. A repeated order gets the first result whatever has changed since: it finds it
// when it begins, before it waits for the service, or after it could not be begun.
func TestWhenTheKeyIsLookedUp_O7(t *testing.T) {
	t.Parallel()
	for name, tc := range map[string]struct {
		changes func(h *harness, c *counted)
		lookups int64
	}{
		"nothing has changed": {func(*harness, *counted) {}, 0},
		"the service is busy": {func(h *harness, _ *counted) {
			h.service.reserve = func(string) error {
				t.Error("a repeated order waits for a slot")
				return upstream.ErrBusy
			}
		}, 1},
		"the menu is gone": {func(h *harness, _ *counted) { h.noCard = errors.New("no menu") }, 1},
		"the dish is gone": {func(h *harness, _ *counted) {
			h.card = menutest.Compile(t, strings.Replace(menutest.Card, `{"id":"soup"`, `{"id":"stew"`, 1), menu.DefaultSettings())
		}, 1},
		"Redis takes no writes":    {func(h *harness, _ *counted) { h.failing(journaltest.FailBefore, journaltest.MethodBegin) }, 1},
		"the journal is not ready": {func(_ *harness, c *counted) { c.notReady = &ordering.NotReadyError{Msg: "no append-only file"} }, 1},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			journal := &counted{}
			h := newHarness(t, ordering.DefaultConfig(), func(_ *harness, d *ordering.Deps) {
				journal.Journal = d.Journal
				d.Journal = journal
			})
			first := h.placed(t)
			if n := journal.lookups.Load(); n != 0 {
				t.Errorf("a new order: %d lookups, want none", n)
			}
			tc.changes(h, journal)
			again, err := h.Place(t.Context(), placing())
			if err != nil || !again.Replayed || again.Record.Ref != first.Record.Ref {
				t.Errorf("Place() = %+v, %v; want it replayed", again.Call, err)
			}
			if n := journal.lookups.Load(); n != tc.lookups {
				t.Errorf("the repeated order: %d lookups, want %d", n, tc.lookups)
			}
			h.wantSent(t, 1)
		})
	}
}

// broken is a journal that begins nothing.
type broken struct {
	ordering.Journal

	failure ordering.JournalError
	aborted atomic.Int64
}

func (b *broken) Begin(context.Context, ordering.CallSpec) (ordering.Record, error) {
	return ordering.Record{}, &b.failure
}

func (b *broken) Abort(context.Context, ordering.CallSpec) error {
	b.aborted.Add(1)
	return nil
}

// A call that Redis certainly has not got needs no abort: in an outage, aborts would wait for Redis before known results.
func TestWhatWasNotWrittenIsNotAborted_O12(t *testing.T) {
	t.Parallel()
	for unwritten, want := range map[bool]int64{false: 1, true: 0} {
		journal := &broken{failure: ordering.JournalError{Err: errors.New("no Redis"), Unwritten: unwritten}}
		h := newHarness(t, ordering.DefaultConfig(), func(_ *harness, d *ordering.Deps) {
			journal.Journal = d.Journal
			d.Journal = journal
		})
		if _, err := h.Place(t.Context(), placing()); !is[*ordering.JournalError](err) {
			t.Errorf("Place() = %v, want the journal's error", err)
		}
		if n := journal.aborted.Load(); n != want {
			t.Errorf("unwritten %t: %d aborts, want %d", unwritten, n, want)
		}
		h.wantSent(t, 0)
	}
}

// lacking is a journal whose record does not contain the call of the key.
type lacking struct{ ordering.Journal }

func (l lacking) Lookup(ctx context.Context, connection, key string) (ordering.Record, int, error) {
	r, _, err := l.Journal.Lookup(ctx, connection, key)
	return r, 99, err
}

func TestJournalWithoutTheCall(t *testing.T) {
	t.Parallel()
	h := newHarness(t, ordering.DefaultConfig(), func(_ *harness, d *ordering.Deps) { d.Journal = lacking{d.Journal} })
	h.placed(t)
	h.service.reserve = func(string) error { return upstream.ErrBusy }
	if _, err := h.Place(t.Context(), placing()); !is[*ordering.JournalError](err) {
		t.Errorf("Place() = %v, want an error of the journal", err)
	}
}
