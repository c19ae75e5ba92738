package journal

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"strings"
	"time"

	"larder.local/ordering"
)

const (
	// sweepAtMost is the number of open calls, and of expired records, that one Sweep handles.
	sweepAtMost = 100
	// retryCorruptAfter delays the next attempt for an overdue call with an unreadable record.
	retryCorruptAfter = time.Minute
)

// Sweep sets calls whose deadline has passed to unknown (policy O12), and removes expired records from the
// lists (policy O13). An unreadable record is logged and tried again later; it does not stop the sweep.
func (j *Journal) Sweep(ctx context.Context, connection string) ([]ordering.Record, error) {
	calls, records, _, err := j.store.findOverdue(ctx, connection, sweepAtMost)
	if err != nil {
		return nil, failed("sweep", connection, err)
	}
	var moved []ordering.Record
	for _, member := range calls {
		o, err := j.markUnknown(ctx, connection, member)
		if err != nil {
			return moved, failed("sweep", connection, err)
		}
		if o != nil {
			moved = append(moved, o.Record)
		}
	}
	return moved, failed("sweep", connection, j.store.prune(ctx, connection, records))
}

// findOverdue returns overdue calls and expired records, at most atMost of each, as members of their lists, and the
// time of Redis's clock in milliseconds since the epoch.
func (s *store) findOverdue(ctx context.Context, connection string, atMost int) (calls, records []string, now int64, err error) {
	k := s.keys
	keys := []string{k.JournalState(connection), k.Orders(connection), k.OrdersOpen(connection), k.OrdersExpiry(connection)}
	reply, err := dueScript.Run(ctx, s.write, keys, atMost).Slice()
	if err != nil {
		return nil, nil, 0, err
	}
	if len(reply) != 3 {
		return nil, nil, 0, fmt.Errorf("%w: due.lua returned %d values", errCorrupt, len(reply))
	}
	text, _ := reply[2].(string)
	if now, err = strconv.ParseInt(text, 10, 64); err != nil {
		return nil, nil, 0, fmt.Errorf("%w: Redis's time", errCorrupt)
	}
	return texts(reply[0]), texts(reply[1]), now, nil
}

// texts returns the strings of a list in a script's result.
func texts(list any) []string {
	var members []string
	elements, _ := list.([]any)
	for _, element := range elements {
		if text, ok := element.(string); ok {
			members = append(members, text)
		}
	}
	return members
}

// markUnknown sets one call to unknown and returns its order; nil if there was nothing to change.
func (j *Journal) markUnknown(ctx context.Context, connection, member string) (*order, error) {
	created, number, _ := strings.Cut(member, " ")
	_, ref, _ := strings.Cut(created, "/")
	n, _ := strconv.Atoi(number) // 0 is not a call's number
	moved := false
	o, err := j.store.update(ctx, j.store.apply, location{connection, ref}, nil, func(o *order) (*tx, error) {
		c := j.store.newTx(o)
		call, ok := o.Call(n)
		if moved = ok && call.Outcome == ordering.OutcomeOpen; !moved {
			c.do(c.openList(), "ZREM", member)
			return c, nil
		}
		c.touch()
		c.setOutcome(call, ordering.OutcomeUnknown, false)
		return c, nil
	})
	gone, corrupt := errors.Is(err, ordering.ErrNoOrder), errors.Is(err, errCorrupt)
	if !gone && !corrupt {
		if err != nil || !moved {
			return nil, err
		}
		return o, nil
	}
	c := j.store.blank(connection, modeWatch)
	if corrupt {
		j.store.logCorrupt(location{connection, ref}, err, "an overdue order cannot be read")
		c.in = retryCorruptAfter
		c.do(c.openList(), "ZADD", timeArg, member)
	} else {
		c.do(c.openList(), "ZREM", member)
	}
	_, err = j.store.apply(ctx, c)
	return nil, err
}

// prune removes expired records from the lists.
func (s *store) prune(ctx context.Context, connection string, members []string) error {
	pipe := s.write.Pipeline()
	for _, member := range members {
		_, ref, _ := strings.Cut(member, "/")
		keys := []string{s.keys.JournalState(connection), s.keys.Orders(connection), s.keys.OrdersExpiry(connection)}
		for _, state := range ordering.States() {
			keys = append(keys, s.keys.OrdersIn(connection, string(state)))
		}
		keys = append(keys, s.keys.Order(connection, ref))
		pipe.Eval(ctx, pruneSource, keys, member) // a pipeline cannot fall back from EVALSHA to EVAL
	}
	if _, err := pipe.Exec(ctx); err != nil {
		return fmt.Errorf("prune: %w", err)
	}
	return nil
}
