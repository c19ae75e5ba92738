package journaltest

import (
	"bytes"
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"larder.local/ordering"
)

// Secret returns the secret for hashes.
func (m *Memory) Secret(ctx context.Context, _ string) ([]byte, error) {
	return m.secret, m.do(ctx, MethodSecret, func(time.Time) error { return nil })
}

// Lookup returns the call that owns a key.
func (m *Memory) Lookup(ctx context.Context, connection, key string) (record ordering.Record, call int, err error) {
	err = m.do(ctx, MethodLookup, func(now time.Time) error {
		s := m.store(connection)
		k, ok := s.keys[key]
		if !ok {
			return ordering.ErrKeyFree
		}
		record, call = s.owner(k, now), k.call
		return nil
	})
	if err != nil {
		return ordering.Record{}, 0, err
	}
	return record, call, nil
}

// Former returns nothing: the journal has no former connections.
func (m *Memory) Former(context.Context, []string) ([]string, error) { return nil, nil }

// Order returns the record of an orderID.
func (m *Memory) Order(ctx context.Context, connection, orderID string) (record ordering.Record, err error) {
	err = m.do(ctx, MethodOrder, func(time.Time) error {
		s := m.store(connection)
		e := s.entries[s.orders[orderID]]
		if e == nil {
			return ordering.ErrNoOrder
		}
		record = clone(e.record)
		return nil
	})
	return given(record, err)
}

// Record returns the record of a ref.
func (m *Memory) Record(ctx context.Context, connections []string, ref string) (record ordering.Record, err error) {
	err = m.do(ctx, MethodRecord, func(time.Time) error {
		for _, connection := range connections {
			if e := m.store(connection).entries[ref]; e != nil {
				record = clone(e.record)
				return nil
			}
		}
		return ordering.ErrNoOrder
	})
	return given(record, err)
}

// Body returns the body that a call sent.
func (m *Memory) Body(ctx context.Context, connection, ref string, call int) (body []byte, err error) {
	err = m.do(ctx, MethodBody, func(time.Time) error {
		e := m.store(connection).entries[ref]
		if e == nil || e.sent[call].body == nil {
			return ordering.ErrNoBody
		}
		body = bytes.Clone(e.sent[call].body)
		return nil
	})
	if err != nil {
		return nil, err
	}
	return body, nil
}

// List returns records, newest first.
func (m *Memory) List(ctx context.Context, q ordering.Query) (page []ordering.Record, next string, err error) {
	err = m.do(ctx, MethodList, func(time.Time) error {
		if q.Cursor != "" && strings.Count(q.Cursor, "/") < 2 {
			return ordering.ErrCursor
		}
		var found []ordering.Record
		for _, connection := range q.Connections {
			for _, e := range m.store(connection).entries {
				if listed(&e.record, q.State) && (q.Cursor == "" || place(&e.record) < q.Cursor) {
					found = append(found, e.record)
				}
			}
		}
		slices.SortFunc(found, func(a, b ordering.Record) int { return cmp.Compare(place(&b), place(&a)) })
		if len(found) > q.Limit {
			found = found[:q.Limit]
			next = place(&found[len(found)-1])
		}
		for _, record := range found {
			page = append(page, clone(record))
		}
		return nil
	})
	if err != nil {
		return nil, "", err
	}
	return page, next, nil
}

// place returns a record's position in a list, which sorts by time.
func place(r *ordering.Record) string {
	return fmt.Sprintf("%015d/%s/%s", r.CreatedAt.UnixMilli(), r.Ref, r.Connection)
}

func listed(r *ordering.Record, state ordering.State) bool {
	if state == ordering.StateUnknown {
		call, busy := r.Busy()
		return busy && call.Outcome == ordering.OutcomeUnknown
	}
	return state == "" || r.State == state
}
