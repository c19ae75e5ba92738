package journal

import (
	"context"
	"fmt"
	"maps"
	"strconv"

	"github.com/redis/go-redis/v9"

	"larder/cache"
	"larder/ordering"
)

// change is made up from an order as it was read and handed to commit.lua.
type change struct {
	names cache.Keys
	cfg   ordering.Config
	order *order // as it was read; without a revision, one that is to be made
	// stands is where a placed order stands already, "" as a rule (see succeed).
	stands ordering.State

	keys    []string
	numbers map[string]int // of the keys
	checks  []any
	steps   []any

	fields  map[string]string // as they will be
	answers map[int]string
	stamps  []string // fields that get the time of the change
}

// change begins a change of an order.
func (j *Journal) change(o *order) *change {
	c := &change{
		names: j.keys, cfg: j.cfg, order: o, numbers: map[string]int{},
		fields: maps.Clone(o.fields), answers: maps.Clone(o.answers),
	}
	if c.fields == nil {
		c.fields, c.answers = map[string]string{}, map[int]string{}
	}
	c.checkField(c.record(), fieldRev, o.revision)
	return c
}

// next is the revision after one.
func next(revision string) string {
	last, _ := strconv.ParseInt(revision, 10, 64) // decode has looked at it
	return strconv.FormatInt(last+1, 10)
}

// raise gives the order its next revision.
func (c *change) raise() { c.put(fieldRev, next(c.order.revision)) }

// touch raises the revision and stamps the record as changed.
func (c *change) touch() {
	c.raise()
	c.stamp(fieldUpdated)
}

// The keys of the order.

func (c *change) connection() string { return c.order.place.connection }
func (c *change) record() string     { return c.names.Order(c.connection(), c.order.place.ref) }
func (c *change) guest(call int) string {
	return c.names.OrderGuest(c.connection(), c.order.place.ref, call)
}
func (c *change) key(hash string) string { return c.names.OrderKey(c.connection(), hash) }
func (c *change) id(id string) string    { return c.names.OrderID(c.connection(), id) }
func (c *change) in(list string) string  { return c.names.OrdersIn(c.connection(), list) }
func (c *change) open() string           { return c.names.OrdersOpen(c.connection()) }
func (c *change) expiry() string         { return c.names.OrdersExpiry(c.connection()) }

// pointer is what keys and the list of open calls say of a call.
func (c *change) pointer(call int) string { return pointer(c.order.place.ref, call) }

func pointer(ref string, call int) string { return ref + " " + strconv.Itoa(call) }

// Checks and steps, as commit.lua explains them.

func (c *change) number(key string) int {
	n, ok := c.numbers[key]
	if !ok {
		c.keys = append(c.keys, key)
		n = len(c.keys)
		c.numbers[key] = n
	}
	return n
}

func (c *change) checkField(key, field, value string) {
	c.checks = append(c.checks, c.number(key), field, value)
}

// check relies on a string's value, "" for no such key.
func (c *change) check(key, value string) { c.checkField(key, "", value) }

func (c *change) step(name, key string, words ...any) {
	c.steps = append(c.steps, name, c.number(key))
	c.steps = append(c.steps, words...)
	for range 3 - len(words) {
		c.steps = append(c.steps, "")
	}
}

// put sets a field of the record.
func (c *change) put(field, value string) {
	c.fields[field] = value
	c.step("put", c.record(), field, value)
}

// stamp sets a field of the record to the time of the change.
func (c *change) stamp(field string) {
	c.stamps = append(c.stamps, field)
	c.step("stamp", c.record(), field)
}

func (c *change) unput(field string) {
	delete(c.fields, field)
	c.step("unput", c.record(), field)
}

// commit makes the change and gives the order after it. errMoved when
// something it relies on is otherwise.
func (j *Journal) commit(ctx context.Context, c *change) (*order, error) {
	if err := j.apply(ctx, c); err != nil {
		return nil, err
	}
	return decode(c.order.place, c.fields, c.answers)
}

// apply makes the change.
func (j *Journal) apply(ctx context.Context, c *change) error {
	if err := c.readable(); err != nil {
		return err
	}
	return c.made(j.scripts.commit.Run(ctx, j.write, c.keys, c.arguments()...))
}

// readable refuses to write an order that could not be read again.
func (c *change) readable() error {
	if len(c.fields) == 0 {
		return nil // there is none, and none is made
	}
	fields := maps.Clone(c.fields)
	for _, field := range c.stamps {
		fields[field] = "1"
	}
	_, err := decode(c.order.place, fields, c.answers)
	return err
}

func (c *change) arguments() []any {
	arguments := make([]any, 0, 1+len(c.checks)+len(c.steps))
	arguments = append(arguments, len(c.checks)/3)
	arguments = append(arguments, c.checks...)
	return append(arguments, c.steps...)
}

// made reads commit.lua's result.
func (c *change) made(reply *redis.Cmd) error {
	result, err := reply.Slice()
	if err != nil {
		return err
	}
	if len(result) != 2 {
		return fmt.Errorf("%w: %d results of a change", ErrCorrupt, len(result))
	}
	if done, _ := result[0].(int64); done != 1 {
		return errMoved
	}
	now, _ := result[1].(string)
	for _, field := range c.stamps {
		c.fields[field] = now
	}
	return nil
}
