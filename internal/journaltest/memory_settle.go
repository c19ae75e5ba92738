package journaltest

import (
	"bytes"
	"context"
	"maps"
	"slices"
	"time"

	"larder/internal/upstream"
	"larder/ordering"
)

// sweepAtMost is how many calls one Sweep moves.
const sweepAtMost = 100

// Resolve notes what a person found out.
func (m *Memory) Resolve(ctx context.Context, word ordering.ResolveCall) (record ordering.Record, err error) {
	err = m.do(ctx, MethodResolve, func(now time.Time) error {
		s := m.shelf(word.Connection)
		e := s.entries[word.Ref]
		if e == nil {
			return ordering.ErrNoOrder
		}
		last, ok := e.record.Last(word.Operation)
		if !ok || last.Outcome != ordering.OutcomeUnknown || word.Call != 0 && word.Call != last.Number ||
			word.SpecID != "" && word.SpecID != last.SpecID {
			return &ordering.StateError{Record: clone(e.record), Operation: word.Operation}
		}
		m.compare(word.Connection, now)
		if paused := m.paused[word.Connection]; word.Resolution == ordering.ResolvedRetry && word.Operation == upstream.OpCreate && !paused.IsZero() {
			return &ordering.RestoredError{Connection: word.Connection, Since: paused}
		}
		_, call := s.call(word.Ref, last.Number)
		if err := e.settle(s, call, word, now, m.lives); err != nil {
			return err
		}
		record = clone(e.record)
		return nil
	})
	return given(record, err)
}

func (e *entry) settle(s *shelf, call *ordering.Call, word ordering.ResolveCall, now time.Time, lives Lives) error {
	creates := call.Operation == upstream.OpCreate
	if word.Resolution == ordering.ResolvedDone && creates {
		if ref, ok := s.orders[word.OrderID]; ok && ref != word.Ref {
			other := &s.entries[ref].record
			if !other.Adopted {
				return &ordering.OrderIDTakenError{OrderID: word.OrderID, Ref: ref}
			}
			if busy, ok := other.Busy(); ok {
				return &ordering.BusyError{Record: clone(*other), Call: cloneCall(busy)}
			}
		}
	}
	what := e.sent[call.Number]
	if word.Resolution == ordering.ResolvedRetry && what.body == nil && call.Operation != upstream.OpComplete {
		return ordering.ErrNoBody
	}
	call.Resolved = &ordering.ResolvedBy{By: word.By, At: now, Resolution: word.Resolution, Note: word.Note}
	ending := ordering.CallResult{Outcome: ordering.OutcomeRefused}
	if word.Resolution == ordering.ResolvedDone {
		ending.Outcome, ending.OrderID = ordering.OutcomeDone, word.OrderID
	}
	e.end(s, call, ending, now, lives)
	if word.Resolution != ordering.ResolvedRetry {
		return nil
	}
	if creates {
		e.record.State = ordering.StatePlacing
	}
	e.open(ordering.Call{
		Operation: call.Operation, Client: call.Client, RequestID: word.RequestID, Fingerprint: call.Fingerprint,
		Key: what.key, SpecID: word.ID,
		Derived: call.Derived, Payments: slices.Clone(call.Payments),
	}, sent{opening: word.ID, key: what.key, body: bytes.Clone(what.body), deadline: now.Add(word.Deadline)}, s, now)
	return nil
}

// Sweep moves calls whose deadline has passed to unknown.
func (m *Memory) Sweep(ctx context.Context, connection string) (moved []ordering.Record, err error) {
	err = m.do(ctx, MethodSweep, func(now time.Time) error {
		entries := m.shelf(connection).entries
		for _, ref := range slices.Sorted(maps.Keys(entries)) {
			e := entries[ref]
			call, busy := e.record.Busy()
			if !busy || call.Outcome != ordering.OutcomeOpen || now.Before(e.sent[call.Number].deadline) {
				continue
			}
			if len(moved) == sweepAtMost {
				break
			}
			_, open := m.shelf(connection).call(e.record.Ref, call.Number)
			open.Outcome = ordering.OutcomeUnknown
			e.record.UpdatedAt = now
			e.stand(m.shelf(connection), open, "")
			moved = append(moved, clone(e.record))
		}
		return nil
	})
	if err != nil {
		return nil, err
	}
	return moved, nil
}
