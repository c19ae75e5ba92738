// Package journaltest contains the tests that every ordering.Journal must pass, and
// Memory, a journal for tests without Redis.
//
// Run is the suite: it tests each sentence of ordering.Journal's documentation that
// is visible from outside. An implementation is correct if Run passes over an empty
// store for each Fixture. Memory passes it too, so results over Memory (the
// simulation, in a synctest bubble) hold over any other.
//
// Only tests import this package. It starts goroutines only within a test that
// waits for them, and reads only the real clock, to wait.
package journaltest

import (
	"crypto/rand"
	"errors"
	"fmt"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	"github.com/shopspring/decimal"

	"larder.local/internal/upstream"
	"larder.local/ordering"
)

// Fixture is a journal with its own empty store.
type Fixture struct {
	Journal ordering.Journal
	// Again opens one more journal over the same store, like another instance or
	// the next start.
	Again func(t *testing.T) ordering.Journal
	// Advance advances the store's clock and its expiries; nil if only real time
	// passes.
	Advance func(t *testing.T, d time.Duration)
	// Lose deletes all data of a connection from the store.
	Lose func(t *testing.T, connection string)
}

// Open makes a Fixture whose journal uses the given retention. If the store has no
// Advance, the suite passes about a second where it waits for the end of the
// retention.
type Open func(t *testing.T, retention Retention) Fixture

// Run is the suite. Each test opens its own Fixture; they run in parallel.
func Run(t *testing.T, open Open) {
	t.Helper()
	s := suite{open: open}
	for _, part := range []struct {
		name string
		run  func(t *testing.T)
	}{
		{"Begin", s.begin},
		{"Key", s.key},
		{"Abort", s.abort},
		{"Finish", s.finish},
		{"Recheck", s.recheck},
		{"Contradiction", s.contradiction},
		{"Sweep", s.sweep},
		{"Resolve", s.resolve},
		{"OrderID", s.orderID},
		{"Isolation", s.isolation},
		{"Read", s.read},
		{"List", s.list},
		{"Retention", s.retention},
		{"Restored", s.restored},
		{"Race", s.race},
	} {
		t.Run(part.name, part.run)
	}
}

type suite struct{ open Open }

// test runs one test of the suite with a new fixture that keeps everything.
func (s suite) test(t *testing.T, name string, body func(t *testing.T, j *journal)) {
	t.Helper()
	t.Run(name, func(t *testing.T) {
		t.Parallel()
		body(t, newJournal(s.open(t, LongRetention())))
	})
}

// shortRetention is short enough to wait for in real time, and long enough for a
// busy machine to read before its end.
func shortRetention() Retention {
	return Retention{Key: time.Second, Guest: 2 * time.Second, Record: 5 * time.Second}
}

const (
	conn  = "main"  // the connection of most tests
	other = "other" // another one
	// slack is the extra wait after a deadline or a retention.
	slack = 400 * time.Millisecond
	// long is a deadline that no test reaches.
	long = time.Hour
	// brief is a deadline that a test waits for.
	brief = 50 * time.Millisecond
	// tick is enough for a later moment of the journal's clock.
	tick = 2 * time.Millisecond
)

// journal is a fixture's journal with common test steps.
type journal struct {
	ordering.Journal
	fixture Fixture
}

func newJournal(f Fixture) *journal { return &journal{Journal: f.Journal, fixture: f} }

// pass lets time pass.
func (j *journal) pass(t *testing.T, d time.Duration) {
	t.Helper()
	if j.fixture.Advance != nil {
		j.fixture.Advance(t, d)
		return
	}
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C:
	case <-t.Context().Done():
		t.Fatalf("the test ended while %s had to pass", d)
	}
}

// id returns a new reference.
func id() string { return rand.Text() }

// create returns the call of a new order.
func create(change ...func(*ordering.CallSpec)) ordering.CallSpec {
	o := ordering.CallSpec{
		ID:          id(),
		Operation:   upstream.OpCreate,
		Connection:  conn,
		Ref:         id(),
		Key:         id(),
		Fingerprint: "f-" + id(),
		Client:      "storefront",
		RequestID:   "request-1",
		Body:        []byte(`{"dishList":[{"ID":"7","quantity":1}]}`),
		Deadline:    long,
		Restaurant:  "r1",
		MenuVersion: 42,
		Total:       decimal.NewNullDecimal(decimal.RequireFromString("199.90")),
		ExpectedAt:  time.Date(2030, 5, 1, 12, 30, 0, 0, time.UTC),
	}
	for _, c := range change {
		c(&o)
	}
	return o
}

// change returns the call of a change of an order.
func change(op ordering.Operation, orderID string, also ...func(*ordering.CallSpec)) ordering.CallSpec {
	o := ordering.CallSpec{
		ID:          id(),
		Operation:   op,
		Connection:  conn,
		Ref:         id(),
		OrderID:     orderID,
		Key:         id(),
		Fingerprint: "f-" + id(),
		Client:      "storefront",
		RequestID:   "request-2",
		Deadline:    long,
	}
	switch op {
	case upstream.OpPay:
		o.Body = []byte(`[{"code":"c","amount":199.9}]`)
		o.Payments = []ordering.Payment{{
			Code: "c", Amount: decimal.RequireFromString("199.9"), PaidAt: "2030-05-01T12:00:00+03:00",
		}}
	case upstream.OpReject:
		o.Body = []byte(`{"rejectionReasonID":"1","rejectionReasonText":""}`)
	default: // a completion has no body
	}
	for _, c := range also {
		c(&o)
	}
	return o
}

func within(d time.Duration) func(*ordering.CallSpec) {
	return func(o *ordering.CallSpec) { o.Deadline = d }
}

func underKey(key string) func(*ordering.CallSpec) {
	return func(o *ordering.CallSpec) { o.Key = key }
}

func on(connection string) func(*ordering.CallSpec) {
	return func(o *ordering.CallSpec) { o.Connection = connection }
}

// elsewhere makes an order one of another restaurant, which may have the same orderID at the same time (policy O17).
func elsewhere(o *ordering.CallSpec) { o.Restaurant = "r2" }

func derived(o *ordering.CallSpec) { o.Derived = true }
func adopt(o *ordering.CallSpec)   { o.Adopt = true }

// resultOf returns a result of the last call of a record.
func resultOf(r ordering.Record, outcome ordering.Outcome, orderID string) ordering.CallResult {
	known := clone(r)
	return ordering.CallResult{
		Connection: r.Connection,
		Ref:        r.Ref,
		Call:       r.Calls[len(r.Calls)-1].Number,
		Outcome:    outcome,
		OrderID:    orderID,
		Known:      &known,
	}
}

// begun begins a call that must succeed.
func (j *journal) begun(t *testing.T, o ordering.CallSpec) ordering.Record {
	t.Helper()
	r, err := j.Begin(t.Context(), o)
	if err != nil {
		t.Fatalf("Begin of a %s: %v", o.Operation, err)
	}
	if n := len(r.Calls); n == 0 || r.Calls[n-1].Outcome != ordering.OutcomeOpen {
		t.Fatalf("Begin of a %s: the last of the calls %+v is not open", o.Operation, r.Calls)
	}
	return r
}

// ended finishes a record's last call, which must succeed.
func (j *journal) ended(t *testing.T, r ordering.Record, outcome ordering.Outcome, orderID string) ordering.Record {
	t.Helper()
	r, err := j.Finish(t.Context(), resultOf(r, outcome, orderID))
	if err != nil {
		t.Fatalf("Finish(%s): %v", outcome, err)
	}
	return r
}

// placed places an order.
func (j *journal) placed(t *testing.T, orderID string, change ...func(*ordering.CallSpec)) ordering.Record {
	t.Helper()
	return j.ended(t, j.begun(t, create(change...)), ordering.OutcomeDone, orderID)
}

// swept begins a call, lets its deadline pass and sweeps it.
func (j *journal) swept(t *testing.T, o ordering.CallSpec) ordering.Record {
	t.Helper()
	o.Deadline = brief
	r := j.begun(t, o)
	j.pass(t, brief+slack)
	moved, err := j.Sweep(t.Context(), o.Connection)
	if err != nil {
		t.Fatalf("Sweep: %v", err)
	}
	for _, m := range moved {
		if m.Ref == r.Ref {
			return m
		}
	}
	t.Fatalf("Sweep moved %v, want %s among them", refs(moved), r.Ref)
	return r
}

// now reads a record again.
func (j *journal) now(t *testing.T, r ordering.Record) ordering.Record {
	t.Helper()
	got, err := j.Record(t.Context(), []string{r.Connection}, r.Ref)
	if err != nil {
		t.Fatalf("Record(%s): %v", r.Ref, err)
	}
	return got
}

// lookup looks a key up; found reports whether it is taken.
func (j *journal) lookup(t *testing.T, key string) (r ordering.Record, call int, found bool) {
	t.Helper()
	r, call, err := j.Lookup(t.Context(), conn, key)
	if errors.Is(err, ordering.ErrKeyFree) {
		return r, 0, false
	}
	if err != nil {
		t.Fatalf("Lookup: %v", err)
	}
	return r, call, true
}

// wantKey checks the owner of a key; call 0: none.
func (j *journal) wantKey(t *testing.T, key, ref string, call int) {
	t.Helper()
	r, got, found := j.lookup(t, key)
	if got != call || (found && r.Ref != ref) {
		t.Errorf("Lookup gives call %d of %q, want call %d of %q", got, r.Ref, call, ref)
	}
	if _, ok := r.Call(got); found && !ok {
		t.Errorf("Lookup gives call %d, which its record has not", got)
	}
}

// wantState checks the state of an order, in the given record and as read again.
func (j *journal) wantState(t *testing.T, r ordering.Record, state ordering.State, last ordering.Outcome) {
	t.Helper()
	for name, r := range map[string]ordering.Record{"given": r, "read anew": j.now(t, r)} {
		if r.State != state {
			t.Errorf("%s: state is %s, want %s", name, r.State, state)
		}
		if n := len(r.Calls); n == 0 || r.Calls[n-1].Outcome != last {
			t.Errorf("%s: calls are %+v, want the last %s", name, r.Calls, last)
		}
	}
}

// same compares records, decimals and times by value.
func same(t *testing.T, what string, got, want any) {
	t.Helper()
	if d := cmp.Diff(want, got, cmpopts.EquateEmpty()); d != "" {
		t.Errorf("%s (-want +got):\n%s", what, d)
	}
}

func refs(records []ordering.Record) []string {
	out := make([]string, 0, len(records))
	for _, r := range records {
		out = append(out, r.Ref)
	}
	return out
}

// wantError checks that err is of type E and returns it.
func wantError[E error](t *testing.T, what string, err error) (e E) {
	t.Helper()
	if !errors.As(err, &e) {
		t.Fatalf("%s: error %v (%T), want a %s", what, err, err, fmt.Sprintf("%T", e))
	}
	return e
}

// wantType checks that err is of type E.
func wantType[E error](t *testing.T, what string, err error) {
	t.Helper()
	_ = wantError[E](t, what, err) // which ends the test
}

func wantIs(t *testing.T, what string, err, want error) {
	t.Helper()
	if !errors.Is(err, want) {
		t.Errorf("%s: error %v, want %v", what, err, want)
	}
}
