package journal

import (
	"context"
	"errors"

	"larder.local/ordering"
)

// EndRecheck ends the recheck of a refused create (policy O18).
func (j *Journal) EndRecheck(ctx context.Context, connection, ref string, n int, explained bool) error {
	o, err := j.store.readOrder(ctx, j.store.write, location{connection, ref})
	if err != nil {
		return failed("recheck", connection, err)
	}
	call, _ := o.Call(n)
	if call.Recheck != ordering.RecheckRunning {
		return ordering.ErrRecheckOver
	}
	c := j.store.newTx(o)
	c.touch()
	call.Recheck = ordering.RecheckNone
	if explained {
		call.Recheck = ordering.RecheckExplained
		until := number(epoch(call.EndedAt.Add(ordering.RecheckTime)))
		c.checks = append(c.checks, check{c.stateKey, "until", until}) // each check has a key
		c.doIf(c.idempotencyKey(call.Key), c.pointer(n), "DEL")
	}
	c.put(call)
	_, err = j.durability.commit(ctx, c)
	switch {
	case errors.Is(err, errMoved):
		return ordering.ErrRecheckOver
	case errors.Is(err, errReplicas): // a failover may bring back the key, and then the refusal: both are true
		return nil
	default:
		return failed("recheck", connection, err)
	}
}

// withoutOverdueRecheck returns the order without the mark of a recheck if it is over, by Redis's clock. It reads the
// order after the time: the key may have been freed since the order was read, but not after the time was.
func (s *store) withoutOverdueRecheck(ctx context.Context, o *order, number int) (*order, error) {
	_, _, now, err := s.findOverdue(ctx, o.Connection, 0)
	call, _ := o.Call(number)
	if err != nil || !moment(now).After(call.EndedAt.Add(ordering.RecheckTime)) {
		return o, err
	}
	if o, err = s.readOrder(ctx, s.write, location{o.Connection, o.Ref}); err != nil {
		return nil, err
	}
	for i := range o.Calls {
		if call := &o.Calls[i]; call.Number == number && call.Recheck == ordering.RecheckRunning {
			call.Recheck = ordering.RecheckNone
		}
	}
	return o, nil
}
