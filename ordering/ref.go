package ordering

import (
	"crypto/rand"
	"time"

	"github.com/oklog/ulid/v2"
)

// Refs returns a source of order references (policy O9): ULIDs, 26 characters
// that sort by time to the millisecond, with 80 random bits.
func Refs(clock func() time.Time) func() string {
	return func() string {
		return ulid.MustNew(ulid.Timestamp(clock()), rand.Reader).String()
	}
}
