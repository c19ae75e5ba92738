package journaltest

import (
	"bytes"
	"errors"
	"slices"
	"time"

	"larder.local/ordering"
)

// clone returns a deep copy of a record.
func clone(r ordering.Record) ordering.Record {
	calls := make([]ordering.Call, len(r.Calls))
	for i, call := range r.Calls {
		calls[i] = cloneCall(call)
	}
	r.Calls = calls
	return r
}

func cloneCall(call ordering.Call) ordering.Call {
	call.Attempts = slices.Clone(call.Attempts)
	call.Payments = slices.Clone(call.Payments)
	call.Answer = cloneAnswer(call.Answer)
	if call.Resolved != nil {
		resolved := *call.Resolved
		call.Resolved = &resolved
	}
	return call
}

func cloneAnswer(a *ordering.Answer) *ordering.Answer {
	if a == nil {
		return nil
	}
	answer := *a
	answer.Body = bytes.Clone(a.Body)
	return &answer
}

// given returns the record, or only the error.
func given(record ordering.Record, err error) (ordering.Record, error) {
	_, repeated := errors.AsType[*ordering.IDRepeatedError](err)
	if err != nil && !repeated && !errors.Is(err, ordering.ErrUnreplicated) {
		return ordering.Record{}, err
	}
	return record, err
}

// millis returns the time in whole milliseconds, UTC.
func millis(t time.Time) time.Time {
	if t.IsZero() {
		return time.Time{}
	}
	return t.UTC().Truncate(time.Millisecond)
}
