package validate

import (
	"encoding/json"
	"time"

	"github.com/shopspring/decimal"

	"larder.local/internal/hours"
	"larder.local/ordering/violation"
)

// Terms are what a restaurant asks of the orders of one type.
type Terms struct {
	Hours    *hours.Schedule // the times at which an order may be ready; nil: any time
	LeadTime *time.Duration  // from the order to the earliest expected time; nil: Config.LeadTime
	Minimum  decimal.Decimal // the lowest total; 0: none
}

// Accepts reports whether an order for as soon as possible is accepted at a time, by the terms that Validator.Terms returns. If
// not, next is the next time at which an order may be ready; it is zero if the restaurant does not open again.
func (t Terms) Accepts(now time.Time) (accepted bool, next time.Time) {
	earliest := now.Add(*t.LeadTime)
	if t.Hours.Open(earliest) {
		return true, time.Time{}
	}
	next, _ = t.Hours.Next(earliest)
	return false, next
}

// leadTolerance is how much earlier than after the lead time an order may be expected: it was filled in a moment ago.
const leadTolerance = time.Minute

// ofType returns the terms of the type of the order. An unknown type has only the lead time.
func (c *check) ofType() Terms {
	switch c.order.expedition.text {
	case delivery:
		return c.delivery
	case pickup:
		return c.pickup
	default:
		return Terms{LeadTime: &c.LeadTime}
	}
}

// checkTerms rejects an expected time before the lead time has passed, or at which the restaurant is closed.
func (c *check) checkTerms(where place, expectedAt time.Time) {
	terms := c.ofType()
	earliest := c.now.Add(*terms.LeadTime)
	if expectedAt.Before(earliest.Add(-leadTolerance)) {
		if accepted, next := terms.Accepts(c.now); !accepted && !next.IsZero() {
			earliest = next
		}
		c.add(where, violation.TooSoon, violation.Params{"earliest": localTime(earliest, c.location)}, "")
		return
	}
	if terms.Hours.Open(expectedAt) {
		return
	}
	if earliest.Before(expectedAt) {
		earliest = expectedAt
	}
	params := violation.Params{"opensAt": nil, "intervals": intervalsOn(terms.Hours, expectedAt, c.location)}
	if next, ok := terms.Hours.Next(earliest); ok {
		params["opensAt"] = localTime(next, c.location)
	}
	c.add(where, violation.RestaurantClosed, params, "")
}

// intervalsOn returns the times at which the restaurant is open on a day of its calendar, in its time zone.
func intervalsOn(schedule *hours.Schedule, day time.Time, zone *time.Location) []violation.Params {
	year, month, date := day.In(zone).Date()
	midnight := time.Date(year, month, date, 0, 0, 0, 0, zone)
	intervals := []violation.Params{}
	for _, span := range schedule.Spans(midnight, midnight.AddDate(0, 0, 1)) {
		intervals = append(intervals, violation.Params{"from": localTime(span.From, zone), "to": localTime(span.To, zone)})
	}
	return intervals
}

// localTime returns a moment with the offset of a time zone, in whole seconds. It is not earlier than t.
func localTime(t time.Time, zone *time.Location) string {
	if whole := t.Truncate(time.Second); whole.Before(t) {
		t = whole.Add(time.Second)
	}
	return t.In(zone).Format(time.RFC3339)
}

// checkMinimum rejects an order whose total is below the minimum for its type.
func (c *check) checkMinimum(total amount) {
	minimum := c.ofType().Minimum
	if !total.known || minimum.Sign() <= 0 {
		return
	}
	missing := minimum.Sub(total.Decimal())
	if missing.Sign() > 0 {
		c.add(at(c.order.dishes.pos), violation.MinimumOrder,
			violation.Params{"minimum": json.Number(minimum.String()), "missing": json.Number(missing.String())}, "")
	}
}
