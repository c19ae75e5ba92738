package httpapi

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

// ParseRate reads "count/unit" with unit s, m or h, or "0".
func ParseRate(text string) (Rate, error) {
	if text == "0" {
		return Rate{}, nil
	}
	count, unit, ok := strings.Cut(text, "/")
	n, err := strconv.Atoi(strings.TrimSpace(count))
	if !ok || err != nil || n < 1 || n > 1_000_000 {
		return Rate{}, fmt.Errorf("%q is no rate: write a count and a unit, such as 20/s, 5/m or 100/h, or 0 for no limit", text)
	}
	switch strings.TrimSpace(unit) {
	case "s":
		return Rate{Count: n, Per: time.Second}, nil
	case "m":
		return Rate{Count: n, Per: time.Minute}, nil
	case "h":
		return Rate{Count: n, Per: time.Hour}, nil
	default:
		return Rate{}, fmt.Errorf("httpapi: rate %q: the unit is s, m or h", text)
	}
}

// Limited reports whether the rate limits anything.
func (r Rate) Limited() bool { return r.Count > 0 && r.Per > 0 }

// String returns the form that ParseRate reads.
func (r Rate) String() string {
	if !r.Limited() {
		return "0"
	}
	switch r.Per {
	case time.Second:
		return strconv.Itoa(r.Count) + "/s"
	case time.Minute:
		return strconv.Itoa(r.Count) + "/m"
	case time.Hour:
		return strconv.Itoa(r.Count) + "/h"
	default:
		return strconv.Itoa(r.Count) + "/" + r.Per.String()
	}
}

// MarshalText writes the rate as the configuration spells it.
func (r Rate) MarshalText() ([]byte, error) { return []byte(r.String()), nil }

// UnmarshalText reads the rate as the configuration spells it.
func (r *Rate) UnmarshalText(text []byte) error {
	parsed, err := ParseRate(strings.TrimSpace(string(text)))
	if err != nil {
		return err
	}
	*r = parsed
	return nil
}
