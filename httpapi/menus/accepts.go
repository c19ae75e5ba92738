package menus

import (
	"maps"
	"slices"
	"strconv"
	"time"

	"larder.local/internal/hours"
	"larder.local/internal/jsontext"
	"larder.local/internal/menu"
	"larder.local/ordering/validate"
)

// shownDays is how many days ahead the hours of a restaurant are shown.
const shownDays = 7

// AppendAccepts appends "accepts" to a JSON object: whether a restaurant accepts orders for as soon as possible, for each type of order.
func AppendAccepts(dst []byte, delivery, pickup validate.Terms, now time.Time) []byte {
	dst = appendAccept(append(dst, `"accepts":{"delivery":`...), delivery, now)
	dst = appendAccept(append(dst, `,"pickup":`...), pickup, now)
	return append(dst, '}')
}

func appendAccept(dst []byte, terms validate.Terms, now time.Time) []byte {
	next := ""
	reason, opens := terms.Accepts(now)
	if !opens.IsZero() {
		next = opens.Format(time.RFC3339)
	}
	dst = strconv.AppendBool(append(dst, `{"now":`...), reason == "")
	dst = jsontext.AppendStringOrNull(append(dst, `,"reason":`...), reason)
	dst = jsontext.AppendStringOrNull(append(dst, `,"next":`...), next)
	dst = jsontext.AppendString(append(dst, `,"leadTime":`...), shortDuration(*terms.LeadTime))
	return append(dst, '}')
}

// appendSnoozed appends the dishes and options of a menu that operators have taken off it, with the time of their return if it is
// known.
func appendSnoozed(dst []byte, in *menu.Catalogue) []byte {
	dst = append(dst, `,"snoozed":[`...)
	for i, id := range slices.Sorted(maps.Keys(in.Snoozes.All())) {
		until := ""
		if at, known := in.Snoozes.Returns(id); known {
			until = at.UTC().Format(time.RFC3339)
		}
		dst = jsontext.AppendString(append(jsontext.AppendComma(dst, i), `{"id":`...), id)
		dst = append(jsontext.AppendStringOrNull(append(dst, `,"until":`...), until), '}')
	}
	return append(dst, ']')
}

// appendHours appends the hours of the next days; null for a type of order that is always accepted.
func appendHours(dst []byte, delivery, pickup validate.Terms, now time.Time) []byte {
	dst = appendSpans(append(dst, `,"hours":{"delivery":`...), delivery.Hours, now)
	dst = appendSpans(append(dst, `,"pickup":`...), pickup.Hours, now)
	return append(dst, '}')
}

func appendSpans(dst []byte, schedule *hours.Schedule, now time.Time) []byte {
	if schedule == nil {
		return append(dst, "null"...)
	}
	year, month, day := now.In(schedule.Zone).Date()
	date := func(n int) time.Time { return time.Date(year, month, day+n, 0, 0, 0, 0, schedule.Zone) }
	spans := schedule.Spans(date(-1), date(shownDays+1)) // whole days, so that the response stays the same for long
	spans = slices.DeleteFunc(spans, func(s hours.Span) bool { return !s.To.After(now) })
	dst = append(dst, '[')
	for i, span := range spans {
		dst = append(jsontext.AppendComma(dst, i), `{"from":"`...)
		dst = append(span.From.AppendFormat(dst, time.RFC3339), `","to":"`...)
		dst = append(span.To.AppendFormat(dst, time.RFC3339), `"}`...)
	}
	return append(dst, ']')
}

// shortDuration returns whole minutes such as 90m, or Go's form.
func shortDuration(d time.Duration) string {
	if d%time.Minute == 0 {
		return strconv.FormatInt(int64(d/time.Minute), 10) + "m"
	}
	return d.String()
}
