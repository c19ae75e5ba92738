package journal

import (
	"cmp"
	"crypto/rand"
	"errors"
	"slices"
	"strconv"
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
	// ownIDKey replaces the key of the orderID if another order keeps that (see shareID).
	ownIDKey string
	until    expiry // of the record and of its orderID

	// The parts of KEYS and ARGV of commit.lua.
	mode, state, orders       string
	absent, checked, stepKeys []string
	checks, steps             []string
}

// expiry is EXPIRY in commit.lua.
type expiry struct{ rel, abs string }

func keepTTL() expiry { return expiry{rel: "keep"} } // as before

// words appends the words of the expiry.
func (e expiry) words(to []string) []string {
	if to = append(to, e.rel); e != (expiry{}) && e != keepTTL() {
		to = append(to, e.abs)
	}
	return to
}

// after returns the expiry at a time after the commit.
func after(d time.Duration) expiry { return expiry{number(d.Milliseconds()), "0"} }

// newTx starts a transaction on an order.
func (s *store) newTx(o *order) *tx {
	c := &tx{
		store: s, order: o, next: order{Record: o.Record, place: o.place},
		mode: modeCommit, until: keepTTL(), state: s.keys.JournalState(o.place.connection),
		orders: s.keys.Orders(o.place.connection),
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

// seal adds the steps that write the record. It fails for a record that decode would reject.
func (c *tx) seal() error {
	if !c.writes || c.fault != nil {
		return c.fault
	}
	if c.next.revision == "" {
		c.next.revision = rand.Text()
	}
	if _, busy := c.next.Busy(); busy {
		c.until = expiry{} // nothing of the order expires (policy O13)
	}
	head, tail, err := encode(c.next.revision, &c.next.Record)
	if err != nil {
		return err
	}
	// The first step, so that an error of Redis in this step leaves the lists as they are.
	c.stepKeys = slices.Insert(c.stepKeys, 0, c.store.keys.Order(c.connection(), c.order.place.ref))
	c.steps = slices.Insert(c.steps, 0, c.until.words([]string{"record", head, tail})...)
	switch id := c.next.OrderID; {
	case id == "":
	case c.tookID:
		c.stepUntil(c.until, "set", cmp.Or(c.ownIDKey, c.orderIDKey(id)), c.order.place.ref)
	case c.until != keepTTL():
		c.stepUntil(c.until, "expire", c.orderIDKey(id), c.order.place.ref)
	}
	return nil
}

// The Redis keys of the order.

func (c *tx) connection() string { return c.order.place.connection }

func (c *tx) guestKey(call int) string {
	return c.store.keys.OrderGuest(c.connection(), c.order.place.ref, call)
}

func (c *tx) idempotencyKey(hash string) string { return c.store.keys.OrderKey(c.connection(), hash) }
func (c *tx) orderIDKey(id string) string       { return c.store.keys.OrderID(c.connection(), id) }
func (c *tx) stateList(state ordering.State) string {
	return c.store.keys.OrdersIn(c.connection(), string(state))
}
func (c *tx) openList() string   { return c.store.keys.OrdersOpen(c.connection()) }
func (c *tx) expiryList() string { return c.store.keys.OrdersExpiry(c.connection()) }

// pointer returns the reference to a call in the values of keys and in the list of open calls.
func (c *tx) pointer(call int) string { return c.order.place.ref + " " + strconv.Itoa(call) }

func number(n int64) string { return strconv.FormatInt(n, 10) }

// Checks and steps; commit.lua explains them.

// checkRevision makes the transaction depend on the revision of an order.
func (c *tx) checkRevision(o *order) {
	key := c.store.keys.Order(o.place.connection, o.place.ref)
	if o.revision == "" {
		c.check(key, "")
		return
	}
	c.checked = append(c.checked, key)
	c.checks = append(c.checks, strconv.Itoa(recordHead-1), recordFormat+o.revision+" ")
}

// check makes the transaction depend on the value of a string; empty means that it does not exist.
func (c *tx) check(key, value string) {
	if value == "" {
		c.absent = append(c.absent, key)
		return
	}
	c.checked = append(c.checked, key)
	c.checks = append(c.checks, strconv.Itoa(len(value)), value) // one more byte than the value has
}

// notAfter makes the transaction fail after a time, by Redis's clock.
func (c *tx) notAfter(t time.Time) {
	c.checked = append(c.checked, c.state) // each check has a key
	c.checks = append(c.checks, "until", number(epoch(t)))
}

func (c *tx) step(name, key string, words ...string) {
	c.stepKeys = append(c.stepKeys, key)
	c.steps = append(append(c.steps, name), words...)
}

// stepUntil adds a step that ends with an expiry.
func (c *tx) stepUntil(e expiry, name, key string, words ...string) {
	c.step(name, key, words...)
	c.steps = e.words(c.steps)
}

// list adds the order to a list, by its creation and with a suffix. The expiry is its score.
func (c *tx) list(key, suffix string, e expiry) {
	if c.next.CreatedAt.Equal(atCommit()) {
		c.stepUntil(e, "zadd-now", key, c.order.place.ref+suffix)
		return
	}
	c.stepUntil(e, "zadd", key, c.member(suffix))
}

// member returns the existing order's member of the lists, which sorts by creation time.
func (c *tx) member(suffix string) string {
	ms := number(epoch(c.next.CreatedAt))
	return zeros[min(len(ms), timeDigits):] + ms + "/" + c.order.place.ref + suffix
}

// unlist removes the order from a list.
func (c *tx) unlist(key, suffix string) { c.step("zrem", key, c.member(suffix)) }

// callSuffix is what distinguishes the calls of an order in the list of open calls.
func callSuffix(call int) string { return " " + strconv.Itoa(call) }

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
	c.step("hset", c.guestKey(call.Number), fieldAnswer, text)
}

// command returns the command that runs commit.lua for an instance that remembers r.
func (c *tx) command(r remembered) []any {
	reportOnly := r.replicated && c.store.cfg.WaitReplicas != nil && *c.store.cfg.WaitReplicas == 0
	if r.Epoch != "" {
		r.candidate = "" // not needed
	}
	parameters := []string{
		c.mode, r.Epoch, number(r.Mark), r.Instance, number(r.Own), number(r.seen), r.candidate,
		flag(reportOnly), flag(r.replicated), strconv.Itoa(len(c.absent)), strconv.Itoa(len(c.checked)),
	}
	texts := slices.Concat(c.absent, c.checked, c.stepKeys, parameters, c.checks, c.steps)
	all := make([]any, 0, 5+len(texts))
	all = append(all, "evalsha", commitHash, 2+len(c.absent)+len(c.checked)+len(c.stepKeys), c.state, c.orders)
	for i := range texts {
		all = append(all, &texts[i]) // a pointer, because a string in an interface is another allocation
	}
	return all
}

// flag converts a boolean for the scripts.
func flag(b bool) string {
	if b {
		return yes
	}
	return ""
}

// keepRecord removes the record from the list of those that expire; seal removes its expiry.
func (c *tx) keepRecord() {
	if c.order.revision != "" {
		c.unlist(c.expiryList(), "")
	}
}

// expireRecord lets everything expire again after a call has ended. The record expires record_ttl after the later of
// creation and expectedAt, but not before customer_data_ttl from now. The call's guest data expires customer_data_ttl
// from now, and if the outcome had been unknown, so does the guest data of every call (policy O13).
func (c *tx) expireRecord(ended int, wasUnknown bool) {
	guestData := after(c.store.cfg.CustomerDataTTL)
	c.until = expiry{guestData.rel, number(c.recordUntil())}
	c.list(c.expiryList(), "", c.until)
	for _, call := range c.next.Calls {
		if call.Number == ended || wasUnknown {
			c.stepUntil(guestData, "expire", c.guestKey(call.Number), "")
		}
	}
}

// recordUntil returns the time at which the record may expire, in milliseconds since the epoch.
func (c *tx) recordUntil() int64 {
	from := c.next.CreatedAt
	if c.next.ExpectedAt.After(from) {
		from = c.next.ExpectedAt
	}
	until := from.Add(c.store.cfg.RecordTTL)
	for _, call := range c.next.Calls {
		end := call.EndedAt
		if call.Resolved != nil && call.Resolved.At.After(end) {
			end = call.Resolved.At
		}
		if kept := end.Add(c.store.cfg.CustomerDataTTL); kept.After(until) {
			until = kept
		}
	}
	return epoch(until)
}

// storedAttempts returns attempts as the journal stores them: with times in milliseconds.
func storedAttempts(tries []ordering.Attempt) []ordering.Attempt {
	tries = slices.Clone(tries)
	for i := range tries {
		tries[i].At = moment(epoch(tries[i].At))
	}
	return tries
}
