package journaltest

import (
	"bytes"
	"context"
	"errors"
	"slices"
	"time"

	"larder.local/internal/upstream"
	"larder.local/ordering"
)

// Finish finishes a call.
func (m *Memory) Finish(ctx context.Context, result ordering.CallResult) (record ordering.Record, err error) {
	err = m.do(ctx, MethodFinish, func(now time.Time) error {
		s := m.store(result.Connection)
		e, call := s.call(result.Ref, result.Call)
		if call == nil || result.SpecID != "" && result.SpecID != call.SpecID {
			return ordering.ErrNoOrder
		}
		err := e.finish(s, call, result, now, m.retention)
		record = clone(e.record)
		return err
	})
	return given(record, err)
}

// EndRecheck ends the recheck of a refused create.
func (m *Memory) EndRecheck(ctx context.Context, connection, ref string, number int, explained bool) error {
	return m.do(ctx, MethodEndRecheck, func(now time.Time) error {
		s := m.store(connection)
		e, call := s.call(ref, number)
		switch {
		case e == nil:
			return ordering.ErrNoOrder
		case call == nil || call.Recheck != ordering.RecheckRunning || explained && recheckOver(call, now):
			return ordering.ErrRecheckOver
		}
		call.Recheck, e.record.UpdatedAt = ordering.RecheckNone, now
		if explained {
			call.Recheck = ordering.RecheckExplained
			s.release(call.Key, ref, number)
		}
		return nil
	})
}

func recheckOver(call *ordering.Call, now time.Time) bool {
	return now.After(call.EndedAt.Add(ordering.RecheckTime))
}

// owner returns the record of a key's owner. A recheck that is over does not show.
func (s *connectionStore) owner(k keyOwner, now time.Time) ordering.Record {
	record := clone(s.entries[k.ref].record)
	for i := range record.Calls {
		if call := &record.Calls[i]; call.Recheck == ordering.RecheckRunning && recheckOver(call, now) {
			call.Recheck = ordering.RecheckNone
		}
	}
	return record
}

// Recreate writes a lost call, and its record.
func (m *Memory) Recreate(ctx context.Context, known ordering.Record, number int, body []byte) (r ordering.Record, n int, err error) {
	err = m.do(ctx, MethodRecreate, func(now time.Time) error {
		s := m.store(known.Connection)
		call, ok := known.Call(number)
		if !ok {
			return ordering.ErrNoOrder
		}
		e := s.entries[known.Ref]
		if e == nil {
			e = s.put(clone(known))
			for _, c := range e.record.Calls {
				s.recreate(e, c, m.retention, now)
			}
			e.sent[number] = sent{opening: call.SpecID, key: call.Key, body: bytes.Clone(body)}
			if known.OrderID != "" {
				e.setOrderID(s, known.OrderID)
			}
		}
		i := slices.IndexFunc(e.record.Calls, func(c ordering.Call) bool { return c.SpecID == call.SpecID })
		if i < 0 {
			e.record.Paid = e.record.Paid || known.Paid
			e.endKnown(s, known, now, m.retention)
			for _, c := range known.Calls {
				there := slices.ContainsFunc(e.record.Calls, func(have ordering.Call) bool { return have.SpecID == c.SpecID })
				if !there && c.SpecID != "" && c.Number < number && c.Outcome.Certain() {
					e.addKnown(s, known, c, nil, m.retention, now)
				}
			}
			e.addKnown(s, known, call, body, m.retention, now)
			i = len(e.record.Calls) - 1
		}
		r, n = clone(e.record), e.record.Calls[i].Number
		return nil
	})
	if err != nil && !errors.Is(err, ordering.ErrUnreplicated) {
		return ordering.Record{}, 0, err
	}
	return r, n, err
}

// endKnown ends the calls that have ended, and whose end was lost.
func (e *entry) endKnown(s *connectionStore, known ordering.Record, now time.Time, retention Retention) {
	for i := range e.record.Calls {
		there := &e.record.Calls[i]
		k := slices.IndexFunc(known.Calls, func(c ordering.Call) bool { return c.SpecID == there.SpecID && c.Outcome.Certain() })
		switch {
		case k < 0:
		case !there.Outcome.Certain():
			call := cloneCall(known.Calls[k])
			there.Resolved = call.Resolved
			e.end(s, there, ordering.CallResult{Outcome: call.Outcome, Answer: call.Answer, OrderID: known.OrderID}, now, retention)
			e.record.Calls[i].EndedAt = call.EndedAt // end may have added a call
		case (there.Outcome == ordering.OutcomeDone) != (known.Calls[k].Outcome == ordering.OutcomeDone):
			there.Contradicted = known.Calls[k].Outcome
			if there.Operation == upstream.OpCreate && there.Contradicted == ordering.OutcomeDone {
				there.FoundOrderID = known.OrderID
			}
		}
	}
}

// addKnown adds a call that was lost, with a new number if another call has its own.
func (e *entry) addKnown(
	s *connectionStore, known ordering.Record, call ordering.Call, body []byte, retention Retention, now time.Time,
) {
	call = cloneCall(call)
	call.Number = e.freeNumber(call.Number)
	e.record.Calls = append(e.record.Calls, call)
	e.sent[call.Number] = sent{opening: call.SpecID, key: call.Key, body: bytes.Clone(body)}
	s.recreate(e, call, retention, now)
	e.applyOutcome(s, &call, known.OrderID)
}

func (e *entry) freeNumber(least int) int {
	for _, call := range e.record.Calls {
		least = max(least, call.Number+1)
	}
	return least
}

// recreate restores the key of a lost call, unless another call has it.
func (s *connectionStore) recreate(e *entry, call ordering.Call, retention Retention, now time.Time) {
	if _, ok := s.keys[call.Key]; ok || call.Key == "" || call.Outcome == ordering.OutcomeNotSent ||
		call.Outcome == ordering.OutcomeRefused && (call.Derived || call.Recheck == ordering.RecheckExplained) ||
		call.Resolved != nil && call.Resolved.Resolution == ordering.ResolvedRetry {
		return
	}
	k := keyOwner{ref: e.record.Ref, call: call.Number}
	if call.Outcome.Certain() {
		k.until = now.Add(retention.Key)
	}
	s.keys[call.Key] = k
	if _, ok := e.sent[call.Number]; !ok {
		e.sent[call.Number] = sent{opening: call.SpecID, key: call.Key}
	}
}

func (s *connectionStore) call(ref string, number int) (*entry, *ordering.Call) {
	e := s.entries[ref]
	if e == nil {
		return nil, nil
	}
	for i := range e.record.Calls {
		if e.record.Calls[i].Number == number {
			return e, &e.record.Calls[i]
		}
	}
	return e, nil
}

func (e *entry) finish(s *connectionStore, call *ordering.Call, result ordering.CallResult, now time.Time, retention Retention) error {
	if call.Outcome == ordering.OutcomeOpen || call.Outcome == ordering.OutcomeUnknown {
		other, repeated := e.repeats(s, call, result)
		if repeated {
			result.Outcome = ordering.OutcomeUnknown
		}
		e.end(s, call, result, now, retention)
		if repeated {
			return &ordering.IDRepeatedError{OrderID: result.OrderID, Other: other}
		}
		return nil
	}
	agrees := e.agrees(call, result)
	if call.Resolved != nil {
		addAttempts(call, result.Attempts)
	}
	if agrees {
		return nil
	}
	call.Contradicted, call.FoundOrderID = result.Outcome, result.OrderID
	e.record.UpdatedAt = now
	return &ordering.ContradictionError{Record: clone(e.record), Call: call.Number, Outcome: result.Outcome}
}

// repeats returns the order of the same restaurant that got the orderID of a result less than a minute before the call
// started, or later (policy O17).
func (e *entry) repeats(s *connectionStore, call *ordering.Call, result ordering.CallResult) (ref string, yes bool) {
	other := s.entries[s.orders[result.OrderID]]
	if call.Operation != upstream.OpCreate || result.Outcome != ordering.OutcomeDone || other == nil || other == e {
		return "", false
	}
	return other.record.Ref, other.record.GotIDBefore(e.record.Restaurant, call.StartedAt)
}

// agrees reports whether a result is equal to the known one of a certain call.
func (e *entry) agrees(call *ordering.Call, result ordering.CallResult) bool {
	if call.Resolved == nil {
		return result.Outcome == call.Outcome || result.Outcome == ordering.OutcomeUnknown
	}
	switch result.Outcome {
	case ordering.OutcomeDone:
		return call.Outcome == ordering.OutcomeDone &&
			(call.Operation != upstream.OpCreate || result.OrderID == e.record.OrderID)
	case ordering.OutcomeRefused, ordering.OutcomeNotSent:
		return call.Outcome != ordering.OutcomeDone
	default:
		return true
	}
}

// addAttempts appends attempts, unless they are the call's last ones: a Finish
// without a response is repeated.
func addAttempts(call *ordering.Call, tries []ordering.Attempt) {
	if n := len(call.Attempts) - len(tries); n < 0 || !slices.EqualFunc(call.Attempts[n:], tries, ordering.Attempt.Same) {
		call.Attempts = append(call.Attempts, tries...)
	}
}

// end sets the outcome of an open or unknown call, with every effect.
func (e *entry) end(s *connectionStore, call *ordering.Call, result ordering.CallResult, now time.Time, retention Retention) {
	addAttempts(call, result.Attempts)
	if result.Answer != nil {
		call.Answer = cloneAnswer(result.Answer)
	}
	call.Outcome, call.EndedAt = result.Outcome, now
	if result.Recheck && result.Outcome == ordering.OutcomeRefused && call.Key != "" {
		call.Recheck = ordering.RecheckRunning
	}
	e.record.UpdatedAt = now
	e.applyOutcome(s, call, result.OrderID)
	what := e.sent[call.Number]
	switch {
	case !result.Outcome.Certain():
	case result.Outcome == ordering.OutcomeNotSent,
		result.Outcome == ordering.OutcomeRefused && call.Derived:
		s.release(what.key, e.record.Ref, call.Number)
	default:
		if k, ok := s.keys[what.key]; ok && k.ref == e.record.Ref && k.call == call.Number {
			k.until = now.Add(retention.Key)
			s.keys[what.key] = k
		}
	}
}

// applyOutcome sets the state that follows from a call's outcome.
func (e *entry) applyOutcome(s *connectionStore, call *ordering.Call, orderID string) {
	done := call.Outcome == ordering.OutcomeDone
	switch {
	case call.Operation == upstream.OpCreate && done:
		e.record.State = ordering.StatePlaced
		e.setOrderID(s, orderID)
	case call.Operation == upstream.OpCreate:
		e.record.State = map[ordering.Outcome]ordering.State{
			ordering.OutcomeRefused: ordering.StateRefused,
			ordering.OutcomeNotSent: ordering.StateNotSent,
			ordering.OutcomeUnknown: ordering.StateUnknown,
		}[call.Outcome]
	case call.Operation == upstream.OpPay && done:
		e.record.Paid = true
	case call.Operation == upstream.OpComplete && done:
		e.record.State = ordering.StateClosed
	case call.Operation == upstream.OpReject && done:
		e.record.State = ordering.StateRejected
	}
}

// setOrderID sets the order's orderID. It takes the orderID from another order that
// has it.
func (e *entry) setOrderID(s *connectionStore, orderID string) {
	if orderID == "" {
		return
	}
	if other := s.entries[s.orders[orderID]]; other != nil && other != e {
		e.supersede(s, other)
	}
	e.record.OrderID = orderID
	s.orders[orderID] = e.record.Ref
}

// supersede makes the order the owner of the other's orderID: an order that was
// adopted after this one was begun is the same.
func (e *entry) supersede(s *connectionStore, other *entry) {
	if other.record.Adopted {
		other.record.OrderID = ""
	}
	if other.record.Adopted && other.record.CreatedAt.After(e.record.CreatedAt) {
		e.record.State, e.record.Paid = other.record.State, other.record.Paid
		if call, busy := other.record.Busy(); busy {
			call = cloneCall(call)
			call.Number, call.SpecID, call.Key, call.Answer = e.freeNumber(1), "", "", nil
			call.Outcome, call.EndedAt = ordering.OutcomeUnknown, e.record.UpdatedAt
			e.record.Calls = append(e.record.Calls, call)
		}
		return
	}
	for _, call := range other.record.Calls {
		if call.Derived {
			s.release(other.sent[call.Number].key, other.record.Ref, call.Number)
		}
	}
}
