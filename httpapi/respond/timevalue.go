package respond

import (
	"time"
)

// TimeOrNull is a time as every answer has it, or null for the zero time.
func TimeOrNull(t time.Time) *string {
	if t.IsZero() {
		return nil
	}
	return OrNull(Time(t))
}
