package journal

import (
	"maps"
	"strconv"
	"time"

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

	mode string // of commit.lua

	fields  map[string]string // as they will be
	answers map[int]string
	stamps  []string // fields that get the time of the change
}

// change begins a change of an order.
func (j *Journal) change(o *order) *change {
	c := &change{
		names: j.keys, cfg: j.cfg, order: o, numbers: map[string]int{}, mode: modeCommit,
		fields: maps.Clone(o.fields), answers: maps.Clone(o.answers),
	}
	if c.fields == nil {
		c.fields, c.answers = map[string]string{}, map[int]string{}
	}
	c.number(c.names.JournalState(c.connection())) // commit.lua's KEYS[1]
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

// putAnswer keeps what the service answered to a call: beside the record whole,
// in it the status and the code.
func (c *change) putAnswer(call int, a *ordering.Answer) {
	if a == nil {
		return
	}
	c.answers[call] = encode(a)
	c.put(numbered(fieldAnswer, call), encode(ordering.Answer{Status: a.Status, Code: a.Code}))
	c.step("put", c.guest(call), fieldGuestAns, c.answers[call])
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

// arguments returns commit.lua's, for an instance that remembers r.
func (c *change) arguments(r remembered) []any {
	reportOnly := r.replicated && c.cfg.WaitReplicas != nil && *c.cfg.WaitReplicas == 0
	arguments := make([]any, 0, 10+len(c.checks)+len(c.steps))
	arguments = append(arguments,
		c.mode, r.epoch, r.mark, r.instance, r.own, r.seen, r.candidate, flag(reportOnly), flag(r.replicated), len(c.checks)/3)
	arguments = append(arguments, c.checks...)
	return append(arguments, c.steps...)
}

// flag is a boolean as the scripts take it.
func flag(b bool) string {
	if b {
		return yes
	}
	return ""
}

// hold lets the record and its orderID live for as long as a call is open or
// unknown (policy O13).
func (c *change) hold() {
	c.step("keep", c.record())
	if c.order.revision != "" {
		c.step("drop", c.expiry(), c.order.member())
	}
	if id := c.fields[fieldOrderID]; id != "" {
		c.step("keep", c.id(id), c.order.place.ref)
	}
}

// holdGuests lets what is still there of the guest data live on too.
func (c *change) holdGuests() {
	for _, call := range c.order.Calls {
		c.step("keep", c.guest(call.Number))
	}
}

// release lets everything expire again, when a call has ended for good: the
// record record_ttl after the later of creation and expectedAt, but customer_data_ttl
// from now at least; the call's guest data customer_data_ttl from now, and that of
// every call when the outcome had been unknown (policy O13).
func (c *change) release(ended ordering.Call) {
	rel, abs := millis(c.cfg.CustomerDataTTL), c.recordUntil()
	c.step("life", c.record(), "", rel, abs)
	c.step("due", c.expiry(), c.order.member(), rel, abs)
	if id := c.fields[fieldOrderID]; id != "" {
		c.step("life", c.id(id), c.order.place.ref, rel, abs)
	}
	for _, call := range c.order.Calls {
		if call.Number == ended.Number || ended.Outcome == ordering.OutcomeUnknown {
			c.step("life", c.guest(call.Number), "", rel, 0)
		}
	}
}

// recordUntil is when the record may go, in milliseconds since the epoch.
func (c *change) recordUntil() int64 {
	from := c.order.CreatedAt
	if c.order.ExpectedAt.After(from) {
		from = c.order.ExpectedAt
	}
	until := from.Add(c.cfg.RecordTTL)
	for _, call := range c.order.Calls {
		for _, end := range []time.Time{call.EndedAt, settledAt(call)} {
			if kept := end.Add(c.cfg.CustomerDataTTL); kept.After(until) {
				until = kept
			}
		}
	}
	return epoch(until)
}

func settledAt(call ordering.Call) time.Time {
	if call.Resolved == nil {
		return time.Time{}
	}
	return call.Resolved.At
}
