package sync

import (
	"crypto/rand"
	"time"
)

// idLength is 10 characters of time and 16 of chance.
const idLength = 26

// crockford is base 32 in an order that sorts, without letters that people
// misread.
const crockford = "0123456789ABCDEFGHJKMNPQRSTVWXYZ"

// newID makes the id of a run: 26 characters that sort by time to the
// millisecond, with 80 random bits.
func newID(now time.Time) string {
	var id [idLength]byte
	ms := max(now.UnixMilli(), 0)
	for i := 9; i >= 0; i-- {
		id[i] = crockford[ms&31]
		ms >>= 5
	}
	var chance [idLength - 10]byte
	_, _ = rand.Read(chance[:]) // never fails
	for i, b := range chance {
		id[10+i] = crockford[b&31]
	}
	return string(id[:])
}
