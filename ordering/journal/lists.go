package journal

import (
	"fmt"
	"slices"
	"strconv"

	"larder.local/ordering"
)

// entry is the place of an order in a list (a sorted set). The suffix distinguishes the calls of an order. The score is "0" or
// timeArg; an entry that stays keeps its score, except that of an expiry that changes.
type entry struct{ key, suffix, score string }

// lists returns the places of an order in the lists: that of all orders, that of its state, that of unknown outcomes, that of
// open calls by deadline, and that of records by expiry. StatePlacing has no list: the list of open calls has these orders.
func (c *tx) lists(r *ordering.Record) []entry {
	all := append(make([]entry, 0, 4), entry{key: c.ordersKey, score: "0"})
	if r.State != ordering.StateUnknown && r.State != ordering.StatePlacing {
		all = append(all, entry{key: c.stateList(r.State), score: "0"})
	}
	if _, unknown := r.UnknownCall(); unknown {
		all = append(all, entry{key: c.stateList(ordering.StateUnknown), score: "0"})
	}
	for _, call := range r.Calls {
		if call.Outcome == ordering.OutcomeOpen {
			all = append(all, entry{c.openList(), callSuffix(call.Number), timeArg})
		}
	}
	if _, busy := r.Busy(); !busy {
		all = append(all, entry{key: c.expiryList(), score: timeArg})
	}
	return all
}

// updateLists removes the order from the lists that no longer have it, and adds it to those that newly have it. If its expiry
// changes, so does its score.
func (c *tx) updateLists() {
	var before []entry
	if c.order.revision != "" {
		before = c.lists(&c.order.Record)
	}
	after := c.lists(&c.next.Record)
	for _, e := range before {
		if !slices.Contains(after, e) {
			c.do(e.key, "ZREM", c.member(e.suffix))
		}
	}
	for _, e := range after {
		newScore := c.expires == atTime && e.key == c.expiryList()
		switch {
		case slices.Contains(before, e) && !newScore:
		case c.next.CreatedAt.Equal(atCommit()):
			c.doNow(e.key, "ZADD", e.score, commitTime+"/"+c.order.Ref+e.suffix)
		default:
			c.do(e.key, "ZADD", e.score, c.member(e.suffix))
		}
	}
}

// member returns the existing order's member of the lists, which sorts by creation time.
func (c *tx) member(suffix string) string {
	return fmt.Sprintf("%0*d/%s%s", timeDigits, epoch(c.next.CreatedAt), c.order.Ref, suffix)
}

// callSuffix is what distinguishes the calls of an order in the list of open calls.
func callSuffix(call int) string { return " " + strconv.Itoa(call) }

func (c *tx) stateList(state ordering.State) string {
	return c.store.keys.OrdersIn(c.connection(), string(state))
}

func (c *tx) openList() string { return c.store.keys.OrdersOpen(c.connection()) }

func (c *tx) expiryList() string { return c.store.keys.OrdersExpiry(c.connection()) }
