// Package journaltest holds what every ordering.Journal must do, as a suite of
// tests, and Memory, a journal for tests that need no Redis.
//
// Run is the suite: each sentence of ordering.Journal's documentation that can
// be seen from outside is a test of it. An implementation is right when Run
// passes over a fresh, empty store for each Fixture. Memory passes it too, so
// what is tested over Memory (the simulation, in a synctest bubble) holds over
// any other.
//
// Only tests import this package. It starts goroutines only within a test that
// waits for them, and reads no clock but the real one, to wait.
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

	"larder/internal/upstream"
	"larder/ordering"
)

// Fixture is a journal over an empty store of its own.
type Fixture struct {
	Journal ordering.Journal
	// Again opens one more journal over the same store, as another replica or
	// the next start does.
	Again func(t *testing.T) ordering.Journal
	// Advance lets time pass for the store: its clock and its expiries. nil
	// where only real time can pass.
	Advance func(t *testing.T, d time.Duration)
	// Lose deletes everything that the store has of a connection.
	Lose func(t *testing.T, connection string)
}

// Open makes a Fixture whose journal keeps things for a retention. With a
// store that has real time only (no Advance) the suite asks for about a second
// where it waits for the end of it.
type Open func(t *testing.T, retention Retention) Fixture

// Run is the suite. Each test opens a Fixture of its own; they run in parallel.
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

// test runs one test of the suite over a fresh fixture that keeps everything.
func (s suite) test(t *testing.T, name string, body func(t *testing.T, j *journal)) {
	t.Helper()
	t.Run(name, func(t *testing.T) {
		t.Parallel()
		body(t, newJournal(s.open(t, LongRetention())))
	})
}

// shortRetention is as short as real time allows where a test waits for the end of it,
// and long enough for a busy machine to look before that.
func shortRetention() Retention {
	return Retention{Key: time.Second, Guest: 2 * time.Second, Record: 5 * time.Second}
}

const (
	conn  = "main"  // the connection of most tests
	other = "other" // another one
	// slack is what is waited beyond a deadline or a retention.
	slack = 400 * time.Millisecond
	// long is a deadline that no test sees.
	long = time.Hour
	// brief is a deadline that a test sees pass.
	brief = 50 * time.Millisecond
	// tick is enough for a later moment of the journal's clock.
	tick = 2 * time.Millisecond
)

// journal is a fixture's journal, with the usual steps of a test.
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

// id returns a reference nobody has.
func id() string { return rand.Text() }

// create is an order about to be placed.
func create(change ...func(*ordering.CallSpec)) ordering.CallSpec {
	o := ordering.CallSpec{
		ID: id(), Operation: upstream.OpCreate, Connection: conn, Ref: id(), Key: id(), Fingerprint: "f-" + id(),
		Client: "storefront", RequestID: "request-1", Body: []byte(`{"dishList":[{"ID":"7","quantity":1}]}`),
		Deadline: long, Restaurant: "r1", MenuVersion: 42,
		Total:      decimal.NewNullDecimal(decimal.RequireFromString("199.90")),
		ExpectedAt: time.Date(2030, 5, 1, 12, 30, 0, 0, time.UTC),
	}
	for _, c := range change {
		c(&o)
	}
	return o
}

// change is a call about to change an order.
func change(op ordering.Operation, orderID string, also ...func(*ordering.CallSpec)) ordering.CallSpec {
	o := ordering.CallSpec{
		ID: id(), Operation: op, Connection: conn, Ref: id(), OrderID: orderID, Key: id(), Fingerprint: "f-" + id(),
		Client: "storefront", RequestID: "request-2", Deadline: long,
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

func derived(o *ordering.CallSpec) { o.Derived = true }
func adopt(o *ordering.CallSpec)   { o.Adopt = true }

// resultOf is a result of the last call of a record.
func resultOf(r ordering.Record, outcome ordering.Outcome, orderID string) ordering.CallResult {
	return ordering.CallResult{
		Connection: r.Connection, Ref: r.Ref, Call: r.Calls[len(r.Calls)-1].Number, Outcome: outcome, OrderID: orderID,
	}
}

// begun opens a call that must open.
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

// ended ends a record's last call, which must go.
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

// swept opens a call, lets its deadline pass and has it swept.
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

// now reads a record anew.
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

// wantKey checks who has taken a key; call 0: nobody.
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

// wantState checks where an order stands, as given and as read anew.
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

// wantError checks that err is of the type E and gives it.
func wantError[E error](t *testing.T, what string, err error) (e E) {
	t.Helper()
	if !errors.As(err, &e) {
		t.Fatalf("%s: error %v (%T), want a %s", what, err, err, fmt.Sprintf("%T", e))
	}
	return e
}

// wantType checks that err is of the type E.
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
