package ordering

import (
	"crypto/rand"
	"encoding/binary"
	"time"
)

// refAlphabet is Crockford's base 32: no I, L, O, U.
const refAlphabet = "0123456789ABCDEFGHJKMNPQRSTVWXYZ"

// Refs gives a source of order references (policy O9): 26 characters, of which
// the first ten are the time in milliseconds, so that they sort by time, and
// the others 80 random bits.
func Refs(clock func() time.Time) func() string {
	return func() string {
		var raw [16]byte
		binary.BigEndian.PutUint64(raw[:8], uint64(clock().UnixMilli())<<16)
		_, _ = rand.Read(raw[6:]) // never fails (crypto/rand)
		high, low := binary.BigEndian.Uint64(raw[:8]), binary.BigEndian.Uint64(raw[8:])
		var ref [26]byte
		for i := len(ref) - 1; i >= 0; i-- {
			ref[i] = refAlphabet[low&31]
			low = low>>5 | high<<59
			high >>= 5
		}
		return string(ref[:])
	}
}
