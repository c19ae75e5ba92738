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
	// PausedUntil is before the earliest expected time, or zero if an operator must end the pause; nil: not paused.
	PausedUntil *time.Time
}

// restricted returns the terms at a time with what operators have said. pause is the kind of a pause of this type.
func (t Terms) restricted(said hours.Availability, pause hours.Kind, now time.Time, zone *time.Location) Terms {
	if r := said[pause]; r.Holds(now) {
		t.PausedUntil = new(r.Until.In(zone))
	}
	busy := said[hours.Busy]
	if lead := time.Duration(busy.Minutes) * time.Minute; busy.Holds(now) && lead > *t.LeadTime {
		t.LeadTime = new(lead)
	}
	return t
}

// paused reports whether an order is paused that is expected at a time.
func (t Terms) paused(expectedAt time.Time) bool {
	return t.PausedUntil != nil && (t.PausedUntil.IsZero() || expectedAt.Before(*t.PausedUntil))
}

// The reasons why a restaurant does not accept orders.
const (
	ReasonClosed = "closed"
	ReasonPaused = "paused"
)

// Accepts returns why an order for as soon as possible is not accepted at a time, by the terms that Validator.Terms returns for
// that time, and the next time at which an order may be ready; zero if it is not known. If it is accepted, reason is "".
func (t Terms) Accepts(now time.Time) (reason string, next time.Time) {
	earliest := now.Add(*t.LeadTime)
	switch {
	case t.paused(earliest):
		if reason, earliest = ReasonPaused, *t.PausedUntil; earliest.IsZero() {
			return reason, earliest
		}
	case t.Hours.Open(earliest):
		return "", time.Time{}
	default:
		reason = ReasonClosed
	}
	next, _ = t.Hours.Next(earliest)
	return reason, next
}

// leadTolerance is how much earlier than after the lead time an order may be expected: it was filled in a moment ago.
const leadTolerance = time.Minute

// ofType returns the terms of the type of the order. An unknown type has only the lead time.
func (c *check) ofType() Terms {
	switch c.order.expedition.text {
	case delivery:
		return c.delivery.restricted(c.said, hours.PauseDelivery, c.now, c.location)
	case pickup:
		return c.pickup.restricted(c.said, hours.PausePickup, c.now, c.location)
	default:
		return Terms{LeadTime: &c.LeadTime}
	}
}

// checkTerms rejects an expected time in a pause, before the lead time has passed, or at which the restaurant is closed.
func (c *check) checkTerms(where place, expectedAt time.Time) {
	terms := c.ofType()
	earliest := c.now.Add(*terms.LeadTime)
	if terms.paused(expectedAt) {
		params := violation.Params{"until": nil}
		if earliest.Before(*terms.PausedUntil) {
			earliest = *terms.PausedUntil
		}
		if next, ok := terms.Hours.Next(earliest); ok && !terms.PausedUntil.IsZero() {
			params["until"] = localTime(next, c.location)
		}
		c.add(where, violation.RestaurantPaused, params, "")
		return
	}
	if expectedAt.Before(earliest.Add(-leadTolerance)) {
		if reason, next := terms.Accepts(c.now); reason != "" && !next.IsZero() {
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
