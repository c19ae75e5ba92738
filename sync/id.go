package sync

import (
	"crypto/rand"
	"strings"
	"sync"
	"time"
)

// idLength is 10 characters of time and 16 of chance.
const idLength = 26

// crockford is base 32 in an order that sorts, without letters that people
// misread.
const crockford = "0123456789ABCDEFGHJKMNPQRSTVWXYZ"

// ids makes the ids of runs: 26 characters that sort by time to the
// millisecond, with 80 random bits. Those of one process sort as they were
// made, within a millisecond too.
type ids struct {
	mu   sync.Mutex
	ms   int64
	last [idLength]byte
}

func (d *ids) next(now time.Time) string {
	d.mu.Lock()
	defer d.mu.Unlock()
	ms := max(now.UnixMilli(), 0)
	if ms <= d.ms && d.last[0] != 0 {
		d.increase()
		return string(d.last[:])
	}
	d.ms = ms
	for i := 9; i >= 0; i-- {
		d.last[i] = crockford[ms&31]
		ms >>= 5
	}
	var chance [idLength - 10]byte
	_, _ = rand.Read(chance[:]) // never fails
	for i, b := range chance {
		d.last[10+i] = crockford[b&31]
	}
	return string(d.last[:])
}

// increase adds one to the last id.
func (d *ids) increase() {
	for i := len(d.last) - 1; i >= 0; i-- {
		digit := strings.IndexByte(crockford, d.last[i])
		if digit < len(crockford)-1 {
			d.last[i] = crockford[digit+1]
			return
		}
		d.last[i] = crockford[0]
	}
}

// idTime gives the milliseconds since the epoch that an id begins with.
func idTime(id string) (ms int64) {
	for _, digit := range id[:10] {
		ms = ms<<5 | int64(strings.IndexRune(crockford, digit))
	}
	return ms
}
