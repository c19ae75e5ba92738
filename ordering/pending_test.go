package ordering_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	"github.com/sirupsen/logrus"

	"larder.local/internal/testkit/journaltest"
	"larder.local/internal/upstream"
	"larder.local/ordering"
)

func TestFinishIsRetried(t *testing.T) {
	t.Parallel()
	for _, how := range []journaltest.Failure{journaltest.FailBefore, journaltest.FailAfter} {
		synctest.Test(t, func(t *testing.T) {
			h := newHarness(t, ordering.DefaultConfig())
			failures := 0
			h.journal.Fail(func(m journaltest.Method) journaltest.Failure {
				if m == journaltest.MethodFinish && failures < 3 {
					failures++
					return how
				}
				return journaltest.FailNot
			})
			begun := time.Now()
			got := h.placed(t)
			if took := time.Since(begun); took != 140*time.Millisecond || h.record(t, got.Record.Ref).State != ordering.StatePlaced {
				t.Errorf("recorded after %v: %+v", took, got.Record)
			}
			if diff := cmp.Diff([]string{}, h.happened()); diff != "" {
				t.Errorf("events (-want +got):\n%s", diff)
			}
		})
	}
}

// While the journal is down, the outcome of a call is returned. It is recorded when the
// journal is back.
func TestFinishLost(t *testing.T) {
	t.Parallel()
	for _, tc := range []struct {
		name string
		op   ordering.Operation
		err  error
		want ordering.Outcome
	}{
		{"placed", upstream.OpCreate, nil, ordering.OutcomeDone},
		{"refused", upstream.OpCreate, certainRefusal(t), ordering.OutcomeRefused},
		{"not sent", upstream.OpCreate, notSent(), ordering.OutcomeNotSent},
		{"unknown", upstream.OpCreate, lostAnswer(), ordering.OutcomeUnknown},
		{"paid", upstream.OpPay, nil, ordering.OutcomeDone},
		{"pay refused", upstream.OpPay, certainRefusal(t), ordering.OutcomeRefused},
		{"closed", upstream.OpComplete, nil, ordering.OutcomeDone},
		{"rejected", upstream.OpReject, nil, ordering.OutcomeDone},
	} {
		for _, how := range []journaltest.Failure{journaltest.FailBefore, journaltest.FailAfter} {
			t.Run(fmt.Sprintf("%s, %d", tc.name, how), func(t *testing.T) {
				t.Parallel()
				synctest.Test(t, func(t *testing.T) {
					h := newHarness(t, ordering.DefaultConfig())
					ask := func() (ordering.Result, error) { return h.Place(t.Context(), placing()) }
					if tc.op != upstream.OpCreate {
						h.placed(t)
						ask = func() (ordering.Result, error) {
							return h.Change(t.Context(), changing(tc.op, bodyOf(tc.op), underKey("k-1")))
						}
					}
					h.failing(how, journaltest.MethodFinish)
					if tc.err != nil {
						h.service.fails(tc.err)
					}
					got, err := ask()
					if err != nil || got.Call.Outcome != tc.want {
						t.Fatalf("result %+v, %v; want %s", got, err, tc.want)
					}
					if err := h.Sweep(t.Context()); !is[*ordering.JournalError](err) {
						t.Errorf("Sweep() while the journal is down = %v", err)
					}
					h.journal.Fail(nil)
					if err := h.Sweep(t.Context()); err != nil {
						t.Errorf("Sweep() = %v", err)
					}
					if diff := cmp.Diff(got.Record, h.record(t, got.Record.Ref), cmpopts.EquateEmpty()); diff != "" {
						t.Errorf("the record differs from the result (-result +record):\n%s", diff)
					}
					want := []string{"order.result_recorded_late " + string(tc.op) + " " + string(tc.want)}
					if diff := cmp.Diff(want, h.happened()); diff != "" {
						t.Errorf("events (-want +got):\n%s", diff)
					}
					for _, line := range h.log.AllEntries() {
						if fault, has := line.Data[logrus.ErrorKey]; has && line.Data["event"] == "order.result_recorded_late" {
							t.Errorf("the late write is logged with an error: %v", fault)
						}
					}
					if err := h.Sweep(t.Context()); err != nil || len(h.happened()) != 1 {
						t.Errorf("the next Sweep() = %v, events %v; want nothing more", err, h.happened())
					}
				})
			})
		}
	}
}

// A call that the journal may have opened despite an error is not sent and does not stay
// open.
func TestBeginLost_O12(t *testing.T) {
	t.Parallel()
	h := newHarness(t, ordering.DefaultConfig())
	h.failing(journaltest.FailAfter, journaltest.MethodBegin, journaltest.MethodAbort)
	_, err := h.Place(t.Context(), placing())
	if !is[*ordering.JournalError](err) {
		t.Fatalf("Place() = %v, want the journal's error", err)
	}
	h.failing(journaltest.FailBefore, journaltest.MethodBegin, journaltest.MethodAbort)
	if _, err := h.Place(t.Context(), placing(func(p *placeRequest) { p.Key = "never-begun" })); !is[*ordering.JournalError](err) {
		t.Fatalf("Place() = %v, want the journal's error", err)
	}
	h.journal.Fail(nil)
	if err := h.Sweep(t.Context()); err != nil {
		t.Errorf("Sweep() = %v", err)
	}
	page, _, err := h.journal.List(t.Context(), ordering.Query{Connections: []string{"main"}, Limit: 9})
	if err != nil || len(page) != 1 || page[0].State != ordering.StateNotSent {
		t.Errorf("records %+v, %v; want one, not sent", page, err)
	}
	h.wantSent(t, 0)
	h.placed(t)
}

// former is a journal with a connection that is not configured any more.
type former struct{ ordering.Journal }

func (former) Former(context.Context, []string) ([]string, error) { return []string{"main"}, nil }

// The calls of a connection that is not configured any more end too.
func TestSweepOfAFormerConnection_O20(t *testing.T) {
	t.Parallel()
	h := newHarness(t, ordering.DefaultConfig())
	renamed := newHarness(t, ordering.DefaultConfig(), func(_ *harness, d *ordering.Deps) {
		d.Journal, d.Connections = former{h.journal}, func() []string { return []string{"second"} }
	})
	h.service.answers(func(ctx context.Context, _ exchange) (upstream.Answer, error) {
		h.pass(time.Hour)
		if err := renamed.Sweep(ctx); err != nil {
			t.Errorf("Sweep() = %v", err)
		}
		return done("765")
	})
	h.placed(t)
	if diff := cmp.Diff([]string{"order.timed_out create unknown"}, renamed.happened()); diff != "" {
		t.Errorf("events (-want +got):\n%s", diff)
	}
}

func TestLateResultAfterSweep_O12(t *testing.T) {
	t.Parallel()
	h := newHarness(t, ordering.DefaultConfig())
	h.service.answers(func(ctx context.Context, _ exchange) (upstream.Answer, error) {
		h.pass(49 * time.Second)
		if err := h.Sweep(ctx); err != nil || len(h.happened()) != 0 {
			t.Errorf("Sweep() before the deadline = %v, events %v", err, h.happened())
		}
		h.pass(2 * time.Second)
		if err := h.Sweep(ctx); err != nil {
			t.Errorf("Sweep() = %v", err)
		}
		got, err := h.Place(ctx, placing())
		if err != nil || !got.Replayed || got.Call.Outcome != ordering.OutcomeUnknown {
			t.Errorf("the same request before the late result = %+v, %v; want it unknown", got, err)
		}
		return done("765")
	})
	got := h.placed(t)
	if r := h.record(t, got.Record.Ref); r.State != ordering.StatePlaced || r.OrderID != "765" {
		t.Errorf("record %+v, want it placed", r)
	}
	if diff := cmp.Diff([]string{"order.timed_out create unknown"}, h.happened()); diff != "" {
		t.Errorf("events (-want +got):\n%s", diff)
	}
}

// The outcome of a call contradicts the resolution of an operator.
func TestResultThatContradictsAResolution_O12(t *testing.T) {
	t.Parallel()
	for _, late := range []bool{false, true} {
		synctest.Test(t, func(t *testing.T) {
			h := newHarness(t, ordering.DefaultConfig())
			resolve := func() {
				h.journal.Fail(nil)
				h.pass(time.Minute)
				if err := h.Sweep(t.Context()); err != nil && !late {
					t.Errorf("Sweep() = %v", err)
				}
				page, _, err := h.journal.List(t.Context(), ordering.Query{Connections: []string{"main"}, Limit: 9})
				if err != nil || len(page) != 1 {
					t.Fatalf("records %+v, %v", page, err)
				}
				if _, err := h.journal.Resolve(t.Context(), ordering.ResolveCall{
					Connection: "main",
					Ref:        page[0].Ref,
					Operation:  upstream.OpCreate,
					Resolution: ordering.ResolvedNotDone,
					By:         "ops",
				}); err != nil {
					t.Errorf("Resolve() = %v", err)
				}
			}
			h.service.answers(func(context.Context, exchange) (upstream.Answer, error) {
				if !late {
					resolve()
				} else {
					h.failing(journaltest.FailBefore, journaltest.MethodFinish)
				}
				return done("765")
			})
			got, err := h.Place(t.Context(), placing())
			if err != nil {
				t.Fatal(err)
			}
			if late {
				h.pass(time.Minute)
				// Another instance sweeps, and an operator resolves.
				h.journal.Fail(nil)
				if _, err := h.journal.Sweep(t.Context(), "main"); err != nil {
					t.Fatal(err)
				}
				if _, err := h.Resolve(t.Context(), resolution(got.Record.Ref, upstream.OpCreate, ordering.ResolvedNotDone)); err != nil {
					t.Fatal(err)
				}
				if err := h.Sweep(t.Context()); err != nil {
					t.Errorf("Sweep() = %v", err)
				}
			} else if got.Call.Outcome != ordering.OutcomeRefused || got.Call.Contradicted != ordering.OutcomeDone {
				t.Errorf("Place() = %+v; want the operator's resolution", got.Call)
			}
			r := h.record(t, got.Record.Ref)
			if r.State != ordering.StateRefused || r.Calls[0].Contradicted != ordering.OutcomeDone {
				t.Errorf("record %+v; want the resolution, marked as contradicted", r)
			}
			if all := h.happened(); !slices.Contains(all, "order.outcome_conflict create done") {
				t.Errorf("events %v, want the conflict", all)
			}
			if last := h.log.LastEntry(); last.Data["event"] != "order.outcome_conflict" || last.Level.String() != "error" {
				t.Errorf("logged %+v", last)
			} else if last.Data["foundOrderID"] != "765" {
				t.Errorf("logged %+v; want the orderID of the order that the resolution declared not placed", last.Data)
			}
		})
	}
}

// forgetful is a journal that has lost the record by the time of Finish.
type forgetful struct {
	ordering.Journal
	lost *bool
}

func (f forgetful) Finish(ctx context.Context, e ordering.CallResult) (ordering.Record, error) {
	if *f.lost {
		return ordering.Record{}, ordering.ErrNoOrder
	}
	return f.Journal.Finish(ctx, e)
}

func TestRecordLost(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		lost := true
		h := newHarness(t, ordering.DefaultConfig(), func(_ *harness, d *ordering.Deps) { d.Journal = forgetful{d.Journal, &lost} })
		got := h.placed(t)
		if got.Record.State != ordering.StatePlaced || got.Record.OrderID != "765" {
			t.Errorf("Place() = %+v, want it placed anyway", got.Record)
		}
		lost = false
		h.failing(journaltest.FailBefore, journaltest.MethodFinish)
		h.placed(t, func(p *placeRequest) { p.Key = "other-key" })
		lost = true
		h.journal.Fail(nil)
		if err := h.Sweep(t.Context()); err != nil {
			t.Errorf("Sweep() = %v", err)
		}
		want := []string{"order.result_lost create done", "order.result_lost create done"}
		if diff := cmp.Diff(want, h.happened()); diff != "" {
			t.Errorf("events (-want +got):\n%s", diff)
		}
	})
}

// Sweep continues until nothing is left, although the journal sweeps a hundred calls at a
// time.
func TestSweepOfManyCalls(t *testing.T) {
	t.Parallel()
	h := newHarness(t, ordering.DefaultConfig(), func(_ *harness, d *ordering.Deps) { d.Journal = finishless{d.Journal} })
	for i := range 250 {
		h.placed(t, func(p *placeRequest) { p.Key = fmt.Sprintf("key-%d", i) })
	}
	h.pass(time.Minute)
	if err := h.Sweep(t.Context()); err != nil {
		t.Errorf("Sweep() = %v", err)
	}
	swept := 0
	for _, event := range h.happened() {
		if event == "order.timed_out create unknown" {
			swept++
		}
	}
	if swept != 250 {
		t.Errorf("%d calls swept, want 250", swept)
	}
	h.failing(journaltest.FailBefore, journaltest.MethodSweep)
	if err := h.Sweep(t.Context()); !is[*ordering.JournalError](err) {
		t.Errorf("Sweep() without journal = %v", err)
	}
}

// finishless is a journal that records no results, as if larder was killed.
type finishless struct{ ordering.Journal }

func (f finishless) Finish(context.Context, ordering.CallResult) (ordering.Record, error) {
	return ordering.Record{}, ordering.ErrNoOrder
}

// The number of pending results is limited. Lost results are logged.
func TestLimitOfPendingResults(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		h := newHarness(t, ordering.DefaultConfig())
		h.placed(t)
		h.failing(journaltest.FailBefore, journaltest.MethodBegin, journaltest.MethodAbort)
		for i := range 10_000 {
			c := changing(upstream.OpComplete, "", compat, func(c *ordering.ChangeRequest) { c.OrderID = fmt.Sprintf("o-%d", i) })
			if _, err := h.Change(t.Context(), c); !is[*ordering.JournalError](err) {
				t.Fatalf("Change() = %v", err)
			}
		}
		if all := h.happened(); len(all) != 0 {
			t.Fatalf("events %v before the limit", all)
		}
		if _, err := h.Place(t.Context(), placing(func(p *placeRequest) { p.Key = "k-2" })); !is[*ordering.JournalError](err) {
			t.Errorf("Place() = %v", err)
		}
		h.failing(journaltest.FailBefore, journaltest.MethodFinish)
		h.changed(t, ordering.OutcomeDone, changing(upstream.OpComplete, ""))
		want := []string{"order.result_lost create not_sent", "order.result_lost complete done"}
		if diff := cmp.Diff(want, h.happened()); diff != "" {
			t.Errorf("events (-want +got):\n%s", diff)
		}
	})
}

// An order that cannot be written does not delay others.
func TestUnwritableOrderDoesNotDelayOthers(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		bad := ""
		h := newHarness(t, ordering.DefaultConfig(), func(_ *harness, d *ordering.Deps) { d.Journal = stubborn{d.Journal, &bad} })
		h.failing(journaltest.FailBefore, journaltest.MethodFinish)
		for i := range 6 {
			got := h.placed(t, func(p *placeRequest) { p.Key = fmt.Sprintf("key-%d", i) })
			if i == 0 {
				bad = got.Record.Ref
			}
		}
		tried := 0
		h.journal.Fail(func(m journaltest.Method) journaltest.Failure {
			if m == journaltest.MethodFinish {
				tried++
				return journaltest.FailBefore
			}
			return journaltest.FailNot
		})
		if err := h.Sweep(t.Context()); err == nil || tried != 2 {
			t.Errorf("Sweep() = %v after %d; want it to give up after three, one of which the journal never saw", err, tried)
		}
		h.journal.Fail(nil)
		if err := h.Sweep(t.Context()); err == nil {
			t.Error("Sweep() returns no error for the result that could not be written")
		}
		if n := len(h.happened()); n != 5 {
			t.Errorf("%d written, want 5: %v", n, h.happened())
		}
		bad = ""
		if err := h.Sweep(t.Context()); err != nil || len(h.happened()) != 6 {
			t.Errorf("Sweep() = %v, %d written; want all 6", err, len(h.happened()))
		}
	})
}

// stubborn is a journal that cannot write one order.
type stubborn struct {
	ordering.Journal
	ref *string
}

func (s stubborn) Finish(ctx context.Context, e ordering.CallResult) (ordering.Record, error) {
	if e.Ref == *s.ref {
		return ordering.Record{}, &ordering.JournalError{Err: errors.New("cannot be read")}
	}
	return s.Journal.Finish(ctx, e)
}

func TestRun(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		h := newHarness(t, ordering.DefaultConfig())
		ctx, stop := context.WithCancel(t.Context())
		ended := make(chan error, 1)
		go func() { ended <- h.Run(ctx) }()

		<-time.After(time.Minute) // in the synctest bubble
		synctest.Wait()
		lines := h.log.AllEntries()
		if lines = slices.DeleteFunc(lines, func(e *logrus.Entry) bool { return e.Data["event"] == "journal.rule" }); len(lines) != 0 {
			t.Errorf("a working journal was logged: %v", lines[0].Data)
		}
		h.failing(journaltest.FailBefore, journaltest.MethodFinish)
		h.placed(t)
		h.failing(journaltest.FailBefore, journaltest.MethodFinish, journaltest.MethodSweep)
		<-time.After(20 * time.Second) // in the synctest bubble
		h.journal.Fail(nil)
		<-time.After(5 * time.Second)
		synctest.Wait()
		if diff := cmp.Diff([]string{"order.result_recorded_late create done"}, h.happened()); diff != "" {
			t.Errorf("events (-want +got):\n%s", diff)
		}
		failures := 0
		for _, e := range h.log.AllEntries() {
			if e.Data["event"] == "order.sweep_failed" {
				failures++
			}
		}
		if failures != 1 {
			t.Errorf("the failing journal was logged %d times, want once", failures)
		}

		// When Run ends, one call is in progress, and another result waits for the journal.
		begun, answer := make(chan struct{}), make(chan struct{})
		h.service.answers(func(context.Context, exchange) (upstream.Answer, error) {
			close(begun)
			<-answer
			return done("766")
		})
		placed := make(chan struct{})
		go func() {
			defer close(placed)
			h.placed(t, func(p *placeRequest) { p.Key = "k-2" })
		}()
		<-begun
		stop()
		synctest.Wait()
		select {
		case err := <-ended:
			t.Fatalf("Run() = %v with a call in flight", err)
		default:
		}
		h.failing(journaltest.FailBefore, journaltest.MethodFinish)
		close(answer)
		<-placed
		if err := <-ended; err != nil {
			t.Errorf("Run() = %v", err)
		}
		if diff := cmp.Diff([]string{"order.result_recorded_late create done", "order.result_lost create done"}, h.happened()); diff != "" {
			t.Errorf("events (-want +got):\n%s", diff)
		}
		h.wantSilent(t)
	})
}

// wantSilent checks that the log contains no private data of guests and clients.
func (h *harness) wantSilent(tb testing.TB) {
	tb.Helper()
	for _, e := range h.log.AllEntries() {
		line, err := e.String()
		if err != nil {
			tb.Fatal(err)
		}
		for _, private := range []string{soupKey, "dishList", "expectedAt"} {
			if strings.Contains(line, private) {
				tb.Errorf("the log contains %q: %s", private, line)
			}
		}
		if e.Data["event"] == "" || e.Data["event"] == nil {
			tb.Errorf("a log line without an event: %s", line)
		}
	}
}
