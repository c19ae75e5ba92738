package ordering

import (
	"strings"
	"time"

	"larder/internal/menu"
)

// checkExpectedAt checks when the order is expected (policy O4).
func (c *validation) checkExpectedAt() {
	v := &c.order.values[orderExpectedAt]
	if v.blank() {
		if c.V1 && c.order.soonest {
			c.expectedAt = c.now.Add(c.LeadTime).In(c.location).Truncate(time.Second)
		}
		return
	}
	if v.state != readable {
		return
	}
	at, ok := c.readTime(v, "")
	if !ok {
		return
	}
	c.expectedAt = at
	latest := c.now.Add(c.MaxLead)
	switch {
	case at.Before(c.now.Add(-c.PastTolerance)):
		c.add(v.pos, member("", v.name), TimeInPast, Params{"earliest": menu.FormatTime(c.now)}, "")
	case at.After(latest):
		c.add(v.pos, member("", v.name), TimeTooFar, Params{"latest": menu.FormatTime(latest)}, "")
	}
}

// readTime reads a date and time with its offset, or notes what keeps the text
// from being one. base is the JSON Pointer of the object that has the value.
func (f *violations) readTime(v *value, base string) (time.Time, bool) {
	at, err := time.Parse(time.RFC3339Nano, v.text)
	switch {
	case err == nil && !lenient(v.text):
		return at, true
	case withoutZone(v.text):
		f.add(v.pos, member(base, v.name), TimeZoneMissing, nil, "")
	default:
		f.add(v.pos, member(base, v.name), TypeMismatch, Params{"want": string(wantTime), "got": "string"}, "")
	}
	return time.Time{}, false
}

// lenient reports whether a text that time.Parse takes is no RFC 3339 all the
// same: an hour of one digit, a decimal comma, an offset that does not exist.
func lenient(text string) bool {
	if text[len("2006-01-02T15")] != ':' || strings.Contains(text, ",") {
		return true
	}
	offset := text[len(text)-len("+07:00"):]
	return !strings.HasSuffix(text, "Z") && (offset[1:3] > "23" || offset[4:] > "59")
}

// withoutZone reports whether the text is a date and time that lacks nothing but
// its offset.
func withoutZone(text string) bool {
	for _, layout := range []string{"2006-01-02T15:04:05", "2006-01-02 15:04:05", "2006-01-02T15:04", "2006-01-02 15:04"} {
		if _, err := time.Parse(layout, text); err == nil {
			return true
		}
	}
	return false
}
