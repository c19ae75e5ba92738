package journal

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"larder/internal/upstream"
	"larder/ordering"
)

// Begin opens a call (policies O7 to O9). It returns when as many replicas
// have it as policy O14 requires; with fewer, the call is ended as not sent.
func (j *Journal) Begin(ctx context.Context, o ordering.CallSpec) (ordering.Record, error) {
	begun, err := j.begin(ctx, o)
	again, err := j.acceptRestored(ctx, o.Connection, err)
	if again {
		begun, err = j.begin(ctx, o)
	}
	if err != nil {
		return ordering.Record{}, failed("begin", err)
	}
	return begun.Record, nil
}

func (j *Journal) begin(ctx context.Context, o ordering.CallSpec) (*order, error) {
	if err := j.recovered(ctx, o.Connection); err != nil {
		return nil, j.refused(ctx, o, nil, err)
	}
	if o.Operation == upstream.OpCreate {
		// Nearly every key and ref is new: that is found out by trying.
		begun, err := j.open(ctx, o, j.created(o), "")
		if !errors.Is(err, errMoved) {
			return begun, err
		}
	}
	for {
		begun, err := j.beginFrom(ctx, o)
		if !errors.Is(err, errMoved) {
			return begun, err
		}
	}
}

// beginFrom looks at what there is and opens the call when everything allows.
func (j *Journal) beginFrom(ctx context.Context, o ordering.CallSpec) (*order, error) {
	key, holder, call, err := j.holder(ctx, o.Connection, o.Key)
	if err != nil {
		return nil, err
	}
	if holder != nil {
		return nil, &ordering.KeyTakenError{Record: holder.Record, Call: call}
	}
	if err := j.isAborted(ctx, o.Connection, o.ID); err != nil {
		return nil, err
	}
	if o.Operation != upstream.OpCreate {
		return j.beginChange(ctx, o, key)
	}
	switch _, err := j.order(ctx, j.write, place{o.Connection, o.Ref}); {
	case err == nil:
		return nil, ErrRefTaken
	case !errors.Is(err, ordering.ErrNoOrder):
		return nil, err
	}
	return j.open(ctx, o, j.created(o), key)
}

// beginChange opens a changing call of the order that has the orderID.
func (j *Journal) beginChange(ctx context.Context, o ordering.CallSpec, key string) (*order, error) {
	ref, found, err := j.byOrderID(ctx, o.Connection, o.OrderID)
	switch {
	case err != nil:
		return nil, err
	case found == nil && !o.Adopt:
		return nil, j.refused(ctx, o, found, ordering.ErrNoOrder)
	case found == nil:
		c := j.adopted(o)
		c.check(c.id(o.OrderID), ref)
		return j.open(ctx, o, c, key)
	}
	if call, busy := found.Busy(); busy {
		return nil, j.refused(ctx, o, found, &ordering.BusyError{Record: found.Record, Call: call})
	}
	if found.State != ordering.StatePlaced || (o.Operation == upstream.OpPay && found.Paid) {
		return nil, j.refused(ctx, o, found, &ordering.StateError{Record: found.Record, Operation: o.Operation})
	}
	c := j.change(found)
	c.check(c.id(o.OrderID), ref)
	c.touch()
	c.dropOldest()
	return j.open(ctx, o, c, key)
}

// refused gives why a change is not opened: what was found of the order, unless
// the key has been taken since it was read. Then the order is as it is perhaps
// because the very same request came in twice, and the key comes first.
func (j *Journal) refused(ctx context.Context, o ordering.CallSpec, found *order, why error) error {
	if o.Key == "" {
		return why
	}
	if found != nil {
		if call, busy := found.Busy(); busy && call.Key == o.Key {
			return &ordering.KeyTakenError{Record: found.Record, Call: call.Number}
		}
	}
	_, holder, call, err := j.holder(ctx, o.Connection, o.Key)
	switch {
	case err != nil:
		return err
	case holder != nil:
		return &ordering.KeyTakenError{Record: holder.Record, Call: call}
	default:
		return why
	}
}

// byOrderID gives the order that has an orderID, nil when there is none, and
// the ref that the orderID stands for, which may have outlived its order.
func (j *Journal) byOrderID(ctx context.Context, connection, orderID string) (ref string, found *order, err error) {
	ref, err = j.text(ctx, j.keys.OrderID(connection, orderID))
	if err != nil || ref == "" {
		return "", nil, err
	}
	found, err = j.order(ctx, j.write, place{connection, ref})
	if errors.Is(err, ordering.ErrNoOrder) {
		return ref, nil, nil
	}
	return ref, found, err
}

// created begins the record of a creating call.
func (j *Journal) created(o ordering.CallSpec) *change {
	return j.born(ordering.Record{
		Ref: o.Ref, Connection: o.Connection, Client: o.Client, Restaurant: o.Restaurant, State: ordering.StatePlacing,
		MenuVersion: o.MenuVersion, ExpectedAt: o.ExpectedAt, Total: o.Total,
	})
}

// adopted begins the record of an order that larder did not place (policy O9a).
func (j *Journal) adopted(o ordering.CallSpec) *change {
	c := j.born(ordering.Record{Ref: o.Ref, Connection: o.Connection, Client: o.Client, Adopted: true, State: ordering.StatePlaced})
	c.put(fieldOrderID, o.OrderID)
	c.step("set", c.id(o.OrderID), o.Ref)
	return c
}

func (j *Journal) born(r ordering.Record) *change {
	c := j.change(&order{place: place{r.Connection, r.Ref}})
	c.step("born", c.names.Orders(r.Connection), r.Ref)
	c.step("born", c.in(string(r.State)), r.Ref)
	c.stamp(fieldCreated)
	c.touch()
	c.put(fieldHead, encode(headOf(&r)))
	c.put(fieldState, string(r.State))
	return c
}

// open adds the call to a change and commits it. key is what the key's own key
// holds, "" as a rule, or what has outlived its record.
func (j *Journal) open(ctx context.Context, o ordering.CallSpec, c *change, key string) (*order, error) {
	if o.Key != "" {
		c.check(c.key(o.Key), key)
	}
	c.check(c.names.OrderAborted(o.Connection, o.ID), "")
	c.openCall(ordering.Call{
		SpecID: o.ID, Operation: o.Operation, Client: o.Client, RequestID: o.RequestID, Fingerprint: o.Fingerprint,
		Derived: o.Derived, Key: o.Key, Payments: o.Payments,
	}, o.Body, millis(o.Deadline))
	if o.Operation == upstream.OpCreate {
		c.mode = modeCreate
	}
	begun, err := j.commit(ctx, c)
	if errors.Is(err, ErrReplicas) {
		return nil, errors.Join(err, j.abort(ctx, o))
	}
	return begun, err
}

// openCall adds an open call: the last of the order's.
func (c *change) openCall(call ordering.Call, body []byte, deadline int64) {
	n := 1
	if calls := c.order.Calls; len(calls) > 0 {
		n = calls[len(calls)-1].Number + 1
	}
	c.step("due", c.open(), c.pointer(n), deadline, 0)
	if call.Key != "" {
		c.step("set", c.key(call.Key), c.pointer(n))
	}
	if len(body) > 0 {
		c.step("put", c.guest(n), fieldBody, body)
	}
	c.hold()
	c.put(numbered(fieldOpening, n), encode(openingOf(&call)))
	c.put(numbered(fieldOutcome, n), string(ordering.OutcomeOpen))
	c.stamp(numbered(fieldStarted, n))
}

// dropOldest makes room for one more change: of the changes a record keeps the
// latest ordering.MaxCalls. With a call goes its key: there is nothing left
// that a replay could answer.
func (c *change) dropOldest() {
	changes := slices.DeleteFunc(slices.Clone(c.order.Calls), func(call ordering.Call) bool { return call.Operation == upstream.OpCreate })
	for ; len(changes) >= ordering.MaxCalls; changes = changes[1:] {
		oldest := changes[0]
		for _, field := range callFields() {
			c.unput(numbered(field, oldest.Number))
		}
		c.step("del", c.guest(oldest.Number))
		if oldest.Key != "" {
			c.step("unset", c.key(oldest.Key), c.pointer(oldest.Number))
		}
	}
}

// holder gives the order and the call that have taken a key, nil when none
// has, and what the key's own key holds: "", or what has outlived its record.
func (j *Journal) holder(ctx context.Context, connection, key string) (value string, holder *order, call int, err error) {
	if key == "" {
		return "", nil, 0, nil
	}
	value, err = j.text(ctx, j.keys.OrderKey(connection, key))
	if err != nil || value == "" {
		return "", nil, 0, err
	}
	ref, number, _ := strings.Cut(value, " ")
	if call, err = strconv.Atoi(number); err != nil {
		return "", nil, 0, fmt.Errorf("what has taken a key: %w", ErrCorrupt)
	}
	holder, err = j.order(ctx, j.write, place{connection, ref})
	if errors.Is(err, ordering.ErrNoOrder) {
		return value, nil, 0, nil
	}
	if err != nil {
		return "", nil, 0, err
	}
	if taken, ok := holder.Call(call); !ok || taken.Key != key || freesKey(taken, taken.Outcome) {
		return value, nil, 0, nil // freed since the key was read
	}
	return value, holder, call, nil
}
