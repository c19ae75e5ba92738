package validate

import (
	"cmp"
	"regexp"
	"strings"
	"time"

	"larder.local/ordering/violation"
)

// The two forms of ISO 8601 for a calendar date and a time. Each part is a group: year, month, day, separator, hour,
// minute, second, fraction of a second, offset.
//
//nolint:gochecknoglobals // constants
var (
	extendedTime = timeForm("-", ":")
	basicTime    = timeForm("", "")
)

// timeForm returns the pattern of a form. Its offset may have the other form, as PHP writes it.
func timeForm(dash, colon string) *regexp.Regexp {
	return regexp.MustCompile(`^(\d{4})` + dash + `(\d\d)` + dash + `(\d\d)([Tt ])(\d\d)` + colon + `(\d\d)(?:` + colon +
		`(\d\d)(?:[.,](\d+))?)?([Zz]|[+−-](?:[01]\d|2[0-3])(?::?[0-5]\d)?)?$`)
}

// readTime parses a date and time with its offset (policy W16), or adds a violation with the reason. The text of the
// value becomes the one that is sent.
func readTime(n *notes, v *value) (moment time.Time, ok bool) {
	var buffer [len(time.RFC3339)]byte
	moment, err := time.Parse(time.RFC3339, v.text)
	if err == nil && !strings.Contains(v.text, ",") {
		usual := string(moment.AppendFormat(buffer[:0], time.RFC3339))
		seconds, zone := usual[:len("2006-01-02T15:04:05")], usual[len("2006-01-02T15:04:05"):]
		_, offset := moment.Zone()
		if strings.HasPrefix(v.text, seconds) && strings.HasSuffix(v.text, zone) && offset/(24*60*60) == 0 {
			return moment, true // the usual form, also with a fraction, without the cost of a pattern
		}
	}
	moment, sent, hasZone := parseTime(v.text)
	switch {
	case sent != "":
		v.text = sent
		return moment, true
	case hasZone:
		n.add(at(v.pos), violation.TypeMismatch, violation.Params{"want": string(wantTime), "got": "string"}, "")
	default:
		n.add(at(v.pos), violation.TimeZoneMissing, nil, "")
	}
	return time.Time{}, false
}

// parseTime parses a time of ISO 8601. sent is the same moment and offset in RFC 3339, with all digits of the seconds; it
// is empty for another text. hasZone is false for a date and time without an offset.
func parseTime(text string) (at time.Time, sent string, hasZone bool) {
	m := extendedTime.FindStringSubmatch(text)
	if m == nil {
		m = basicTime.FindStringSubmatch(text)
	}
	if m == nil {
		return time.Time{}, "", true
	}
	hour, minute, second, fraction, offset := m[5], m[6], m[7], m[8], strings.NewReplacer(":", "", "−", "-", "z", "Z").Replace(m[9])
	second = cmp.Or(second, "00")
	endOfDay := hour == "24" && minute+second+strings.Trim(fraction, "0") == "0000"
	if endOfDay {
		hour = "00"
	}
	if fraction != "" {
		fraction = "." + fraction
	}
	sent = m[1] + "-" + m[2] + "-" + m[3] + "T" + hour + ":" + minute + ":" + second + fraction
	switch {
	case offset == "":
		_, err := time.Parse("2006-01-02T15:04:05", sent)
		return time.Time{}, "", err != nil
	case m[4] == " ":
		return time.Time{}, "", true
	case len(offset) == len("+03"):
		offset += ":00"
	case offset != "Z":
		offset = offset[:3] + ":" + offset[3:]
	}
	sent += offset
	at, err := time.Parse(time.RFC3339, sent)
	if endOfDay {
		_, seconds := at.Zone()
		at = at.In(time.FixedZone("", seconds)).AddDate(0, 0, 1) // Local may have another offset the next day
		sent = at.Format(time.RFC3339)
	}
	if err != nil || at.Year() > 9999 {
		return time.Time{}, "", true
	}
	return at, sent, true
}
