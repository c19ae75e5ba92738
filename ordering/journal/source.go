package journal

import (
	"context"
	"errors"
	"slices"
	"time"

	"github.com/redis/go-redis/v9"

	"larder/internal/menu"
	"larder/ordering"
)

// fieldSource is the field of a connection's state with the source of its records without one.
const fieldSource = "source"

// unnamedSource returns the source of a connection's records without one. The first configuration that asks decides
// (policy O16); a command that only reads decides nothing.
func (r *reader) unnamedSource(ctx context.Context, connection string) (string, error) {
	if known, ok := r.unnamed.Load(connection); ok {
		source, _ := known.(string)
		return source, nil
	}
	state, current := r.keys.JournalState(connection), r.sources.Current(connection)
	if current != "" && !r.onlyReads {
		if err := r.write.HSetNX(ctx, state, fieldSource, current).Err(); err != nil {
			return "", err
		}
	}
	source, err := r.write.HGet(ctx, state, fieldSource).Result()
	if errors.Is(err, redis.Nil) {
		return current, nil
	}
	if err == nil {
		r.unnamed.Store(connection, source)
	}
	return source, err
}

// ForeignOrders counts the orders of a connection that belong to a source that it does not have any more, or of a
// connection that is not configured any more (policy O16).
type ForeignOrders struct {
	Connection, Source string
	Current            string // the connection's source; empty if it is not configured any more
	Open               int    // placed, and neither completed nor rejected
	Unknown            int    // an operation has an unknown outcome
}

// maxEach limits the orders that ForeignOrders reads for each connection and state, and RecentRestaurants for all.
const maxEach = 20_000

// ForeignOrders returns the foreign orders of all connections that larder has ever had, with the given ones. From then
// on, the given ones are known, unless the journal only reads. It reads every open order, so it is for the start and for commands.
func (r *reader) ForeignOrders(ctx context.Context, connections []string) ([]ForeignOrders, error) {
	for _, connection := range connections {
		if _, err := r.unnamedSource(ctx, connection); err != nil {
			return nil, failed("sources", err)
		}
	}
	if len(connections) > 0 && !r.onlyReads {
		if err := r.write.SAdd(ctx, r.keys.Connections(), connections).Err(); err != nil {
			return nil, failed("connections", err)
		}
	}
	all, err := r.read.SMembers(ctx, r.keys.Connections()).Result()
	if err != nil {
		return nil, failed("connections", err)
	}
	var found []ForeignOrders
	all = append(all, connections...)
	slices.Sort(all)
	for _, connection := range slices.Compact(all) {
		for _, state := range []ordering.State{ordering.StatePlaced, ordering.StatePlacing, ordering.StateUnknown} {
			if err := r.each(ctx, ordering.Query{Connections: []string{connection}, State: state}, func(record *ordering.Record) bool {
				call, busy := record.Busy()
				unknown := busy && call.Outcome == ordering.OutcomeUnknown
				if !record.Foreign || unknown != (state == ordering.StateUnknown) {
					return true
				}
				at := slices.IndexFunc(found, func(f ForeignOrders) bool { return f.Connection == connection && f.Source == record.Source })
				if at < 0 {
					at = len(found)
					current := r.sources.Current(connection)
					found = append(found, ForeignOrders{Connection: connection, Source: record.Source, Current: current})
				}
				if f := &found[at]; unknown {
					f.Unknown++
				} else {
					f.Open++
				}
				return true
			}); err != nil {
				return nil, err
			}
		}
	}
	return found, nil
}

// RecentRestaurants returns the restaurants with an order since a time.
func (r *reader) RecentRestaurants(ctx context.Context, connections []string, since time.Time) (map[menu.RestaurantID]bool, error) {
	recent := map[menu.RestaurantID]bool{}
	err := r.each(ctx, ordering.Query{Connections: connections}, func(record *ordering.Record) bool {
		if record.CreatedAt.Before(since) {
			return false
		}
		recent[record.Restaurant] = true
		return true
	})
	return recent, err
}

// each calls fn for at most maxEach records of a list, the newest first, while it returns true.
func (r *reader) each(ctx context.Context, q ordering.Query, fn func(*ordering.Record) bool) error {
	q.Limit = mostPage
	for read := 0; read < maxEach; read += mostPage {
		page, next, err := r.List(ctx, q)
		for i := range page {
			if !fn(&page[i]) {
				return nil
			}
		}
		if q.Cursor = next; err != nil || next == "" {
			return err
		}
	}
	return nil
}
