package journal

import (
	"maps"
	"slices"
	"strconv"

	"larder/cache"
	"larder/ordering"
)

// tx is a transaction on one order, built from the order as it was read, for commit.lua.
type tx struct {
	names cache.Keys
	cfg   ordering.Config
	order *order // as it was read; without a revision it is to be created
	// placedState is the state that replaces StatePlaced, usually empty (see supersede).
	placedState ordering.State

	keys       []string
	keyNumbers map[string]int // of the keys
	checks     []any
	steps      []any

	mode string // of commit.lua

	fields        map[string]string // after the transaction
	answers       map[int]string
	stampedFields []string // fields set to the time of the transaction
}

// newTx starts a transaction on an order.
func (w *writer) newTx(o *order) *tx {
	c := &tx{
		names:      w.keys,
		cfg:        w.cfg,
		order:      o,
		keyNumbers: map[string]int{},
		mode:       modeCommit,
		fields:     map[string]string{},
		answers:    map[int]string{},
	}
	maps.Copy(c.fields, o.fields)
	maps.Copy(c.answers, o.answers)
	c.keyNumber(c.names.JournalState(c.connection())) // KEYS[1] of commit.lua
	c.checkField(c.recordKey(), fieldRev, o.revision)
	return c
}

func next(revision string) string {
	last, _ := strconv.ParseInt(revision, 10, 64) // decode has validated it
	return strconv.FormatInt(last+1, 10)
}

// touch raises the revision and sets the time of the last change.
func (c *tx) touch() {
	c.setField(fieldRev, next(c.order.revision))
	c.setNow(fieldUpdated)
}

// The Redis keys of the order.

func (c *tx) connection() string { return c.order.place.connection }
func (c *tx) recordKey() string  { return c.names.Order(c.connection(), c.order.place.ref) }
func (c *tx) guestKey(call int) string {
	return c.names.OrderGuest(c.connection(), c.order.place.ref, call)
}
func (c *tx) idempotencyKey(hash string) string { return c.names.OrderKey(c.connection(), hash) }
func (c *tx) orderIDKey(id string) string       { return c.names.OrderID(c.connection(), id) }
func (c *tx) stateList(list string) string      { return c.names.OrdersIn(c.connection(), list) }
func (c *tx) openList() string                  { return c.names.OrdersOpen(c.connection()) }
func (c *tx) expiryList() string                { return c.names.OrdersExpiry(c.connection()) }

// pointer returns the reference to a call in key values and in the list of open calls.
func (c *tx) pointer(call int) string { return pointer(c.order.place.ref, call) }

func pointer(ref string, call int) string { return ref + " " + strconv.Itoa(call) }

// Checks and steps; commit.lua explains them.

func (c *tx) keyNumber(key string) int {
	n, ok := c.keyNumbers[key]
	if !ok {
		c.keys = append(c.keys, key)
		n = len(c.keys)
		c.keyNumbers[key] = n
	}
	return n
}

func (c *tx) checkField(key, field, value string) {
	c.checks = append(c.checks, c.keyNumber(key), field, value)
}

// check makes the transaction depend on the value of a string; empty means that it does not exist.
func (c *tx) check(key, value string) { c.checkField(key, "", value) }

func (c *tx) step(name, key string, words ...any) {
	c.steps = append(c.steps, name, c.keyNumber(key))
	c.steps = append(c.steps, words...)
	for range 3 - len(words) {
		c.steps = append(c.steps, "")
	}
}

func (c *tx) setField(field, value string) {
	c.fields[field] = value
	c.step("hset", c.recordKey(), field, value)
}

// setNow sets a field of the record to the time of the transaction.
func (c *tx) setNow(field string) {
	c.fields[field] = "1"
	c.stampedFields = append(c.stampedFields, field)
	c.step("hset-now", c.recordKey(), field)
}

func (c *tx) deleteField(field string) {
	delete(c.fields, field)
	c.step("hdel", c.recordKey(), field)
}

// putAnswer stores the service's answer to a call: the whole answer with the guest data, and status
// and code in the record.
func (c *tx) putAnswer(call int, a *ordering.Answer) {
	if a == nil {
		return
	}
	c.answers[call] = encode(a)
	c.setField(numbered(fieldAnswer, call), encode(ordering.Answer{Status: a.Status, Code: a.Code}))
	c.step("hset", c.guestKey(call), fieldGuestAns, c.answers[call])
}

// arguments returns the arguments of commit.lua for an instance that remembers r.
func (c *tx) arguments(r remembered) []any {
	reportOnly := r.replicated && c.cfg.WaitReplicas != nil && *c.cfg.WaitReplicas == 0
	head := []any{
		c.mode, r.Epoch, r.Mark, r.Instance, r.Own, r.seen, r.candidate,
		flag(reportOnly), flag(r.replicated), len(c.checks) / 3,
	}
	return slices.Concat(head, c.checks, c.steps)
}

// flag converts a boolean for the scripts.
func flag(b bool) string {
	if b {
		return yes
	}
	return ""
}

// keepRecord keeps the record and its orderID while a call is open or unknown (policy O13).
func (c *tx) keepRecord() {
	c.step("persist", c.recordKey())
	if c.order.revision != "" {
		c.step("zrem", c.expiryList(), c.order.member())
	}
	if id := c.fields[fieldOrderID]; id != "" {
		c.step("persist", c.orderIDKey(id), c.order.place.ref)
	}
}

// expireRecord lets everything expire again after a call has ended. The record expires record_ttl
// after the later of creation and expectedAt, but not before customer_data_ttl from now. The call's
// guest data expires customer_data_ttl from now, and if the outcome had been unknown, so does the
// guest data of every call (policy O13).
func (c *tx) expireRecord(ended ordering.Call) {
	rel, abs := c.cfg.CustomerDataTTL.Milliseconds(), c.recordUntil()
	c.step("expire", c.recordKey(), "", rel, abs)
	c.step("zadd-expire", c.expiryList(), c.order.member(), rel, abs)
	if id := c.fields[fieldOrderID]; id != "" {
		c.step("expire", c.orderIDKey(id), c.order.place.ref, rel, abs)
	}
	for _, call := range c.order.Calls {
		if call.Number == ended.Number || ended.Outcome == ordering.OutcomeUnknown {
			c.step("expire", c.guestKey(call.Number), "", rel, 0)
		}
	}
}

// recordUntil returns the time at which the record may expire, in milliseconds since the epoch.
func (c *tx) recordUntil() int64 {
	from := c.order.CreatedAt
	if c.order.ExpectedAt.After(from) {
		from = c.order.ExpectedAt
	}
	until := from.Add(c.cfg.RecordTTL)
	for _, call := range c.order.Calls {
		end := call.EndedAt
		if call.Resolved != nil && call.Resolved.At.After(end) {
			end = call.Resolved.At
		}
		if kept := end.Add(c.cfg.CustomerDataTTL); kept.After(until) {
			until = kept
		}
	}
	return epoch(until)
}
