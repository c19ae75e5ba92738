package journaltest

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"sync"
	"time"

	"larder.local/ordering"
)

// Retention is how long a journal keeps its data (policies O7 and O13).
type Retention struct {
	// Key is how long a key is kept after a certain outcome.
	Key time.Duration
	// Guest is how long bodies and raw answers are kept.
	Guest time.Duration
	// Record is how long a record is kept after the later of its creation and
	// expectedAt.
	Record time.Duration
}

// LongRetention returns the defaults of the configuration: nothing expires during a
// test.
func LongRetention() Retention {
	return Retention{Key: 24 * time.Hour, Guest: 7 * 24 * time.Hour, Record: 45 * 24 * time.Hour}
}

// Method is a method of ordering.Journal.
type Method string

// The methods.
const (
	MethodWatch      Method = "Watch"
	MethodAccept     Method = "Accept"
	MethodRecreate   Method = "Recreate"
	MethodReady      Method = "Ready"
	MethodSecret     Method = "Secret"
	MethodLookup     Method = "Lookup"
	MethodBegin      Method = "Begin"
	MethodAbort      Method = "Abort"
	MethodFinish     Method = "Finish"
	MethodEndRecheck Method = "EndRecheck"
	MethodResolve    Method = "Resolve"
	MethodSweep      Method = "Sweep"
	MethodOrder      Method = "Order"
	MethodRecord     Method = "Record"
	MethodBody       Method = "Body"
	MethodList       Method = "List"
)

// Failure is how a call of the journal fails.
type Failure int

// The failures.
const (
	// FailNot: the call succeeds.
	FailNot Failure = iota
	// FailBefore: the call did not reach the store.
	FailBefore
	// FailAfter: the store executed the call, and the response was lost.
	FailAfter
	// FailReplicas: the store executed the call, and too few replicas have it.
	// Begin undoes it.
	FailReplicas
)

// ErrInjected is the cause of every *ordering.JournalError that Fail injected.
var ErrInjected = errors.New("journaltest: injected failure")

// Memory is an ordering.Journal in memory. It is safe for concurrent use.
type Memory struct {
	clock     func() time.Time
	retention Retention
	secret    []byte

	mu     sync.Mutex
	fail   func(Method) Failure
	stores map[string]*connectionStore // by connection
	lost   map[string]bool             // connections with a data loss that was not accepted
	paused map[string]time.Time
}

var _ ordering.Journal = (*Memory)(nil)

// connectionStore is the journal's data of one connection.
type connectionStore struct {
	entries map[string]*entry // by ref
	orders  map[string]string // orderID to ref
	keys    map[string]keyOwner
}

// keyOwner is the call that owns a key.
type keyOwner struct {
	ref   string
	call  int
	until time.Time // zero while the call has no certain outcome
}

// entry is an order with the data that its Record does not have.
type entry struct {
	record ordering.Record
	sent   map[int]sent // by the call's number
}

// sent is the data of a call that ordering.Call does not have.
type sent struct {
	opening  string // CallSpec.ID
	key      string
	body     []byte
	deadline time.Time
}

// NewMemory returns an empty journal that reads the time from clock.
func NewMemory(clock func() time.Time, retention Retention) *Memory {
	secret := make([]byte, 32)
	_, _ = rand.Read(secret) // never fails (crypto/rand)
	return &Memory{
		clock:     clock,
		retention: retention,
		secret:    secret,
		stores:    map[string]*connectionStore{},
		lost:      map[string]bool{},
		paused:    map[string]time.Time{},
	}
}

// Fail sets a hook that decides how each call fails; nil removes it. The hook runs
// under the journal's lock: it must not call the journal.
func (m *Memory) Fail(hook func(Method) Failure) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.fail = hook
}

// Ready returns nil: a journal in memory is always writable.
func (m *Memory) Ready(ctx context.Context, _ string) error {
	return m.do(ctx, MethodReady, func(time.Time) error { return nil })
}

// Lose deletes all data of a connection, as if the store was emptied while the
// journal ran.
func (m *Memory) Lose(connection string) {
	m.mu.Lock()
	defer m.mu.Unlock()
	delete(m.stores, connection)
	m.lost[connection] = true
}

// Watch notices the effect of Lose.
func (m *Memory) Watch(ctx context.Context, connection string) (h ordering.JournalHealth, err error) {
	err = m.do(ctx, MethodWatch, func(now time.Time) error {
		m.compare(connection, now)
		h = ordering.JournalHealth{Automatic: true, PausedAt: m.paused[connection]}
		return nil
	})
	return h, err
}

// Paused notices the effect of Lose too.
func (m *Memory) Paused(ctx context.Context, connection string) (since time.Time, err error) {
	err = m.do(ctx, MethodWatch, func(now time.Time) error {
		m.compare(connection, now)
		since = m.paused[connection]
		return nil
	})
	return since, err
}

// compare pauses a connection that has lost its data.
func (m *Memory) compare(connection string, now time.Time) {
	if m.lost[connection] && m.paused[connection].IsZero() {
		m.paused[connection] = now
	}
}

// Accept ends a pause.
func (m *Memory) Accept(ctx context.Context, connection string) (accepted bool, err error) {
	err = m.do(ctx, MethodAccept, func(time.Time) error {
		_, accepted = m.paused[connection]
		delete(m.paused, connection)
		delete(m.lost, connection)
		return nil
	})
	return accepted, err
}

// do executes one step under the lock, at one time of the journal's clock, with the
// injected failures.
func (m *Memory) do(ctx context.Context, method Method, step func(now time.Time) error) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	failure := FailNot
	if m.fail != nil {
		failure = m.fail(method)
	}
	if err := ctx.Err(); err != nil {
		return &ordering.JournalError{Err: err}
	}
	if failure == FailBefore {
		return &ordering.JournalError{Err: fmt.Errorf("%s: %w", method, ErrInjected)}
	}
	now := m.clock().UTC().Truncate(time.Millisecond)
	m.dropExpired(now)
	err := step(now)
	if failure == FailReplicas && err == nil {
		return ordering.ErrUnreplicated
	}
	if failure == FailAfter {
		return &ordering.JournalError{Err: fmt.Errorf("%s: answer lost: %w", method, ErrInjected)}
	}
	return err
}

func (m *Memory) store(connection string) *connectionStore {
	s := m.stores[connection]
	if s == nil {
		s = &connectionStore{entries: map[string]*entry{}, orders: map[string]string{}, keys: map[string]keyOwner{}}
		m.stores[connection] = s
	}
	return s
}

// dropExpired deletes data after its retention (policy O13).
func (m *Memory) dropExpired(now time.Time) {
	for _, s := range m.stores {
		for ref, e := range s.entries {
			if _, busy := e.record.Busy(); busy {
				continue // keeps everything
			}
			if !now.Before(e.expires(m.retention)) {
				delete(s.entries, ref)
				if s.orders[e.record.OrderID] == ref {
					delete(s.orders, e.record.OrderID)
				}
				continue
			}
			e.dropCustomerData(now, m.retention.Guest)
		}
		for key, k := range s.keys {
			e := s.entries[k.ref]
			if e == nil || (!k.until.IsZero() && !now.Before(k.until)) {
				delete(s.keys, key)
			}
		}
	}
}

func (e *entry) expires(retention Retention) time.Time {
	until := e.record.CreatedAt.Add(retention.Record)
	if t := e.record.ExpectedAt.Add(retention.Record); !e.record.ExpectedAt.IsZero() && t.After(until) {
		until = t
	}
	for _, call := range e.record.Calls {
		if t := ended(call).Add(retention.Guest); t.After(until) {
			until = t
		}
	}
	return until
}

func (e *entry) dropCustomerData(now time.Time, life time.Duration) {
	for i, call := range e.record.Calls {
		if now.Before(ended(call).Add(life)) {
			continue
		}
		if s := e.sent[call.Number]; s.body != nil {
			s.body = nil
			e.sent[call.Number] = s
		}
		if a := call.Answer; a != nil {
			e.record.Calls[i].Answer = &ordering.Answer{Status: a.Status, Code: a.Code}
		}
	}
}

// ended returns when a call that is not in progress ended for good.
func ended(call ordering.Call) time.Time {
	t := call.EndedAt
	if call.Resolved != nil && call.Resolved.At.After(t) {
		t = call.Resolved.At
	}
	return t
}
