package journal

import (
	"context"
	"slices"
	"strings"
	"time"

	"github.com/redis/go-redis/v9"

	"larder.local/internal/menu"
	"larder.local/internal/redisdb"
	"larder.local/ordering"
)

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
// on, the given ones are known, unless the journal only reads. It reads every open order, so it is for the start and for
// commands. With a *ordering.FormatError it returns the foreign orders that it can read.
func (j *Journal) ForeignOrders(ctx context.Context, connections []string) (found []ForeignOrders, err error) {
	all, err := j.store.ever(ctx, connections)
	if err == nil && len(all) > 0 && !j.store.onlyReads {
		err = failed("connections", "", j.store.write.SAdd(ctx, j.store.keys.Connections(), all).Err())
	}
	if err != nil {
		return nil, err
	}
	can, other, err := j.store.readable(ctx, all)
	if err != nil {
		return nil, failed("connections", "", err)
	}
	for _, connection := range can {
		for _, state := range []ordering.State{ordering.StatePlaced, ordering.StatePlacing, ordering.StateUnknown} {
			q := ordering.Query{Connections: []string{connection}, State: state}
			if err := j.store.each(ctx, q, other, func(record *ordering.Record) bool {
				call, busy := record.Busy()
				unknown := busy && call.Outcome == ordering.OutcomeUnknown
				if !record.Foreign || unknown != (state == ordering.StateUnknown) {
					return true
				}
				at := slices.IndexFunc(found, func(f ForeignOrders) bool { return f.Connection == connection && f.Source == record.Source })
				if at < 0 {
					at = len(found)
					current := j.store.sources.Current(connection)
					found = append(found, ForeignOrders{Connection: connection, Source: record.Source, Current: current})
				}
				if f := &found[at]; unknown {
					f.Unknown++
				} else {
					f.Open++
				}
				return true
			}); err != nil {
				return nil, failed("list", connection, err)
			}
		}
	}
	return found, failed("list", "", other.ErrorOrNil())
}

// ever returns all connections that larder has ever had, and the given ones, sorted.
func (s *store) ever(ctx context.Context, connections []string) ([]string, error) {
	all, err := s.read.SMembers(ctx, s.keys.Connections()).Result()
	if err == nil && len(all) == 0 { // a new Redis, or one of an earlier version, which kept no set
		all, err = s.scan(ctx)
	}
	if err != nil {
		return nil, failed("connections", "", err)
	}
	all = slices.Concat(all, connections)
	slices.Sort(all)
	return slices.Compact(all), nil
}

// scan returns the connections that have records. It reads the names of all keys, but only once: an instance without
// orders never stores the set.
func (s *store) scan(ctx context.Context) (found []string, err error) {
	if scanned := s.scanned.Load(); scanned != nil {
		return *scanned, nil
	}
	const name = "*"
	before, after, _ := strings.Cut(s.keys.Orders(name), name)
	err = redisdb.EachMaster(ctx, s.read, func(ctx context.Context, master redis.UniversalClient) error {
		keys := master.Scan(ctx, 0, before+name+after, 1000).Iterator()
		for keys.Next(ctx) {
			found = append(found, strings.TrimSuffix(strings.TrimPrefix(keys.Val(), before), after))
		}
		return keys.Err()
	})
	if err == nil {
		s.scanned.Store(&found)
	}
	return found, err
}

// RecentRestaurants returns the restaurants with an order since a time.
func (j *Journal) RecentRestaurants(ctx context.Context, connections []string, since time.Time) (map[menu.RestaurantID]bool, error) {
	recent := map[menu.RestaurantID]bool{}
	can, other, err := j.store.readable(ctx, connections)
	if err == nil {
		err = j.store.each(ctx, ordering.Query{Connections: can}, other, func(record *ordering.Record) bool {
			if record.CreatedAt.Before(since) {
				return false
			}
			recent[record.Restaurant] = true
			return true
		})
	}
	return recent, failed("list", "", err)
}

// each calls fn for at most maxEach records of a list, the newest first, while it returns true. It adds to other what it
// cannot read.
func (s *store) each(ctx context.Context, q ordering.Query, other *ordering.FormatError, fn func(*ordering.Record) bool) error {
	q.Limit = mostPage
	for read := 0; read < maxEach; read += mostPage {
		page, next, err := s.listReadable(ctx, q, other)
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
