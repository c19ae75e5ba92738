package journal

import (
	"cmp"
	"context"
	"regexp"
	"slices"
	"strings"

	"github.com/redis/go-redis/v9"

	"larder/ordering"
)

// mostPage bounds Query.Limit.
const mostPage = 500

// cursorForm is what stands for an order in the lists: when it was created,
// and its ref.
var cursorForm = regexp.MustCompile(`^[0-9]{15}/[0-9A-Za-z]{1,64}$`)

// listed is an order in a list, with its member of it.
type listed struct {
	place  location
	member string
}

// List returns records, newest first. What a Sweep has yet to take out of the
// lists is left out, and so is, with a line in the log, what cannot be read.
func (r *reader) List(ctx context.Context, q ordering.Query) (page []ordering.Record, next string, err error) {
	if q.Cursor != "" && !cursorForm.MatchString(q.Cursor) {
		return nil, "", ordering.ErrCursor
	}
	limit := min(max(q.Limit, 1), mostPage)
	var members []string
	for before := q.Cursor; ; {
		batch, err := r.listed(ctx, q, before, limit+1)
		if err != nil {
			return nil, "", failed("list", err)
		}
		places := make([]location, len(batch))
		for i := range batch {
			places[i] = batch[i].place
		}
		found, faults, err := r.readAll(ctx, places)
		if err != nil {
			return nil, "", failed("list", err)
		}
		for i, o := range found {
			switch {
			case faults[i] != nil:
				r.logCorrupt(places[i], faults[i], "an order in the list cannot be read")
			case o != nil && matches(o, q.State):
				page, members = append(page, o.Record), append(members, batch[i].member)
			}
		}
		if len(page) > limit {
			return page[:limit:limit], members[limit-1], nil
		}
		if len(batch) <= limit {
			return page, "", nil
		}
		before = batch[len(batch)-1].member
	}
}

// Unknown counts the orders of a connection with an operation whose outcome is
// unknown (policy O12), whichever instance made it: one short command.
func (r *reader) Unknown(ctx context.Context, connection string) (int64, error) {
	count, err := r.read.ZCard(ctx, r.keys.OrdersIn(connection, string(ordering.StateUnknown))).Result()
	return count, failed("count", err)
}

// listed returns what comes before a member in the lists of all connections
// together, newest first, at most count.
func (r *reader) listed(ctx context.Context, q ordering.Query, before string, count int) ([]listed, error) {
	within := &redis.ZRangeBy{Min: "-", Max: "+", Count: int64(count)}
	if before != "" {
		within.Max = "(" + before
	}
	pipe := r.read.Pipeline()
	replies := make([]*redis.StringSliceCmd, len(q.Connections))
	for i, connection := range q.Connections {
		key := r.keys.Orders(connection)
		if q.State != "" {
			key = r.keys.OrdersIn(connection, string(q.State))
		}
		replies[i] = pipe.ZRevRangeByLex(ctx, key, within)
	}
	if _, err := pipe.Exec(ctx); err != nil {
		return nil, err
	}
	var all []listed
	for i, connection := range q.Connections {
		for _, member := range replies[i].Val() {
			_, ref, _ := strings.Cut(member, "/")
			all = append(all, listed{location{connection, ref}, member})
		}
	}
	slices.SortFunc(all, func(a, b listed) int {
		return cmp.Or(cmp.Compare(b.member, a.member), cmp.Compare(b.place.connection, a.place.connection))
	})
	return all[:min(count, len(all))], nil
}

// matches reports whether an order belongs to a list still.
func matches(o *order, state ordering.State) bool {
	if state == ordering.StateUnknown {
		call, busy := o.Busy()
		return busy && call.Outcome == ordering.OutcomeUnknown
	}
	return state == "" || o.State == state
}
