package journal

import (
	"cmp"
	"crypto/rand"
	"errors"
	"slices"
	"strconv"
	"strings"
	"time"

	"larder.local/ordering"
)

// tx is a transaction on one order, built from the order as it was read, for commit.lua.
type tx struct {
	store *store
	order *order // as read; it has no revision if the tx creates it
	next  order  // after the transaction; the tx owns its list of calls. Its revision is random if empty
	// placedState is the state that replaces StatePlaced, usually empty (see supersede).
	placedState ordering.State

	writes bool  // the record is written
	fault  error // why it cannot be
	tookID bool  // the orderID becomes one of this order
	// repeated is the order that got the orderID of a create before (see takeOwnID).
	repeated *ordering.IDRepeatedError
	// ownIDKey replaces the key of the orderID if another order keeps that (see shareID).
	ownIDKey string
	expires  string // when the record and its orderID expire: never, keepTTL or atTime

	// timeArg is the later of in after the commit and notBefore, in milliseconds since the epoch. A transaction has one:
	// the deadline of the call that it opens, or else the expiry of its record. An order with an open call has no expiry.
	in        time.Duration
	notBefore int64

	// What commit.lua gets.
	mode, stateKey, ordersKey string
	checks                    []check
	steps                     []step
}

// check is a condition of a transaction: the bytes 0 to last of a string have the value; without a string, they are empty.
// With the last "new", the string does not exist; if it does, the error has it. With "until", value is a time that has not passed.
type check struct{ key, last, value string }

// step is a Redis command of a transaction. how begins its form in commit.lua.
type step struct {
	key, how, command string
	args              []string
}

// When a key expires, as arguments of SET.
const (
	never   = ""
	keepTTL = "KEEPTTL" // as before
	atTime  = "PXAT " + timeArg
)

// timeArg is an argument that commit.lua replaces; see tx.in.
const timeArg = "@time"

// commitTime is a byte that commit.lua replaces by the time of the commit, 15 digits. It is in no JSON text, ref or revision.
const commitTime = "\x01"

// newTx starts a transaction on an order.
func (s *store) newTx(o *order) *tx {
	c := &tx{
		store: s, order: o, next: order{Record: o.Record}, mode: modeCommit, expires: keepTTL,
		stateKey: s.keys.JournalState(o.Connection), ordersKey: s.keys.Orders(o.Connection),
	}
	c.next.Calls = append(make([]ordering.Call, 0, len(o.Calls)+1), o.Calls...)
	c.checkRevision(o)
	return c
}

// touch makes the transaction write the record, with a new time of the last change.
func (c *tx) touch() { c.writes, c.next.UpdatedAt = true, atCommit() }

// put adds a call, or replaces the one with its number.
func (c *tx) put(call ordering.Call) {
	i := slices.IndexFunc(c.next.Calls, func(old ordering.Call) bool { return old.Number == call.Number })
	if i < 0 {
		c.next.Calls = append(c.next.Calls, call)
	} else {
		c.next.Calls[i] = call
	}
}

// freeNumber returns the number of a new call beside these, at least the given one.
func freeNumber(calls []ordering.Call, least int) int {
	for _, call := range calls {
		least = max(least, call.Number+1)
	}
	return least
}

// seal adds the steps that write the record and its places in the lists. It fails for a record that decode would reject.
func (c *tx) seal() error {
	if !c.writes || c.fault != nil {
		return c.fault
	}
	if c.next.revision == "" {
		c.next.revision = rand.Text()
	}
	if _, busy := c.next.Busy(); busy {
		c.expires = never // nothing of the order expires (policy O13)
	}
	text, err := encode(c.next.revision, &c.next.Record)
	if err != nil {
		return err
	}
	others, expires := c.steps, strings.Fields(c.expires)
	c.steps = make([]step, 0, len(others)+5)
	// The first step, so that an error of Redis in this step leaves the lists as they are.
	c.doNow(c.store.keys.Order(c.connection(), c.order.Ref), "SET", append([]string{text}, expires...)...)
	c.updateLists()
	c.steps = append(c.steps, others...)
	switch id := c.next.OrderID; {
	case id == "":
	case c.tookID:
		c.do(cmp.Or(c.ownIDKey, c.orderIDKey(id)), "SET", append([]string{c.order.Ref}, expires...)...)
	case c.expires == never:
		c.doIf(c.orderIDKey(id), c.order.Ref, "PERSIST")
	case c.expires == atTime:
		c.doIf(c.orderIDKey(id), c.order.Ref, "PEXPIREAT", timeArg)
	}
	return nil
}

// The Redis keys of the order.

func (c *tx) connection() string { return c.order.Connection }

func (c *tx) guestKey(call int) string {
	return c.store.keys.OrderGuest(c.connection(), c.order.Ref, call)
}

func (c *tx) idempotencyKey(hash string) string { return c.store.keys.OrderKey(c.connection(), hash) }
func (c *tx) orderIDKey(id string) string       { return c.store.keys.OrderID(c.connection(), id) }

// pointer returns the reference to a call in the values of keys.
func (c *tx) pointer(call int) string { return c.order.Ref + " " + strconv.Itoa(call) }

func number(n int64) string { return strconv.FormatInt(n, 10) }

// Checks and steps; commit.lua explains them.

// checkRevision makes the transaction depend on the revision of an order.
func (c *tx) checkRevision(o *order) {
	key := c.store.keys.Order(o.Connection, o.Ref)
	if o.revision == "" {
		c.check(key, "")
	} else {
		c.checks = append(c.checks, check{key, strconv.Itoa(recordHead - 1), recordFormat + o.revision + " "})
	}
}

// check makes the transaction depend on the value of a string; empty means that it does not exist.
func (c *tx) check(key, value string) {
	c.checks = append(c.checks, check{key, strconv.Itoa(len(value)), value}) // one more byte than the value has
}

// do adds a command.
func (c *tx) do(key, command string, args ...string) {
	c.steps = append(c.steps, step{key, "", command, args})
}

// doNow adds a command with commitTime in its arguments.
func (c *tx) doNow(key, command string, args ...string) {
	c.steps = append(c.steps, step{key, "now ", command, args})
}

// doIf adds a command that runs only if the string at the key has the value.
func (c *tx) doIf(key, value, command string, args ...string) {
	c.steps = append(c.steps, step{key, "if ", command, slices.Insert(args, 0, value)})
}

// milliseconds returns a duration as Redis's commands take an expiry: at least 1.
func milliseconds(d time.Duration) string { return number(max(d.Milliseconds(), 1)) }

// putAnswer stores the service's answer to a call with the guest data, and its status and code in the record.
func (c *tx) putAnswer(call *ordering.Call, a *ordering.Answer) {
	if a == nil {
		return
	}
	if call.Answer = a; a.Body != nil && len(a.Body) == 0 {
		call.Answer = new(*a)
		call.Answer.Body = nil
	}
	text, err := encodeAnswer(a)
	c.fault = errors.Join(c.fault, err)
	c.do(c.guestKey(call.Number), "HSET", fieldAnswer, text)
}

// evalsha returns the command that runs commit.lua for an instance that remembers r.
func (c *tx) evalsha(r remembered) []any {
	reportOnly := r.replicated && c.store.cfg.WaitReplicas != nil && *c.store.cfg.WaitReplicas == 0
	keys := []string{c.stateKey, c.ordersKey}
	words := []string{
		c.mode, r.Epoch, number(r.Mark), r.Instance, number(r.Own), number(r.seen), r.candidate,
		strconv.FormatBool(reportOnly), strconv.FormatBool(r.replicated),
		strconv.Itoa(len(c.checks)), number(c.in.Milliseconds()), number(c.notBefore),
	}
	for _, check := range c.checks {
		keys, words = append(keys, check.key), append(words, check.last, check.value)
	}
	for _, step := range c.steps {
		keys = append(keys, step.key)
		words = append(append(words, step.how+strconv.Itoa(len(step.args)), step.command), step.args...)
	}
	all := append(make([]any, 0, 3+len(keys)+len(words)), "evalsha", commitHash, len(keys))
	for _, texts := range [][]string{keys, words} {
		for i := range texts {
			all = append(all, &texts[i]) // a pointer, because a string in an interface is another allocation
		}
	}
	return all
}

// storedAttempts returns attempts as the journal stores them: with times in milliseconds.
func storedAttempts(tries []ordering.Attempt) []ordering.Attempt {
	tries = slices.Clone(tries)
	for i := range tries {
		tries[i].At = moment(epoch(tries[i].At))
	}
	return tries
}
