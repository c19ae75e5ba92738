package journaltest

import (
	"bytes"
	"context"
	"maps"
	"slices"
	"time"

	"larder.local/internal/upstream"
	"larder.local/ordering"
)

// sweepAtMost is how many calls one Sweep changes.
const sweepAtMost = 100

// Resolve records a person's resolution.
func (m *Memory) Resolve(ctx context.Context, resolution ordering.ResolveCall) (record ordering.Record, err error) {
	err = m.do(ctx, MethodResolve, func(now time.Time) error {
		s := m.store(resolution.Connection)
		e := s.entries[resolution.Ref]
		if e == nil {
			return ordering.ErrNoOrder
		}
		last, ok := e.record.LastUnknown(resolution.Operation)
		if resolution.Call != 0 {
			last, ok = e.record.Call(resolution.Call)
		}
		if !ok || last.Operation != resolution.Operation || last.Outcome != ordering.OutcomeUnknown ||
			resolution.SpecID != "" && resolution.SpecID != last.SpecID {
			return &ordering.StateError{Record: clone(e.record), Operation: resolution.Operation}
		}
		m.compare(resolution.Connection, now)
		if paused := m.paused[resolution.Connection]; resolution.Resolution == ordering.ResolvedRetry && !paused.IsZero() {
			return &ordering.RestoredError{Connection: resolution.Connection, Since: paused}
		}
		_, call := s.call(resolution.Ref, last.Number)
		if err := e.resolve(s, call, resolution, now, m.retention); err != nil {
			return err
		}
		record = clone(e.record)
		return nil
	})
	return given(record, err)
}

func (e *entry) resolve(
	s *connectionStore, call *ordering.Call, resolution ordering.ResolveCall, now time.Time, retention Retention,
) error {
	creates := call.Operation == upstream.OpCreate
	if resolution.Resolution == ordering.ResolvedDone && creates {
		if ref, ok := s.orders[resolution.OrderID]; ok && ref != resolution.Ref {
			other := &s.entries[ref].record
			if !other.Adopted {
				return &ordering.OrderIDTakenError{OrderID: resolution.OrderID, Ref: ref}
			}
			if busy, ok := other.Busy(); ok {
				return &ordering.BusyError{Record: clone(*other), Call: cloneCall(busy)}
			}
		}
	}
	what, again := e.sent[call.Number], resolution.Resolution == ordering.ResolvedRetry
	if again && (call.SpecID == "" || what.body == nil && call.Operation != upstream.OpComplete) {
		return ordering.ErrNoBody
	}
	if again {
		if err := e.allows(call); err != nil {
			return err
		}
	}
	call.Resolved = &ordering.ResolvedBy{
		By:         resolution.By,
		At:         now,
		Resolution: resolution.Resolution,
		Note:       resolution.Note,
	}
	result := ordering.CallResult{Outcome: ordering.OutcomeRefused}
	if resolution.Resolution == ordering.ResolvedDone {
		result.Outcome, result.OrderID = ordering.OutcomeDone, resolution.OrderID
	}
	e.end(s, call, result, now, retention)
	if !again {
		return nil
	}
	if creates {
		e.record.State = ordering.StatePlacing
	}
	e.open(ordering.Call{
		Operation:   call.Operation,
		Client:      call.Client,
		RequestID:   resolution.RequestID,
		Fingerprint: call.Fingerprint,
		Key:         what.key,
		SpecID:      resolution.ID,
		Derived:     call.Derived,
		Payments:    slices.Clone(call.Payments),
		ForGuest:    call.ForGuest,
	}, sent{
		opening:  resolution.ID,
		key:      what.key,
		body:     bytes.Clone(what.body),
		deadline: now.Add(resolution.Deadline),
	}, s, now)
	return nil
}

// allows returns an error if the order does not allow that the call is sent again.
func (e *entry) allows(again *ordering.Call) error {
	for _, call := range e.record.Calls {
		if !call.Outcome.Certain() && call.Number != again.Number {
			return &ordering.BusyError{Record: clone(e.record), Call: cloneCall(call)}
		}
	}
	changes := again.Operation != upstream.OpCreate
	if changes && (e.record.State != ordering.StatePlaced || again.Operation == upstream.OpPay && (e.record.Paid || e.record.PaidAfterAll())) {
		return &ordering.StateError{Record: clone(e.record), Operation: again.Operation}
	}
	return nil
}

// Sweep makes calls unknown after their deadline.
func (m *Memory) Sweep(ctx context.Context, connection string) (moved []ordering.Record, err error) {
	err = m.do(ctx, MethodSweep, func(now time.Time) error {
		entries := m.store(connection).entries
		for _, ref := range slices.Sorted(maps.Keys(entries)) {
			e := entries[ref]
			call, busy := e.record.Busy()
			if !busy || call.Outcome != ordering.OutcomeOpen || now.Before(e.sent[call.Number].deadline) {
				continue
			}
			if len(moved) == sweepAtMost {
				break
			}
			_, open := m.store(connection).call(e.record.Ref, call.Number)
			open.Outcome = ordering.OutcomeUnknown
			e.record.UpdatedAt = now
			e.applyOutcome(m.store(connection), open, "")
			moved = append(moved, clone(e.record))
		}
		return nil
	})
	if err != nil {
		return nil, err
	}
	return moved, nil
}
