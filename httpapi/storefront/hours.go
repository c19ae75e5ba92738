package storefront

import (
	"cmp"
	"encoding/json"
	"html/template"
	"strings"
	"time"

	"larder.local/internal/hours"
	"larder.local/ordering/validate"
)

// addHours adds to a view whether the restaurant is closed for all types of order, and its hours for search engines.
func (v *view) addHours(delivery, pickup validate.Terms, now time.Time) {
	reason, next := delivery.Accepts(now)
	if reason != "" {
		var later time.Time
		if reason, later = pickup.Accepts(now); next.IsZero() || !later.IsZero() && later.Before(next) {
			next = later
		}
	}
	switch {
	case reason == "":
	case reason == validate.ReasonPaused && next.IsZero():
		v.Closed = v.Say("No orders at the moment", "Сейчас заказы не принимаются")
	case reason == validate.ReasonPaused:
		v.Closed = v.Say("No orders before ", "Заказы не принимаются до ") + v.timeOf(next, now)
	case next.IsZero():
		v.Closed = v.Say("Closed", "Закрыто")
	default:
		v.Closed = v.Say("Closed, opens ", "Закрыто, откроется: ") + v.weekday(next) + next.Format(" 15:04")
	}
	if schedule := cmp.Or(pickup.Hours, delivery.Hours); schedule != nil {
		v.OpeningHours = openingHours(schedule)
	}
}

// timeOf returns a time in the restaurant's time zone, with the weekday if it is not today.
func (v *view) timeOf(at, now time.Time) string {
	if zone, err := time.LoadLocation(v.Restaurant.TimeZone); err == nil {
		at, now = at.In(zone), now.In(zone)
	}
	if text := at.Format("15:04"); at.Format(time.DateOnly) == now.Format(time.DateOnly) {
		return text
	}
	return v.weekday(at) + at.Format(" 15:04")
}

func (v *view) weekday(at time.Time) string {
	days := [7]string{"вс", "пн", "вт", "ср", "чт", "пт", "сб"}
	return v.Say(at.Format("Mon"), days[at.Weekday()])
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
			opens, closes, _ := strings.Cut(one.String(), "-")
			if closes == "24:00" { // which schema.org does not know
				closes = "23:59"
			}
			all = append(all, specification{"OpeningHoursSpecification", time.Weekday(day).String(), opens, closes})
		}
	}
	text, _ := json.Marshal(all) //nolint:errchkjson // texts cannot fail
	return template.JS(text)     //nolint:gosec // made of constants and digits
}
