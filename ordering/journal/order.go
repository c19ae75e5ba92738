package journal

import (
	"time"

	"larder.local/ordering"
)

// order is a stored order: its record and data that only the journal needs.
type order struct {
	ordering.Record

	// revision is empty if there is no record yet. After Begin it is the ID of the CallSpec, so that Finish can commit from
	// what Begin returned, without a read.
	revision string
	// unread is true if the record was not read but returned by Begin. Other orders may have changed.
	unread bool
}

// location identifies a stored order.
type location struct{ connection, ref string }

// atCommit returns the value that means the time of the commit, which is known only after it. No record has this time.
func atCommit() time.Time { return time.UnixMilli(-1).UTC() }

// stamp replaces atCommit by the time of the commit.
func (o *order) stamp(now time.Time) {
	set := func(t *time.Time) {
		if t.Equal(atCommit()) {
			*t = now
		}
	}
	set(&o.CreatedAt)
	set(&o.UpdatedAt)
	for i := range o.Calls {
		call := &o.Calls[i]
		set(&call.StartedAt)
		set(&call.EndedAt)
		if call.Resolved != nil {
			set(&call.Resolved.At)
		}
	}
}

// epoch converts a time to milliseconds since the epoch; the zero time is 0.
func epoch(t time.Time) int64 {
	if t.IsZero() {
		return 0
	}
	return t.UnixMilli()
}

// moment is the inverse of epoch.
func moment(ms int64) time.Time {
	if ms == 0 {
		return time.Time{}
	}
	return time.UnixMilli(ms).UTC()
}
