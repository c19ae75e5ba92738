package ratelimit

import (
	"fmt"
	"strconv"
	"strings"
	"time"
)

// Rate is how often something may happen, written as "20/s", "5/m" or
// "100/h" in the configuration; "0" means no limit. The count is also the
// burst: "20/s" lets twenty through at once and one more every 50 ms.
type Rate struct {
	Count int
	Per   time.Duration
}

var rateUnits = map[string]time.Duration{"s": time.Second, "m": time.Minute, "h": time.Hour} //nolint:gochecknoglobals // constant

// Parse reads "count/unit" with unit s, m or h, or "0".
func Parse(text string) (Rate, error) {
	if text == "0" {
		return Rate{}, nil
	}
	count, unit, ok := strings.Cut(text, "/")
	n, err := strconv.Atoi(strings.TrimSpace(count))
	if !ok || err != nil || n < 1 || n > 1_000_000 {
		return Rate{}, fmt.Errorf("%q is no rate: write a count and a unit, such as 20/s, 5/m or 100/h, or 0 for no limit", text)
	}
	per, known := rateUnits[strings.TrimSpace(unit)]
	if !known {
		return Rate{}, fmt.Errorf("httpapi: rate %q: the unit is s, m or h", text)
	}
	return Rate{Count: n, Per: per}, nil
}

// Limited reports whether the rate limits anything.
func (r Rate) Limited() bool { return r.Count > 0 && r.Per > 0 }

// String returns the form that Parse reads.
func (r Rate) String() string {
	if !r.Limited() {
		return "0"
	}
	for unit, per := range rateUnits {
		if per == r.Per {
			return strconv.Itoa(r.Count) + "/" + unit
		}
	}
	return strconv.Itoa(r.Count) + "/" + r.Per.String()
}

// MarshalText writes the rate as the configuration spells it.
func (r Rate) MarshalText() ([]byte, error) { return []byte(r.String()), nil }

// UnmarshalText reads the rate as the configuration spells it.
func (r *Rate) UnmarshalText(text []byte) error {
	parsed, err := Parse(strings.TrimSpace(string(text)))
	if err != nil {
		return err
	}
	*r = parsed
	return nil
}
