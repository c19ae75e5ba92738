package httpapi

import (
	"time"

	"larder/httpapi/respond"
)

// timeOrNull is a time as every answer has it, or null for the zero time.
func timeOrNull(t time.Time) *string {
	if t.IsZero() {
		return nil
	}
	return respond.OrNull(respond.Time(t))
}
