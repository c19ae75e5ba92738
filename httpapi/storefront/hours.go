package storefront

import (
	"encoding/json"
	"html/template"
	"math"
	"time"

	"larder.local/internal/hours"
	"larder.local/ordering/validate"
)

// addHours adds to a view whether the restaurant is closed for all types of order, and its hours for search engines.
func (v *view) addHours(delivery, pickup validate.Terms, now time.Time) {
	accepted, next := delivery.Accepts(now)
	if !accepted {
		var later time.Time
		if accepted, later = pickup.Accepts(now); next.IsZero() || !later.IsZero() && later.Before(next) {
			next = later
		}
	}
	switch {
	case accepted:
	case next.IsZero():
		v.Closed = v.Say("Closed", "Закрыто")
	default:
		zone := time.UTC
		for _, terms := range []validate.Terms{delivery, pickup} {
			if terms.Hours != nil {
				zone = terms.Hours.Zone
			}
		}
		local := next.In(zone)
		days := [7]string{"вс", "пн", "вт", "ср", "чт", "пт", "сб"}
		v.Closed = v.Say("Closed, opens ", "Закрыто, откроется: ") +
			v.Say(local.Format("Mon"), days[local.Weekday()]) + local.Format(" 15:04")
	}
	schedule := pickup.Hours
	if schedule == nil {
		schedule = delivery.Hours
	}
	if schedule != nil {
		v.OpeningHours = openingHours(schedule)
	}
}

// openingHours returns the hours of the week as openingHoursSpecification of schema.org.
func openingHours(schedule *hours.Schedule) template.JS {
	type specification struct {
		Type   string `json:"@type"`
		Day    string `json:"dayOfWeek"`
		Opens  string `json:"opens"`
		Closes string `json:"closes"`
	}
	all := []specification{}
	for day, intervals := range schedule.Week {
		for _, one := range intervals {
			text := one.String() // such as 10:00-15:00; 24:00 is no time of schema.org
			closes := text[len("10:00-"):]
			if closes == "24:00" {
				closes = "23:59"
			}
			all = append(all, specification{"OpeningHoursSpecification", time.Weekday(day).String(), text[:len("10:00")], closes})
		}
	}
	text, _ := json.Marshal(all) //nolint:errchkjson // texts cannot fail
	return template.JS(text)     //nolint:gosec // made of constants and digits
}

// LeadTime is the restaurant's lead time in whole minutes; 0 if it has none.
func (v view) LeadTime() int { return int(math.Ceil(v.Restaurant.LeadTime.Minutes())) }
