package journal

import (
	"context"
	"errors"

	"github.com/redis/go-redis/v9"

	"larder/ordering"
)

// Lookup gives the call that has taken a key, with its order (policy O7).
func (j *Journal) Lookup(ctx context.Context, connection, key string) (ordering.Record, int, error) {
	_, holder, call, err := j.holder(ctx, connection, key)
	if err == nil && holder == nil {
		err = ordering.ErrKeyFree
	}
	if err != nil {
		return ordering.Record{}, 0, failed("lookup", err)
	}
	return holder.Record, call, nil
}

// Order gives the record of an orderID.
func (j *Journal) Order(ctx context.Context, connection, orderID string) (ordering.Record, error) {
	_, found, err := j.byOrderID(ctx, connection, orderID)
	if err == nil && found == nil {
		err = ordering.ErrNoOrder
	}
	if err != nil {
		return ordering.Record{}, failed("order", err)
	}
	return found.Record, nil
}

// Record gives the record of a ref on any of the connections, asked in one
// pipeline.
func (j *Journal) Record(ctx context.Context, connections []string, ref string) (ordering.Record, error) {
	places := make([]place, 0, len(connections))
	for _, connection := range connections {
		places = append(places, place{connection, ref})
	}
	found, faults, err := j.orders(ctx, places)
	if err != nil {
		return ordering.Record{}, failed("record", err)
	}
	for _, o := range found {
		if o != nil {
			return o.Record, nil
		}
	}
	if err := errors.Join(faults...); err != nil {
		return ordering.Record{}, failed("record", err)
	}
	return ordering.Record{}, ordering.ErrNoOrder
}

// Body gives what a call sent.
func (j *Journal) Body(ctx context.Context, connection, ref string, call int) ([]byte, error) {
	body, err := j.sent(ctx, j.read, place{connection, ref}, call)
	if err != nil {
		return nil, failed("body", err)
	}
	return body, nil
}

// text reads a string, "" when there is none.
func (j *Journal) text(ctx context.Context, key string) (string, error) {
	value, err := j.write.Get(ctx, key).Result()
	if errors.Is(err, redis.Nil) {
		return "", nil
	}
	return value, err
}
