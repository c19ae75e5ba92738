package ordering_test

import (
	"context"
	"errors"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"larder.local/internal/testkit/journaltest"
	"larder.local/internal/testkit/menutest"
	"larder.local/internal/upstream"
	"larder.local/ordering"
)

// A result that too few replicas have is returned. It is written again every second until
// enough replicas have it (policy O14).
func TestUnreplicatedResultIsWrittenAgain(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		h := newHarness(t, ordering.DefaultConfig())
		ctx, stop := context.WithCancel(t.Context())
		ended := make(chan error, 1)
		go func() { ended <- h.Run(ctx) }()
		finished := 0
		h.journal.Fail(func(m journaltest.Method) journaltest.Failure {
			if m != journaltest.MethodFinish {
				return journaltest.FailNot
			}
			if finished++; finished > 4 {
				return journaltest.FailNot
			}
			return journaltest.FailReplicas
		})
		if got := h.placed(t); got.Record.State != ordering.StatePlaced || got.Record.OrderID != "765" {
			t.Errorf("Place() = %+v, want a result", got.Record)
		}
		<-time.After(10 * time.Second) // in the synctest bubble
		synctest.Wait()
		if finished != 5 {
			t.Errorf("finished %d times, want 5: until the replicas have it", finished)
		}
		stop()
		if err := <-ended; err != nil {
			t.Errorf("Run() = %v", err)
		}
		if diff := cmp.Diff([]string{}, h.happened()); diff != "" {
			t.Errorf("events (-want +got):\n%s", diff)
		}
	})
}

// A resolution that too few replicas have is returned. It is written again until enough
// replicas have it, also if a failover has undone it (policy O14).
func TestUnreplicatedResolutionIsWrittenAgain(t *testing.T) {
	t.Parallel()
	h, was := unknown(t, upstream.OpCreate)
	var asked []journaltest.Method
	h.journal.Fail(func(m journaltest.Method) journaltest.Failure {
		if m != journaltest.MethodResolve && m != journaltest.MethodFinish {
			return journaltest.FailNot
		}
		if asked = append(asked, m); len(asked) > 3 {
			return journaltest.FailNot
		}
		return journaltest.FailReplicas
	})
	got, err := h.Resolve(t.Context(), resolution(was.Record.Ref, upstream.OpCreate, ordering.ResolvedDone))
	if err != nil || got.Record.State != ordering.StatePlaced || got.Record.OrderID != "900" {
		t.Fatalf("Resolve() = %+v, %v; want it resolved", got, err)
	}
	if err := h.Sweep(t.Context()); !errors.Is(err, ordering.ErrUnreplicated) {
		t.Errorf("Sweep() = %v, want ErrUnreplicated until replicas have it", err)
	}
	h.journal.Lose("main")
	for range 2 {
		if err := h.Sweep(t.Context()); err != nil {
			t.Errorf("Sweep() = %v", err)
		}
	}
	resolve, finish := journaltest.MethodResolve, journaltest.MethodFinish
	if diff := cmp.Diff([]journaltest.Method{resolve, resolve, finish, resolve, finish}, asked); diff != "" {
		t.Errorf("asked (-want +got):\n%s", diff)
	}
	r := h.record(t, was.Record.Ref)
	if resolved := r.Calls[0].Resolved; r.OrderID != "900" || resolved == nil || resolved.By != "ops" ||
		resolved.Resolution != ordering.ResolvedDone {
		t.Errorf("record %+v, want it as the operator resolved it", r)
	}
	if diff := cmp.Diff([]string{"order.recreated create done"}, h.happened()); diff != "" {
		t.Errorf("events (-want +got):\n%s", diff)
	}
}

// undone is a journal in which a failover undoes the first resolution.
type undone struct {
	ordering.Journal
	resolved *int
}

func (u undone) Resolve(ctx context.Context, s ordering.ResolveCall) (ordering.Record, error) {
	if *u.resolved++; *u.resolved > 1 {
		return u.Journal.Resolve(ctx, s)
	}
	r, err := u.Record(ctx, []string{s.Connection}, s.Ref)
	if err != nil {
		return r, err
	}
	r.State, r.OrderID, r.Calls[0].Outcome = ordering.StatePlaced, s.OrderID, ordering.OutcomeDone
	return r, ordering.ErrUnreplicated
}

// If a failover has made a call unknown again, it is resolved again in the same way (policy
// O14).
func TestUndoneResolutionIsWrittenAgain(t *testing.T) {
	t.Parallel()
	resolved := 0
	h := newHarness(t, ordering.DefaultConfig(), func(h *harness, d *ordering.Deps) { d.Journal = undone{h.journal, &resolved} })
	h.service.fails(lostAnswer())
	was, err := h.Place(t.Context(), placing())
	if err != nil {
		t.Fatal(err)
	}
	if _, err := h.Resolve(t.Context(), resolution(was.Record.Ref, upstream.OpCreate, ordering.ResolvedDone)); err != nil {
		t.Fatalf("Resolve() = %v", err)
	}
	for range 2 {
		if err := h.Sweep(t.Context()); err != nil {
			t.Errorf("Sweep() = %v", err)
		}
	}
	r := h.record(t, was.Record.Ref)
	if resolution := r.Calls[0].Resolved; resolved != 2 || r.OrderID != "900" || resolution == nil || resolution.By != "ops" {
		t.Errorf("resolved %d times: %+v, want it twice and as the operator resolved it", resolved, r)
	}
}

// If no replica has a result when larder stops, the result is logged.
func TestUnreplicatedResultAtTheEnd(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		h := newHarness(t, ordering.DefaultConfig())
		h.failing(journaltest.FailReplicas, journaltest.MethodFinish)
		h.placed(t)
		ctx, stop := context.WithCancel(t.Context())
		stop()
		if err := h.Run(ctx); err != nil {
			t.Errorf("Run() = %v", err)
		}
		if diff := cmp.Diff([]string{"order.unreplicated create done"}, h.happened()); diff != "" {
			t.Errorf("events (-want +got):\n%s", diff)
		}
	})
}

// If the record is lost during the call, the client still gets the result, and a retry with
// the key replays it (policy O14a).
func TestLostRecordIsWrittenAgain(t *testing.T) {
	t.Parallel()
	h := newHarness(t, ordering.DefaultConfig())
	h.service.answers(func(context.Context, exchange) (upstream.Answer, error) {
		h.journal.Lose("main")
		return done("765")
	})
	got := h.placed(t)
	again, err := h.Place(t.Context(), placing())
	if err != nil || !again.Replayed || again.Record.Ref != got.Record.Ref || again.Record.OrderID != "765" {
		t.Errorf("Place() again = %+v, %v; want it replayed", again.Record, err)
	}
	h.wantSent(t, 1)
	if diff := cmp.Diff([]string{"order.recreated create done"}, h.happened()); diff != "" {
		t.Errorf("events (-want +got):\n%s", diff)
	}
}

// A lost record is in Redis again, and another instance has swept the call in the meantime.
// The outcome of the call is still recorded.
func TestLateReturnOfALostRecord(t *testing.T) {
	t.Parallel()
	h := newHarness(t, ordering.DefaultConfig(), func(_ *harness, d *ordering.Deps) {
		d.Journal = &returning{Journal: d.Journal}
	})
	got := h.placed(t)
	if r := h.record(t, got.Record.Ref); r.State != ordering.StatePlaced || r.OrderID != "765" {
		t.Errorf("the record is %+v, want it placed", r)
	}
}

// returning is a journal that lacks the record at the first Finish. Afterwards the record
// is back, and the call is unknown.
type returning struct {
	ordering.Journal
	once sync.Once
}

func (r *returning) Finish(ctx context.Context, e ordering.CallResult) (ordering.Record, error) {
	lost := false
	r.once.Do(func() {
		lost = true
		swept := ordering.CallResult{
			Connection: e.Connection,
			Ref:        e.Ref,
			Call:       e.Call,
			Outcome:    ordering.OutcomeUnknown,
		}
		_, _ = r.Journal.Finish(ctx, swept) // the result is visible in the record
	})
	if lost {
		return ordering.Record{}, ordering.ErrNoOrder
	}
	return r.Journal.Finish(ctx, e)
}

// When Run ends, it watches the journals once more, even if writing the last results used
// all its time.
func TestLastWatchHasItsOwnTimeout(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		stuck := &stuck{}
		h := newHarness(t, ordering.DefaultConfig(), func(_ *harness, d *ordering.Deps) {
			stuck.Journal, d.Journal = d.Journal, stuck
		})
		h.placed(t)
		ctx, stop := context.WithCancel(t.Context())
		ended := make(chan error, 1)
		go func() { ended <- h.Run(ctx) }()
		synctest.Wait()
		stuck.ending.Store(true)
		stop()
		if err := <-ended; err != nil {
			t.Errorf("Run() = %v", err)
		}
		if n := stuck.watched.Load(); n != 2 {
			t.Errorf("%d connections were watched at the end, want 2", n)
		}
	})
}

// stuck is a journal whose Finish does not return. It counts the watches at the end that
// have time left.
type stuck struct {
	ordering.Journal
	ending  atomic.Bool
	watched atomic.Int32
}

func (s *stuck) Finish(ctx context.Context, _ ordering.CallResult) (ordering.Record, error) {
	<-ctx.Done()
	return ordering.Record{}, &ordering.JournalError{Err: ctx.Err()}
}

func (s *stuck) Watch(ctx context.Context, connection string) (ordering.JournalHealth, error) {
	if s.ending.Load() && ctx.Err() == nil {
		s.watched.Add(1)
	}
	return s.Journal.Watch(ctx, connection)
}

// changedHealth is a journal with another health.
type changedHealth struct {
	ordering.Journal
	change func(*ordering.JournalHealth)
}

func (c changedHealth) Watch(ctx context.Context, connection string) (ordering.JournalHealth, error) {
	health, err := c.Journal.Watch(ctx, connection)
	c.change(&health)
	return health, err
}

// An embedded Redis has no replicas. While settings of Redis prevent orders, the rule is not known: it is logged afterwards.
func TestNoRuleForReplicasIsLogged_O14b(t *testing.T) {
	t.Parallel()
	notReady := "WAIT is refused"
	for name, change := range map[string]func(*ordering.JournalHealth){
		"embedded":  func(h *ordering.JournalHealth) { h.Embedded = true },
		"not ready": func(h *ordering.JournalHealth) { h.NotReady = notReady },
	} {
		h := newHarness(t, ordering.DefaultConfig(), func(_ *harness, d *ordering.Deps) { d.Journal = changedHealth{d.Journal, change} })
		rules := func() (n int) {
			if err := h.Watch(t.Context(), "main"); err != nil {
				t.Fatal(err)
			}
			for _, line := range h.log.AllEntries() {
				if line.Data["event"] == "journal.rule" {
					n++
				}
			}
			return n
		}
		if n := rules(); n != 0 {
			t.Errorf("%s: %d rules are logged", name, n)
		}
		if name == "not ready" {
			if notReady = ""; rules() != 1 {
				t.Error("the rule is not logged once it is known")
			}
			notReady = "INFO is refused" // later, while larder runs
			_ = rules()
			if last := h.log.LastEntry(); last.Data["event"] != "order.not_ready" || !strings.Contains(last.Message, notReady) {
				t.Errorf("logged: %v %s; want order.not_ready", last.Data["event"], last.Message)
			}
		}
	}
}

// During a pause, a request whose key may be lost is not said to have placed nothing, also if it could not be placed now.
func TestARepeatedOrderDuringAPause_O14a(t *testing.T) {
	t.Parallel()
	for name, later := range map[string]func(h *harness, p *placeRequest){
		"not valid any more": func(_ *harness, p *placeRequest) { p.Body = []byte(menutest.Order(`[{"ID":"gone","quantity":1}]`)) },
		"the service is busy": func(h *harness, _ *placeRequest) {
			h.service.reserve = func(string) error { return upstream.ErrBusy }
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			h := newHarness(t, ordering.DefaultConfig())
			h.placed(t)
			h.journal.Lose("main")
			p := placing()
			later(h, &p)
			if _, err := h.Place(t.Context(), p); !is[*ordering.RestoredError](err) {
				t.Errorf("Place() = %v, want a *RestoredError", err)
			}
			if accepted, err := h.AcceptRestore(t.Context(), "main"); err != nil || !accepted {
				t.Errorf("AcceptRestore() = %t, %v", accepted, err)
			}
			if _, err := h.Place(t.Context(), p); err == nil || is[*ordering.RestoredError](err) {
				t.Errorf("Place() after the acceptance = %v, want the order's own error", err)
			}
		})
	}
}

// So is a repeated change: the first one may be lost.
func TestARepeatedChangeDuringAPause_O14a(t *testing.T) {
	t.Parallel()
	for name, later := range map[string]func(h *harness) ordering.ChangeRequest{
		"valid":     func(*harness) ordering.ChangeRequest { return changing(upstream.OpPay, fullPayment, compat) },
		"not valid": func(*harness) ordering.ChangeRequest { return changing(upstream.OpPay, `[]`, compat) },
		"the service is busy": func(h *harness) ordering.ChangeRequest {
			h.service.reserve = func(string) error { return upstream.ErrBusy }
			return changing(upstream.OpPay, fullPayment, compat)
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			h := newHarness(t, ordering.DefaultConfig())
			h.placed(t)
			h.journal.Lose("main")
			c := later(h)
			if _, err := h.Change(t.Context(), c); !is[*ordering.RestoredError](err) {
				t.Errorf("Change() = %v, want a *RestoredError", err)
			}
			if accepted, err := h.AcceptRestore(t.Context(), "main"); err != nil || !accepted {
				t.Errorf("AcceptRestore() = %t, %v", accepted, err)
			}
			if _, err := h.Change(t.Context(), c); is[*ordering.RestoredError](err) {
				t.Errorf("Change() after the acceptance = %v, want its own result", err)
			}
		})
	}
}

// Nothing is sent until the journal is accepted. The findings of Watch are available, and are
// logged and counted once.
func TestRestoredJournalPausesOrders_O14a(t *testing.T) {
	t.Parallel()
	h := newHarness(t, ordering.DefaultConfig())
	h.placed(t)
	if err := h.Watch(t.Context(), "main"); err != nil {
		t.Fatal(err)
	}
	if health, ok := h.Health("main"); !ok || !health.PausedAt.IsZero() || !strings.Contains(health.Rule(), "no replica") {
		t.Errorf("Health() = %+v, %t", health, ok)
	}
	h.journal.Lose("main")
	for range 2 {
		if err := h.Watch(t.Context(), "main"); err != nil {
			t.Fatal(err)
		}
		if _, err := h.Place(t.Context(), placing()); !is[*ordering.RestoredError](err) {
			t.Errorf("Place() = %v, want a *RestoredError", err)
		}
	}
	h.wantSent(t, 1)
	if health, _ := h.Health("main"); health.PausedAt.IsZero() {
		t.Errorf("Health() = %+v, want it paused", health)
	}
	if accepted, err := h.AcceptRestore(t.Context(), "main"); err != nil || !accepted {
		t.Errorf("AcceptRestore() = %t, %v", accepted, err)
	}
	h.placed(t)
	var logged []string
	for _, line := range h.log.AllEntries() {
		if event, _ := line.Data["event"].(string); strings.HasPrefix(event, "journal.") {
			logged = append(logged, event)
		}
	}
	if diff := cmp.Diff([]string{"journal.rule", "journal.restored", "journal.accepted"}, logged); diff != "" {
		t.Errorf("log (-want +got):\n%s", diff)
	}
	if diff := cmp.Diff([]string{"journal.restored  ", "journal.accepted  "}, h.happened()); diff != "" {
		t.Errorf("events (-want +got):\n%s", diff)
	}
}
