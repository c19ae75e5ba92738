package chaos

import (
	"fmt"
	"maps"
	"math"
	"net/http"
	"slices"
	"strings"
)

// The rules. Each is the name of a Violation.
const (
	RuleOnce         = "executed at most once"
	RuleExecuted     = "acknowledged means executed"
	RuleSameAnswer   = "an acknowledged answer stays the same"
	RuleNotUnknown   = "an acknowledged order never becomes unknown"
	RuleNotForgotten = "an acknowledged order is never forgotten"
	RuleListed       = "unknown means listed for operators, or resolved"
	RuleNotPlaced    = "an answer that says it was not done means never executed"
	RulePause        = "journal_restored only after a loss of data"
	RuleRecovers     = "when all faults are over every key has an answer"
)

// codeRestored is the code of calls that wait for an operator (policy O14a).
const codeRestored = "journal_restored"

// Violation is a broken rule in a history.
type Violation struct {
	Rule  string
	Order string // the key of the order's create; empty for the whole run
	Key   string
	Text  string
}

func (v Violation) String() string {
	return fmt.Sprintf("%s: order %s, key %s: %s", v.Rule, v.Order, v.Key, v.Text)
}

// Counts summarizes a history.
type Counts struct {
	Keys, Acknowledged, NotAvailable, Unknown int // keys, by their answers; NotAvailable: only 503
	Paused                                    int // answers with journal_restored
	Forgotten, Doubled, BecameUnknown         int // acknowledged orders, executions, acknowledged orders and changes
}

func (c Counts) String() string {
	return fmt.Sprintf("%d keys: %d acknowledged, %d only 503, %d unknown; "+
		"forgotten %d, doubled %d, acknowledged that became unknown %d; %d answers journal_restored",
		c.Keys, c.Acknowledged, c.NotAvailable, c.Unknown, c.Forgotten, c.Doubled, c.BecameUnknown, c.Paused)
}

// checker holds a history by order and key.
type checker struct {
	history  *History
	keys     map[string][]Answer // in the order of the requests
	orders   map[string][]string // the keys of each order
	executed map[string][]Executed
	records  map[string][]Record
	lossAt   int64 // when Redis first lost, or may have lost, data by a fault of that kind
	lossEnd  int64 // when an operator accepted the journal after it
	broken   []Violation
	counts   Counts
}

// Check compares a history with the rules. It returns the violations and the
// counts.
func Check(h *History) ([]Violation, Counts) {
	c := &checker{
		history:  h,
		keys:     map[string][]Answer{},
		orders:   map[string][]string{},
		executed: map[string][]Executed{},
		records:  map[string][]Record{},
		lossAt:   math.MaxInt64,
	}
	for _, a := range h.Answers {
		if c.keys[a.Key] == nil {
			c.orders[a.Order] = append(c.orders[a.Order], a.Key)
		}
		c.keys[a.Key] = append(c.keys[a.Key], a)
	}
	for _, answers := range c.keys {
		slices.SortStableFunc(answers, func(a, b Answer) int { return int(a.Start - b.Start) })
	}
	for _, e := range h.Executed {
		c.executed[e.Order] = append(c.executed[e.Order], e)
	}
	for _, r := range h.Records {
		c.records[r.Order] = append(c.records[r.Order], r)
	}
	for _, f := range h.Faults {
		if f.losesData() {
			c.lossAt, c.lossEnd = min(c.lossAt, f.Start), max(c.lossEnd, f.End)
		}
		if f.Kind == Accepted {
			c.lossEnd = max(c.lossEnd, f.End)
		}
	}
	c.check()
	return c.broken, c.counts
}

func (c *checker) check() {
	for _, order := range slices.Sorted(maps.Keys(c.orders)) {
		c.checkExecutions(order)
		for _, key := range c.orders[order] {
			c.checkKey(order, key)
		}
		c.checkChanges(order)
	}
	c.checkArrivals()
}

func (c *checker) violate(rule, order, key, text string, args ...any) {
	c.broken = append(c.broken, Violation{
		Rule:  rule,
		Order: order,
		Key:   key,
		Text:  fmt.Sprintf(text, args...),
	})
}

// beforeLoss reports whether a key was in use when Redis lost data. The journal may
// then know less about it, or nothing.
func (c *checker) beforeLoss(key string) bool {
	return c.lossAt != math.MaxInt64 && c.keys[key][0].Start < c.lossEnd
}

func (c *checker) checkExecutions(order string) {
	if n := len(c.executed[order]); n > 1 {
		c.counts.Doubled++
		c.violate(RuleOnce, order, order, "the service has it %d times: %+v", n, c.executed[order])
	}
}

// checkKey compares the answers of one key with each other and with the final
// state.
func (c *checker) checkKey(order, key string) {
	answers := c.keys[key]
	c.counts.Keys++
	for i := range answers {
		if answers[i].Code == codeRestored {
			c.counts.Paused++
			if answers[i].End < c.lossAt {
				c.violate(RulePause, order, key, "no fault had lost data: %s", show(answers[i]))
			}
		}
	}
	first := slices.IndexFunc(answers, func(a Answer) bool { return a.Done() })
	if first < 0 {
		c.checkUnacknowledged(order, key)
		return
	}
	for _, a := range answers[first:] { // concurrent ones: the first that was acknowledged
		if a.Done() && a.End < answers[first].End {
			first = slices.Index(answers, a)
		}
	}
	c.counts.Acknowledged++
	c.checkAcknowledged(order, key, answers[first])
}

// checkAcknowledged checks the answers after an acknowledgement.
func (c *checker) checkAcknowledged(order, key string, first Answer) {
	if !c.done(order, first.Operation, first.OrderID) {
		c.violate(RuleExecuted, order, key, "%s; the service has %+v", show(first), c.executed[order])
	}
	unknown, last := false, first
	for _, a := range c.keys[key] {
		if a.Done() {
			if a.Body != first.Body || a.Status != first.Status {
				c.violate(RuleSameAnswer, order, key, "%s and then %s", show(first), show(a))
			}
		} else if a.Start > first.End && (!c.beforeLoss(key) || a.End < c.lossAt) {
			unknown = c.checkLater(order, key, first, a) || unknown
		}
		if a.Final {
			last = a
		}
	}
	if c.beforeLoss(key) {
		return
	}
	if !last.Done() && (last.Status == 0 || passing(last.Status)) {
		c.violate(RuleRecovers, order, key, "%s, and in the end %s", show(first), show(last))
	}
	for _, record := range c.records[order] {
		if record.At > first.End {
			unknown = c.checkRecord(order, key, first, record) || unknown
		}
	}
	if unknown {
		c.counts.BecameUnknown++
	}
}

// passing reports whether a status is temporary and shows nothing about the order.
func passing(status int) bool {
	return status == http.StatusServiceUnavailable || status == http.StatusTooManyRequests || status == http.StatusConflict
}

// checkLater checks an answer after an acknowledgement. It reports whether the
// order had become unknown.
func (c *checker) checkLater(order, key string, first, a Answer) (unknown bool) {
	switch {
	case a.Status == 0, passing(a.Status):
	case a.Status == http.StatusGatewayTimeout:
		if !c.excused(first, a.End, a.Final) {
			c.violate(RuleNotUnknown, order, key, "%s, then %s", show(first), show(a))
			return true
		}
	default:
		c.violate(RuleSameAnswer, order, key, "%s, then %s", show(first), show(a))
	}
	return false
}

// excused reports whether the acknowledging instance could not write to a new
// master: it was killed since, or frozen while faults continued.
func (c *checker) excused(first Answer, until int64, final bool) bool {
	failedOver, stopped := false, false
	for _, f := range c.history.Faults {
		failedOver = failedOver || f.losesMaster() && f.Start < until && f.End > first.Start
		if f.Target == first.Instance && f.Start < until && f.End > first.Start {
			stopped = stopped || f.Kind == LarderKilled || f.Kind == LarderFrozen && !final
		}
	}
	return failedOver && stopped
}

func (c *checker) checkRecord(order, key string, first Answer, record Record) (unknown bool) {
	switch outcome := record.Last[first.Operation]; {
	case record.Status == http.StatusNotFound:
		if first.Operation == Create {
			c.counts.Forgotten++
		}
		c.violate(RuleNotForgotten, order, key, "%s; in the end instance %d has no record", show(first), record.Instance)
	case record.Status != http.StatusOK:
		c.violate(RuleRecovers, order, key, "the record cannot be read: %+v", record)
	case outcome == "unknown":
		if !c.excused(first, math.MaxInt64, true) {
			c.violate(RuleNotUnknown, order, key, "%s; the record is %+v", show(first), record)
			return true
		}
	case outcome != "done" && !c.excused(first, math.MaxInt64, true),
		first.Operation == Create && record.OrderID != first.OrderID:
		c.violate(RuleSameAnswer, order, key, "%s; the record is %+v", show(first), record)
	}
	return false
}

// checkUnacknowledged checks a key that was never acknowledged.
func (c *checker) checkUnacknowledged(order, key string) {
	answers := c.keys[key]
	last := answers[len(answers)-1]
	for _, a := range answers {
		if a.Status != 0 && !passing(a.Status) {
			last = a
		}
	}
	if !slices.ContainsFunc(answers, func(a Answer) bool { return a.Status != http.StatusServiceUnavailable }) {
		c.counts.NotAvailable++
	}
	if last.Status != http.StatusGatewayTimeout {
		end := answers[len(answers)-1]
		unanswered := (end.Status == 0 || passing(end.Status) && !blocked(end)) && end.Code == last.Code
		if end.Final && unanswered && !c.beforeLoss(key) {
			c.violate(RuleRecovers, order, key, "in the end %s", show(end))
		}
		return
	}
	c.counts.Unknown++
	records := c.records[order]
	if len(records) == 0 || c.beforeLoss(key) {
		return
	}
	record := records[len(records)-1]
	if outcome := record.Last[last.Operation]; !record.Listed && (outcome == "" || outcome == "unknown") {
		c.violate(RuleListed, order, key, "%s; the record is %+v", show(last), record)
	}
}

// blocked reports whether a change waits for another one of its order, or is too
// late.
func blocked(a Answer) bool {
	return a.Status == http.StatusConflict && a.Code != "idempotency_key_in_flight"
}

// checkChanges checks pay, complete and reject of one order together, and all
// operations whose answers show that they were not done.
func (c *checker) checkChanges(order string) {
	acknowledged, explained := map[string]int{}, map[string]bool{}
	for _, key := range c.orders[order] {
		operation := c.keys[key][0].Operation
		if slices.ContainsFunc(c.keys[key], func(a Answer) bool { return a.Done() }) {
			acknowledged[operation]++
		}
		for _, a := range c.keys[key] {
			explained[operation] = explained[operation] || a.Done() || a.Status == 0 || a.Status == http.StatusGatewayTimeout
		}
	}
	for operation, n := range acknowledged {
		if n > 1 {
			c.violate(RuleOnce, order, "", "%s was acknowledged under %d keys", operation, n)
		}
	}
	if acknowledged[Complete] > 0 && acknowledged[Reject] > 0 {
		c.violate(RuleOnce, order, "", "it was both completed and rejected")
	}
	for _, operation := range []string{Create, Pay, Complete, Reject} {
		if c.done(order, operation, "") && !explained[operation] {
			c.violate(RuleNotPlaced, order, "", "%s was executed, and each answer says that it was not: %s",
				operation, c.answersOf(order, operation))
		}
	}
}

func (c *checker) answersOf(order, operation string) string {
	var shown strings.Builder
	for _, key := range c.orders[order] {
		for _, a := range c.keys[key] {
			if a.Operation == operation {
				shown.WriteString(show(a) + "; ")
			}
		}
	}
	return shown.String()
}

// done reports whether the service has executed an operation; with an orderID, for
// this order.
func (c *checker) done(order, operation, orderID string) bool {
	return slices.ContainsFunc(c.executed[order], func(e Executed) bool {
		switch operation {
		case Create:
			return orderID == "" || e.OrderID == orderID
		case Pay:
			return e.Paid && e.Payments == 1
		case Complete:
			return e.State == "closed"
		default:
			return e.State == "rejected"
		}
	})
}

// checkArrivals checks changes that reached the service after it had executed them.
// The sandbox refused them, but another service might not.
func (c *checker) checkArrivals() {
	for _, a := range c.history.Arrivals {
		if a.Repeat && a.At < c.lossAt {
			c.counts.Doubled++
			c.violate(RuleOnce, a.OrderID, "", "%s was sent again after it had been executed, at %d", a.Operation, a.At)
		}
	}
}

func show(a Answer) string {
	return fmt.Sprintf("[%.3f–%.3f s, instance %d, %s: %d %s %s%s]",
		float64(a.Start)/1e6, float64(a.End)/1e6, a.Instance, a.Operation, a.Status, a.Code, a.Body, a.Error)
}
