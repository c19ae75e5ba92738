package respond

import (
	"encoding/binary"
	"math/rand/v2"

	"github.com/gin-gonic/gin"
	"github.com/oklog/ulid/v2"
)

// HeaderRequestID names a request, in the request and in its answer.
const HeaderRequestID = "X-Request-Id"

const maxRequestID = 128

// RequestIDFrom takes the caller's X-Request-Id if it is sane (1 to 128 visible
// ASCII characters), else makes a ULID.
func RequestIDFrom(sent string) string {
	if ValidRequestID(sent) {
		return sent
	}
	return string(AppendRequestID(make([]byte, 0, ulid.EncodedSize)))
}

// AppendRequestID appends a new ULID. Reads on the fast path make one each, so it
// allocates nothing. It need not be kept from guessing, only differ each time.
func AppendRequestID(dst []byte) []byte {
	var id ulid.ULID
	_ = id.SetTime(ulid.Now())                                // fits until the year 10889
	binary.BigEndian.PutUint64(id[8:], rand.Uint64())         //nolint:gosec // no secret
	binary.BigEndian.PutUint16(id[6:], uint16(rand.Uint32())) //nolint:gosec // no secret
	text := append(dst, make([]byte, ulid.EncodedSize)...)
	_ = id.MarshalTextTo(text[len(dst):]) // as long as it must be
	return text
}

// ValidRequestID reports whether an id that a caller sent may be used as it is.
func ValidRequestID(id string) bool { return id != "" && len(id) <= maxRequestID && IsASCII(id, '!') }

// IsASCII reports whether a text has printable ASCII characters alone, from the
// one given: a space, or "!" for visible ones.
func IsASCII(text string, from byte) bool {
	for i := range len(text) {
		if text[i] < from || text[i] > '~' {
			return false
		}
	}
	return true
}

// RequestID is the request's id, which the edge has put into the answer's header.
func RequestID(c *gin.Context) string { return c.Writer.Header().Get(HeaderRequestID) }
