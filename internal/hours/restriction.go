package hours

import "time"

// Restriction is what an operator has said restricts the orders of a restaurant. Its JSON is the value in Redis.
type Restriction struct {
	Until   time.Time `json:"until,omitzero"`   // zero: until an operator ends it
	Minutes int       `json:"minutes,omitzero"` // the lead time of a busy restaurant
	Note    string    `json:"note,omitzero"`    // for operators
	By      string    `json:"by,omitzero"`      // the client of the operator
	At      time.Time `json:"at"`               // when it was said
	EndedAt time.Time `json:"endedAt,omitzero"` // when an operator ended it
	// Rev orders the values of one kind: the higher one was said later, whatever the clocks of instances show.
	Rev int64 `json:"rev"`
}

// Holds reports whether the restriction restricts orders at a time.
func (r Restriction) Holds(now time.Time) bool {
	return !r.At.IsZero() && r.EndedAt.IsZero() && (r.Until.IsZero() || now.Before(r.Until))
}

// Kind is a kind of restriction. A restaurant has at most one of each, except for snoozes: one for each dish or option.
type Kind string

// The kinds of restrictions: no orders of a type, a longer lead time, and a dish or an option that is not sold.
const (
	PauseDelivery Kind = "pause:delivery"
	PausePickup   Kind = "pause:pickup"
	Busy          Kind = "busy"

	snooze = "snooze:"
)

// Snooze returns the kind for a dish or an option.
func Snooze(id string) Kind { return Kind(snooze + id) }

// SnoozedID returns the id of the dish or option; false for another kind.
func (k Kind) SnoozedID() (id string, ok bool) {
	if len(k) < len(snooze) || k[:len(snooze)] != snooze {
		return "", false
	}
	return string(k[len(snooze):]), true
}

// Availability has the restrictions of a restaurant, also those that have ended less than a day ago.
type Availability map[Kind]Restriction

// Holding returns the restrictions that hold at a time; nil if there are none.
func (a Availability) Holding(now time.Time) (holding Availability) {
	for kind, r := range a {
		if r.Holds(now) {
			if holding == nil {
				holding = Availability{}
			}
			holding[kind] = r
		}
	}
	return holding
}

// Snoozed returns the dishes and options that are not sold at a time, by id, with the time of their return; zero if it is not
// known. It returns nil if there are none.
func (a Availability) Snoozed(now time.Time) (until map[string]time.Time) {
	for kind, r := range a {
		if id, ok := kind.SnoozedID(); ok && r.Holds(now) {
			if until == nil {
				until = map[string]time.Time{}
			}
			until[id] = r.Until
		}
	}
	return until
}

// SnoozedSince returns the last time, not after now, at which a dish or an option was snoozed or returned.
func (a Availability) SnoozedSince(now time.Time) (last time.Time) {
	for kind, r := range a {
		if _, ok := kind.SnoozedID(); !ok {
			continue
		}
		for _, at := range []time.Time{r.At, r.EndedAt, r.Until} {
			if at.After(last) && !at.After(now) {
				last = at
			}
		}
	}
	return last
}

// keptEnded is how long a restriction that has ended is kept, so that readers that were away learn of its end.
const keptEnded = 24 * time.Hour

// Forgotten returns the restrictions that ended more than a day ago.
func (a Availability) Forgotten(now time.Time) (ended Availability) {
	for kind, r := range a {
		if day := now.Add(-keptEnded); !r.Holds(day) && !r.Holds(now) && r.At.Before(day) && r.EndedAt.Before(day) {
			if ended == nil {
				ended = Availability{}
			}
			ended[kind] = r
		}
	}
	return ended
}

// Newer returns what is known and a does not have: Redis may have lost it, or was restored. What is missing in a and has ended
// was removed.
func (a Availability) Newer(known Availability, now time.Time) (newer Availability) {
	for kind, r := range known {
		if there, ok := a[kind]; ok && r.Rev > there.Rev || !ok && r.Holds(now) {
			if newer == nil {
				newer = Availability{}
			}
			newer[kind] = r
		}
	}
	return newer
}

// NextOpening returns when the restaurant opens next after a time. If it is open, that is after it has closed. It returns false
// if there is no such time within two weeks.
func (s *Schedule) NextOpening(after time.Time) (opens time.Time, ok bool) {
	if s == nil {
		return time.Time{}, false
	}
	end := after.AddDate(0, 0, ordinaryDays)
	for _, span := range s.Spans(after, end) {
		if span.From.After(after) {
			return span.From, true
		}
	}
	return time.Time{}, false
}
