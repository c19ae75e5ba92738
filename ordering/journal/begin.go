package journal

import (
	"cmp"
	"context"
	"errors"
	"net"
	"slices"
	"time"

	"github.com/redis/go-redis/v9"

	"larder.local/internal/upstream"
	"larder.local/ordering"
)

// Begin opens a call (policies O7 to O9). It returns when as many replicas have the call as policy
// O14 requires. With fewer replicas, it ends the call as not sent.
func (j *Journal) Begin(ctx context.Context, o ordering.CallSpec) (ordering.Record, error) {
	begun, err := orAccept(ctx, j, o.Connection, func() (*order, error) { return j.beginCall(ctx, o) })
	if err == nil {
		return begun.Record, nil
	}
	err = failed("begin", o.Connection, err)
	if failure, ok := errors.AsType[*ordering.JournalError](err); ok && !errors.Is(err, errReplicas) {
		// Nothing was written if there was no connection, or if the script found another format.
		dial, network := errors.AsType[*net.OpError](err)
		failure.Unwritten = network && dial.Op == "dial" || redis.HasErrorPrefix(err, "FORMAT")
	}
	return ordering.Record{}, err
}

func (j *Journal) beginCall(ctx context.Context, o ordering.CallSpec) (*order, error) {
	if err := j.durability.recovered(ctx, o.Connection); err != nil {
		return nil, j.rejected(ctx, o, nil, err)
	}
	// Nearly every key and ref is new, so this does not read them first. The commit checks that they are new; if not, or if the
	// order has changed, it writes nothing, and beginFrom reads them.
	begun, err := j.begin(ctx, o, "")
	for errors.Is(err, errMoved) {
		begun, err = j.beginFrom(ctx, o, err)
	}
	return begun, err
}

// beginFrom reads the current state and opens the call if the state allows it. moved is the error of the last attempt.
func (j *Journal) beginFrom(ctx context.Context, o ordering.CallSpec, moved error) (*order, error) {
	var value string
	if taken, ok := errors.AsType[*keyError](moved); ok {
		value = taken.value
	}
	key, taken, err := j.store.keyOwner(ctx, o.Connection, o.Key, value)
	if err != nil {
		return nil, err
	}
	if taken != nil {
		return nil, taken
	}
	if err := j.store.isAborted(ctx, o.Connection, o.ID); err != nil {
		return nil, err
	}
	if o.Operation == upstream.OpCreate {
		_, err := j.store.readOrder(ctx, j.store.write, location{o.Connection, o.Ref})
		if !errors.Is(err, ordering.ErrNoOrder) {
			return nil, cmp.Or(err, errRefTaken)
		}
	}
	return j.begin(ctx, o, key)
}

// begin opens a call: a creating one with a new record, a changing one of the order with the orderID.
func (j *Journal) begin(ctx context.Context, o ordering.CallSpec, key string) (*order, error) {
	if o.Operation == upstream.OpCreate {
		return j.open(ctx, o, j.store.newRecordTx(o, ordering.Record{
			Restaurant:  o.Restaurant,
			State:       ordering.StatePlacing,
			MenuVersion: o.MenuVersion,
			ExpectedAt:  moment(epoch(o.ExpectedAt)), // as it is read
			Total:       o.Total,
		}), key)
	}
	ref, found, err := j.store.byOrderID(ctx, o.Connection, o.OrderID)
	switch {
	case err != nil:
		return nil, err
	case found == nil && !o.Adopt:
		return nil, j.rejected(ctx, o, nil, ordering.ErrNoOrder)
	case found == nil:
		// larder did not place the order (policy O9a).
		c := j.store.newRecordTx(o, ordering.Record{Adopted: true, OrderID: o.OrderID, State: ordering.StatePlaced})
		c.tookID = true
		c.check(c.orderIDKey(o.OrderID), ref)
		return j.open(ctx, o, c, key)
	}
	if found.Foreign {
		return nil, j.rejected(ctx, o, found, &ordering.SourceError{Record: found.Record})
	}
	if err := found.MayBegin(o.Operation); err != nil {
		return nil, j.rejected(ctx, o, found, err)
	}
	c := j.store.newTx(found)
	c.check(c.orderIDKey(o.OrderID), ref)
	c.touch()
	c.dropOldest()
	return j.open(ctx, o, c, key)
}

// rejected returns the reason to reject a change. If the key was taken after it was read, that takes precedence over
// why: perhaps the same request came in twice, and its first call caused the state that was found. If that call makes the order
// busy, its key is not read again: the call may have ended and freed the key since, and then why would never have been true.
func (j *Journal) rejected(ctx context.Context, o ordering.CallSpec, found *order, why error) error {
	if o.Key == "" {
		return cmp.Or(j.store.checkFormat(ctx, o.Connection), why)
	}
	if found != nil {
		if call, busy := found.Busy(); busy && call.Key == o.Key {
			return &ordering.KeyTakenError{Record: found.Record, Call: call.Number}
		}
	}
	_, taken, err := j.store.keyOwner(ctx, o.Connection, o.Key, "")
	if taken != nil {
		return taken
	}
	return cmp.Or(err, why)
}

// newRecordTx creates the record of an order. r has what is not the same for every call.
func (s *store) newRecordTx(o ordering.CallSpec, r ordering.Record) *tx {
	r.Connection, r.Ref, r.Source, r.Client = o.Connection, o.Ref, s.sources.Current(o.Connection), o.Client
	r.CreatedAt = atCommit()
	c := s.newTx(&order{Record: r})
	c.touch()
	return c
}

// open adds the call to a transaction and commits it. key is the expected value of the idempotency
// key in Redis: usually empty, or a value that has outlived its record.
func (j *Journal) open(ctx context.Context, o ordering.CallSpec, c *tx, key string) (*order, error) {
	switch {
	case o.Key == "":
	case key == "":
		c.checks = append(c.checks, check{c.idempotencyKey(o.Key), "new", ""})
	default:
		c.check(c.idempotencyKey(o.Key), key)
	}
	c.check(c.store.keys.OrderAborted(o.Connection, o.ID), "")
	c.openCall(ordering.Call{
		SpecID:      o.ID,
		Operation:   o.Operation,
		Client:      o.Client,
		RequestID:   o.RequestID,
		Fingerprint: o.Fingerprint,
		Derived:     o.Derived,
		Key:         o.Key,
		Payments:    o.Payments,
		ForGuest:    o.ForGuest,
	}, o.Body, o.Deadline)
	begun, err := j.durability.commit(ctx, c)
	if errors.Is(err, errReplicas) {
		return nil, errors.Join(err, j.abortCall(ctx, o))
	}
	return begun, err
}

// openCall adds a call, without a result, as the order's last call. The revision of the record is then
// the ID of the CallSpec, so that Finish needs no read (see begunOrder).
func (c *tx) openCall(call ordering.Call, body []byte, deadline time.Duration) {
	c.mode = modeBegin // rejected while Redis may have lost calls (policy O14a)
	call.Number = freeNumber(c.next.Calls, 1)
	call.Outcome, call.StartedAt, call.EndedAt = ordering.OutcomeOpen, atCommit(), time.Time{}
	call.Attempts, call.Answer, call.Resolved, call.Contradicted, call.FoundOrderID = nil, nil, nil, "", ""
	c.in, c.notBefore = deadline, 0
	if call.Key != "" {
		c.do(c.idempotencyKey(call.Key), "SET", c.pointer(call.Number))
	}
	if len(body) > 0 {
		c.do(c.guestKey(call.Number), "HSET", fieldBody, string(body))
	}
	c.put(call)
	if len(call.SpecID) == revisionLength {
		c.next.revision = call.SpecID
	}
}

// dropOldest removes the oldest change if the record has ordering.MaxCalls of them. It also removes
// the key of the call, because a replay could not be answered any more.
func (c *tx) dropOldest() {
	for changesIn(c.next.Calls) >= ordering.MaxCalls {
		i := slices.IndexFunc(c.next.Calls, func(call ordering.Call) bool { return call.Operation != upstream.OpCreate })
		oldest := c.next.Calls[i]
		c.next.Calls = slices.Delete(c.next.Calls, i, i+1)
		c.do(c.guestKey(oldest.Number), "UNLINK")
		if oldest.Key != "" {
			c.doIf(c.idempotencyKey(oldest.Key), c.pointer(oldest.Number), "DEL")
		}
	}
}

// changesIn returns how many of the calls change an order.
func changesIn(calls []ordering.Call) (n int) {
	for _, call := range calls {
		if call.Operation != upstream.OpCreate {
			n++
		}
	}
	return n
}
