package journaltest

import (
	"bytes"
	"context"
	"slices"
	"time"

	"larder.local/internal/upstream"
	"larder.local/ordering"
)

// Begin begins a call.
func (m *Memory) Begin(ctx context.Context, o ordering.CallSpec) (record ordering.Record, err error) {
	err = m.do(ctx, MethodBegin, func(now time.Time) error {
		s := m.store(o.Connection)
		if err := s.free(o.Key, now); err != nil {
			return err
		}
		m.compare(o.Connection, now)
		if since := m.paused[o.Connection]; !since.IsZero() {
			return &ordering.RestoredError{Connection: o.Connection, Since: since}
		}
		e, err := s.opened(o, now)
		if err != nil {
			return err
		}
		e.open(ordering.Call{
			Operation:   o.Operation,
			Client:      o.Client,
			RequestID:   o.RequestID,
			Fingerprint: o.Fingerprint,
			Key:         o.Key,
			SpecID:      o.ID,
			Derived:     o.Derived,
			Payments:    slices.Clone(o.Payments),
			ForGuest:    o.ForGuest,
		}, sent{
			opening:  o.ID,
			key:      o.Key,
			body:     bytes.Clone(o.Body),
			deadline: now.Add(o.Deadline),
		}, s, now)
		record = clone(e.record)
		return nil
	})
	return given(record, err)
}

// free returns an error if the key is taken.
func (s *connectionStore) free(key string, now time.Time) error {
	k, ok := s.keys[key]
	if key == "" || !ok {
		return nil
	}
	return &ordering.KeyTakenError{Record: s.owner(k, now), Call: k.call}
}

// opened returns the entry for a new call: a new one, or that of the order if it
// accepts the change.
func (s *connectionStore) opened(o ordering.CallSpec, now time.Time) (*entry, error) {
	if o.Operation == upstream.OpCreate {
		return s.put(ordering.Record{
			Ref:         o.Ref,
			Connection:  o.Connection,
			Client:      o.Client,
			Restaurant:  o.Restaurant,
			State:       ordering.StatePlacing,
			Total:       o.Total,
			MenuVersion: o.MenuVersion,
			ExpectedAt:  millis(o.ExpectedAt),
			CreatedAt:   now,
		}), nil
	}
	e := s.entries[s.orders[o.OrderID]]
	if e == nil {
		if !o.Adopt {
			return nil, ordering.ErrNoOrder
		}
		s.orders[o.OrderID] = o.Ref
		return s.put(ordering.Record{
			Ref:        o.Ref,
			Connection: o.Connection,
			Client:     o.Client,
			Adopted:    true,
			OrderID:    o.OrderID,
			State:      ordering.StatePlaced,
			CreatedAt:  now,
		}), nil
	}
	record := clone(e.record)
	return e, record.MayBegin(o.Operation)
}

func (s *connectionStore) put(record ordering.Record) *entry {
	e := &entry{record: record, sent: map[int]sent{}}
	s.entries[record.Ref] = e
	return e
}

// open adds a call as the record's last and takes its key.
func (e *entry) open(call ordering.Call, what sent, s *connectionStore, now time.Time) {
	call.Number = 1
	if n := len(e.record.Calls); n > 0 {
		call.Number = e.record.Calls[n-1].Number + 1
	}
	call.Outcome, call.StartedAt = ordering.OutcomeOpen, now
	e.record.Calls = append(e.record.Calls, call)
	e.record.UpdatedAt = now
	e.sent[call.Number] = what
	if what.key != "" {
		s.keys[what.key] = keyOwner{ref: e.record.Ref, call: call.Number}
	}
	e.dropOldest(s)
}

// dropOldest keeps the latest MaxCalls changes. The key of a dropped call is free,
// because there is nothing left to replay.
func (e *entry) dropOldest(s *connectionStore) {
	changes := 0
	for _, call := range e.record.Calls {
		if call.Operation != upstream.OpCreate {
			changes++
		}
	}
	e.record.Calls = slices.DeleteFunc(e.record.Calls, func(call ordering.Call) bool {
		if call.Operation == upstream.OpCreate || changes <= ordering.MaxCalls {
			return false
		}
		changes--
		s.release(e.sent[call.Number].key, e.record.Ref, call.Number)
		delete(e.sent, call.Number)
		return true
	})
}

// release frees a key if this call owns it.
func (s *connectionStore) release(key, ref string, call int) {
	if k, ok := s.keys[key]; ok && k.ref == ref && k.call == call {
		delete(s.keys, key)
	}
}

// Abort ends the call that o began as not sent.
func (m *Memory) Abort(ctx context.Context, o ordering.CallSpec) error {
	return m.do(ctx, MethodAbort, func(now time.Time) error {
		s := m.store(o.Connection)
		for _, e := range s.entries {
			for i := range e.record.Calls {
				call := &e.record.Calls[i]
				swept := call.Outcome == ordering.OutcomeUnknown && call.EndedAt.IsZero() // it was not sent
				if e.sent[call.Number].opening == o.ID && (call.Outcome == ordering.OutcomeOpen || swept) {
					e.end(s, call, ordering.CallResult{Outcome: ordering.OutcomeNotSent}, now, m.retention)
				}
			}
		}
		return nil
	})
}
