package runlog

import (
	"crypto/rand"
	stdsync "sync"
	"time"

	"github.com/oklog/ulid/v2"
)

// ids makes the ids of runs and batches: ULIDs, which sort by time to the
// millisecond. Those of one process sort in the order in which they are made,
// within a millisecond and when the clock goes back too.
type ids struct {
	mu      stdsync.Mutex
	ms      uint64
	entropy *ulid.MonotonicEntropy
}

func newIDs() *ids { return &ids{entropy: ulid.Monotonic(rand.Reader, 0)} }

func (d *ids) next(now time.Time) string {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.ms = max(d.ms, uint64(max(now.UnixMilli(), 0)))
	id, err := ulid.New(d.ms, d.entropy)
	if err != nil { // more ids than a millisecond has
		d.ms++
		id = ulid.MustNew(d.ms, d.entropy)
	}
	return id.String()
}

func isID(id string) bool {
	_, err := ulid.ParseStrict(id)
	return err == nil
}

// IDTime returns the milliseconds since the epoch that a valid id begins with.
func IDTime(id string) int64 {
	return int64(ulid.MustParse(id).Time()) //nolint:gosec // 48 bits
}
